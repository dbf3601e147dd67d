"""The debrief: the verdict, what happened when, where the time went, and what to practise.

It is computed from events and grades each time it is shown; its JSON document is written straight from it.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from grader.catalog import Catalog, Kata
from grader.debugging.desk import reveals_of
from grader.errors import UsageError
from grader.history import History
from grader.interview import timeline
from grader.interview.followups import FollowUp, asked
from grader.interview.hunting import BugStory, stories
from grader.interview.price import graded_meanwhile
from grader.interview.records import Round
from grader.interview.round_grading import Final, final_of, short
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.timeline import Mark, Point, Span
from grader.interview.verdict import Facts, Judgement, judge
from grader.interview.wording import Wording, count
from grader.records import Grade, Record, Verdict

VERSION = 1


class Review(Record):
    """A concept to look at again."""

    id: str
    title: str


class RoundDebrief(Record):
    """One kata of the interview. `points` are the graded ones; hints cost in the verdict only."""

    kata: str
    title: str
    verdict: Verdict
    points: int
    max_points: int
    used: float  # seconds
    limit: float
    ending: str  # submitted, deadline or gave_up
    hints: int
    hint_cost: int  # points, all hints together
    questions_asked: int
    solution_seen: bool
    graded_meanwhile: bool  # with `kata grade`, while the clock ran
    saves: tuple[Point, ...]
    marks: tuple[Mark, ...]
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    review: tuple[Review, ...]
    attempt: str  # id of the attempt in the history, or of the grade of the room
    grade: Grade
    bugs: tuple[BugStory, ...] = ()  # of a hunt; its points are bugs


class SelfMarked(Record):
    """A follow-up question as it went. The marks are the candidate's own: they count nowhere."""

    kata: str
    question: str
    model_answer: str
    key_points: tuple[str, ...]
    answer: str | None
    took: float | None
    marks: tuple[bool, ...] | None


class Debrief(Record):
    """The JSON document of `kata interview debrief --format json`."""

    id: str
    at: datetime
    practice: bool
    guided: bool
    seed: int
    verdict: Judgement
    rounds: tuple[RoundDebrief, ...]
    follow_ups: tuple[SelfMarked, ...]
    candidate: str = ""
    version: int = VERSION


def build_debrief(
    session: Session, history: History, store: InterviewStore, catalog: Catalog, wording: Wording
) -> Debrief:
    """The debrief of an interview in which all that counts is graded; raises `UsageError` when it is not."""
    if not session.interview.aborted:
        session.require("questions", "over")
    rounds, facts = [], []
    for one in session.interview.rounds:
        final = final_of(one, history)
        if final is None:
            continue
        round_debrief = _round(one, final, session, history, store, catalog, wording)
        rounds.append(round_debrief)
        facts.append(_facts(round_debrief))
    if not rounds:
        raise UsageError("Nothing was graded in this interview.", "Begin another: kata interview v1")
    helped = session.plan.practice or any(one.graded_meanwhile for one in rounds)
    return Debrief(
        id=session.plan.uuid,
        at=session.interview.events[0].moment.wall,
        practice=session.plan.practice,
        guided=session.plan.guided,
        seed=session.plan.seed,
        candidate=session.interview.candidate,
        verdict=judge(facts, practice=helped, wording=wording),
        rounds=tuple(rounds),
        follow_ups=tuple(_self_marked(entry) for entry in asked(session.interview, catalog)),
    )


def _round(
    one: Round,
    final: Final,
    session: Session,
    history: History,
    store: InterviewStore,
    catalog: Catalog,
    wording: Wording,
) -> RoundDebrief:
    kata, grade = catalog.get(one.kata), final.grade
    grades = store.grades(session.plan, one.number)
    saves = timeline.points(one, grades)
    ending = one.ending
    meanwhile = graded_meanwhile(one, history)
    hints = final.hints if one.graded is None else int(one.graded.data["hints"])
    told = short(grade)
    return RoundDebrief(
        kata=kata.id,
        title=kata.title,
        verdict=grade.verdict,
        points=told.points,
        max_points=told.max_points,
        used=one.end,
        limit=one.limit,
        ending="deadline" if ending is None else ending.kind,
        hints=hints,
        hint_cost=hints * kata.rules.hint_cost,
        questions_asked=len({event.data["id"] for event in one.of("asked")}),
        solution_seen=_solution_seen(one, kata, final, history),
        graded_meanwhile=meanwhile,
        saves=saves,
        marks=timeline.marks(one, kata, wording.notes),
        spans=timeline.spans(one, saves),
        notes=_notes(one, saves, meanwhile, wording, kata, store.source(one.counts.sha256)),
        review=tuple(
            Review(id=concept.id, title=concept.title)
            for concept in grade.concepts
            if concept.required and concept.status != "passed" and grade.room is None
        ),
        attempt=final.uuid,
        grade=grade,
        bugs=() if grade.room is None else stories(one, grade.room, grades, store, kata, catalog),
    )


def _facts(one: RoundDebrief) -> Facts:
    required = [concept for concept in one.grade.concepts if concept.required]
    room = one.grade.room
    return Facts(
        passed=one.verdict == "passed",
        points=sum(concept.points for concept in required) if room is None else one.points,
        required=sum(concept.max_points for concept in required) if room is None else one.max_points,
        task="write" if room is None else "hunt",
        broken=bool(room is not None and room.new),
        hint_cost=one.hint_cost,
        hints=one.hints,
        used=one.used,
        limit=one.limit,
        ending=one.ending,  # type: ignore[arg-type]
        solution_seen=one.solution_seen,
    )


def _solution_seen(one: Round, kata: Kata, final: Final, history: History) -> bool:
    """Whether the solution, or what was planted, was looked at between the first second and the end."""
    began, ended = _times(one, final)
    looks = history.solution_views(kata.id) + ([] if one.room is None else reveals_of(one.room, history))
    return any(began <= seen <= ended for seen in looks)


def _times(one: Round, final: Final) -> tuple[datetime, datetime]:
    ending = one.ending
    return one.events[0].moment.wall, final.at if ending is None else ending.moment.wall


def _notes(
    one: Round, saves: tuple[Point, ...], meanwhile: bool, wording: Wording, kata: Kata, source: bytes
) -> tuple[str, ...]:
    notes = [timeline.note(event, wording.notes) for event in one.of("clock") + one.of("resumed")]
    if any(save.found_later and not save.late for save in saves):
        notes.append(wording.notes["found_later"])
    if meanwhile:
        notes.append(wording.notes["graded_meanwhile"])
    late = sum(save.late for save in saves)
    if late:
        notes.append(wording.notes["late_saves"].format(saves=count(late, "save")))
    in_time = [save for save in saves if not save.late]
    for before, save in pairwise(in_time):
        if before.points == 0 and save.verdict == "passed":
            notes.append(wording.notes["all_at_once"])
    if source.split() == kata.solution.read_bytes().split():
        notes.append(wording.notes["as_the_reference"])
    if one.backup is not None:
        notes.append(wording.notes["backup"].format(path=one.backup))
    return tuple(dict.fromkeys(notes))


def _self_marked(entry: FollowUp) -> SelfMarked:
    return SelfMarked(
        kata=entry.kata,
        question=entry.question.question,
        model_answer=entry.question.answer,
        key_points=entry.question.key_points,
        answer=entry.answer,
        took=entry.took,
        marks=entry.marks,
    )
