"""The grades of an interview: of what counted, kept as an attempt, and of every save, for the timeline."""

from __future__ import annotations

from collections.abc import Iterator

from grader.catalog import Catalog
from grader.errors import GraderFault
from grader.grading import Options
from grader.history import Attempt, History
from grader.interview.records import Plan, Round
from grader.interview.session import Session
from grader.interview.store import InterviewStore, ShortGrade
from grader.practice.attempts import GradeFunction
from grader.records import Grade, Record, Submission
from grader.stored import Origin


class Job(Record):
    """One state of a file to be graded."""

    plan: Plan
    number: int
    kata: str
    submission: Submission

    def run(self, catalog: Catalog, grade: GradeFunction) -> Grade:
        """The grade; touches no database, so it can be done in a thread."""
        return grade(self.submission, catalog.get(self.kata), catalog, Options(seed=self.plan.seed))


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
    attempt = _kept_before(session, job, history)
    if attempt is None:
        path = session.interview.rounds[job.number].path
        attempt = history.record_attempt(grade, job.submission, path, origin_of(job.plan))
    store.keep_grade(job.plan, job.number, job.submission.sha256, short(grade))
    session.graded(
        job.number,
        {
            "attempt": attempt.uuid,
            "verdict": grade.verdict,
            "points": grade.points,
            "max_points": grade.max_points,
            "missed": list(attempt.missed),
            "hints": max(attempt.hints, session.interview.rounds[job.number].hints),
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


def attempt_of(one: Round, history: History) -> Attempt | None:
    """The attempt that a round's final grade was kept as."""
    if one.graded is None:
        return None
    wanted = one.graded.data["attempt"]
    return next((attempt for attempt in history.attempts(one.kata) if attempt.uuid == wanted), None)


def job_of(session: Session, store: InterviewStore, sha256: str) -> Job:
    """A save of the round that is on."""
    return _job(session.plan, session.round, sha256, store)


def origin_of(plan: Plan) -> Origin:
    """What the history calls such an attempt. In practice the grader helped."""
    return "practice" if plan.practice else "interview"


def short(grade: Grade) -> ShortGrade:
    """What the timeline needs of a grade."""
    return ShortGrade(
        verdict=grade.verdict,
        points=grade.points,
        max_points=grade.max_points,
        passed=tuple(concept.id for concept in grade.concepts if concept.status == "passed"),
    )


def _job(plan: Plan, one: Round, sha256: str, store: InterviewStore) -> Job:
    submission = Submission(name=one.path.name, source=store.source(sha256), sha256=sha256)
    return Job(plan=plan, number=one.number, kata=one.kata, submission=submission)


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
