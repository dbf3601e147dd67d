"""The grades of an interview: of what counted, kept as an attempt, and of every save, for the timeline."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from grader.answer_text import answer_text
from grader.catalog import Catalog
from grader.debugging.desk import entered_at, hunts_of, judged, record_hunt
from grader.debugging.records import Room
from grader.errors import GraderFault
from grader.history import Attempt, History
from grader.interview.records import Plan, Round
from grader.interview.session import Session
from grader.interview.store import InterviewStore, ShortGrade
from grader.practice.attempts import GradeFunction
from grader.records import Grade, Options, Record, Submission
from grader.stored import Origin


class Job(Record):
    """One state of a file to be graded. In a bug hunt it is graded by what was planted."""

    plan: Plan
    number: int
    kata: str
    submission: Submission
    room: Room | None = None

    def run(self, catalog: Catalog, grade: GradeFunction) -> Grade:
        """The grade; touches no database, so it can be done in a thread."""
        options = Options(seed=self.plan.seed, planted=() if self.room is None else self.room.planted)
        graded = grade(self.submission, catalog.get(self.kata), catalog, options)
        if self.room is None:
            return graded
        return judged(self.room, graded, answer_text(self.submission.source, self.submission.name))


class Final(Record):
    """The grade of what counted in a round, as it was kept: an attempt, or one of a room's file."""

    uuid: str
    at: datetime
    hints: int
    grade: Grade


def final_job(session: Session, store: InterviewStore) -> Job | None:
    """What counts and is not graded yet."""
    for one in session.interview.rounds:
        if one.ending is not None and one.graded is None:
            return _job(session.plan, one, one.counts.sha256, store)
    return None


def keep_final(session: Session, job: Job, grade: Grade, history: History, store: InterviewStore) -> None:
    """Keep the grade of what counted as an attempt; a fault of the grader raises, and changes nothing."""
    if grade.verdict == "grader_error":
        raise GraderFault(
            f"What you handed in could not be graded: {grade.reason or 'no reason given'}",
            "Nothing is lost. Try again: kata interview submit",
        )
    one, brief = session.interview.rounds[job.number], short(grade)
    if job.room is None:
        attempt = _kept_before(session, job, history)
        attempt = attempt or history.record_attempt(grade, job.submission, one.path, origin_of(job.plan))
        kept, missed, hints = attempt.uuid, list(attempt.missed), max(attempt.hints, one.hints)
    else:
        kept, missed, hints = _kept_hunt(one, job, grade, history), [], 0
    store.keep_grade(job.plan, job.number, job.submission.sha256, brief)
    session.graded(
        job.number,
        {
            "attempt": kept,
            "verdict": grade.verdict,
            "points": brief.points,
            "max_points": brief.max_points,
            "missed": missed,
            "hints": hints,
        },
    )


def settle(
    session: Session, history: History, store: InterviewStore, catalog: Catalog, grade: GradeFunction
) -> None:
    """Grade all that counts and is not graded yet."""
    while (job := final_job(session, store)) is not None:
        keep_final(session, job, job.run(catalog, grade), history, store)


def timeline_jobs(session: Session, store: InterviewStore) -> Iterator[Job]:
    """Every save that has no grade yet, each content once, in order."""
    for one in session.interview.rounds:
        known = set(store.grades(session.plan, one.number))
        for save in one.saves:
            if save.sha256 not in known:
                known.add(save.sha256)
                yield _job(session.plan, one, save.sha256, store)


def keep_timeline(job: Job, grade: Grade, store: InterviewStore) -> None:
    """Remember the grade of a save. A fault of the grader leaves a hole, to be filled later."""
    if grade.verdict != "grader_error":
        store.keep_grade(job.plan, job.number, job.submission.sha256, short(grade))


def grade_timeline(session: Session, store: InterviewStore, catalog: Catalog, grade: GradeFunction) -> None:
    """Grade every save after the fact."""
    for job in list(timeline_jobs(session, store)):
        keep_timeline(job, job.run(catalog, grade), store)


def final_of(one: Round, history: History) -> Final | None:
    """The final grade of a round, where it was graded and its grade is still there."""
    if one.graded is None:
        return None
    wanted = one.graded.data["attempt"]
    if one.room is not None:
        entered = entered_at(one.path, history)
        hunts = () if entered is None else hunts_of(entered, history)
        return next(
            (Final(uuid=h.uuid, at=h.at, hints=0, grade=h.grade) for h in hunts if h.uuid == wanted), None
        )
    found = next((attempt for attempt in history.attempts(one.kata) if attempt.uuid == wanted), None)
    if found is None:
        return None
    return Final(uuid=found.uuid, at=found.at, hints=found.hints, grade=history.grade(found))


def job_of(session: Session, store: InterviewStore, sha256: str) -> Job:
    """A save of the round that is on."""
    return _job(session.plan, session.round, sha256, store)


def origin_of(plan: Plan) -> Origin:
    """What the history calls such an attempt. In practice the grader helped."""
    return "practice" if plan.practice else "interview"


def short(grade: Grade) -> ShortGrade:
    """What the timeline needs of a grade: points and concepts, of a bug hunt what is mended."""
    if grade.room is not None:
        mended = grade.room.mended
        return ShortGrade(
            verdict=grade.verdict, points=len(mended), max_points=len(grade.room.planted), passed=mended
        )
    return ShortGrade(
        verdict=grade.verdict,
        points=grade.points,
        max_points=grade.max_points,
        passed=tuple(concept.id for concept in grade.concepts if concept.status == "passed"),
    )


def _job(plan: Plan, one: Round, sha256: str, store: InterviewStore) -> Job:
    submission = Submission(name=one.path.name, source=store.source(sha256), sha256=sha256)
    return Job(plan=plan, number=one.number, kata=one.kata, submission=submission, room=one.room)


def _kept_hunt(one: Round, job: Job, grade: Grade, history: History) -> str:
    """Keep a grade of the room's file, unless a process that was killed kept it already."""
    entered = entered_at(one.path, history)
    if entered is None:
        raise GraderFault(
            f"The room of {one.path.name} is no longer in the history.", "What you saved is kept."
        )
    ended = one.events[0].moment.wall if one.ending is None else one.ending.moment.wall
    for hunt in hunts_of(entered, history):
        if hunt.sha256 == job.submission.sha256 and hunt.at >= ended:
            return hunt.uuid
    return record_hunt(entered, grade, job.submission, history).uuid


def _kept_before(session: Session, job: Job, history: History) -> Attempt | None:
    """The attempt of a process that was killed after keeping it and before saying so."""
    began = session.interview.rounds[job.number].events[0].moment.wall
    for attempt in history.attempts(job.kata):
        if (
            attempt.origin == origin_of(job.plan)
            and attempt.seed == job.plan.seed
            and attempt.sha256 == job.submission.sha256
            and attempt.at >= began
        ):
            return attempt
    return None
