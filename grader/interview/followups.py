"""The interviewer's follow-up questions: which are asked, and how the candidate marked their own answers."""

from __future__ import annotations

import random
from itertools import zip_longest
from typing import Any

import msgspec

from grader.catalog import Catalog
from grader.interview import hunting
from grader.interview.own_lines import Measure, own_question
from grader.interview.records import Interview
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.wording import load_wording
from grader.practice.questions import Question, questions
from grader.records import Record

HOW_MANY = 3
SECONDS = 120.0  # for each; shown, never enforced


class FollowUp(Record):
    """One question that was asked. `marks` are the candidate's own, one for each key point."""

    kata: str
    question: Question
    answer: str | None = None
    took: float | None = None
    marks: tuple[bool, ...] | None = None

    @property
    def done(self) -> bool:
        return self.marks is not None


def choose(
    interview: Interview, catalog: Catalog, own: tuple[str, Question] | None = None
) -> list[tuple[str, Question]]:
    """All that the interviewer brought along, and of ours as many as make three.

    After a hunt ours are on its bugs. Else `own`, one on the candidate's own lines, comes first; then those
    on missed concepts, the later levels before the earlier; seeded.
    """
    rng = random.Random(interview.plan.seed)
    hunted = [
        (one.kata, question)
        for one in interview.rounds
        if one.room is not None
        for question in hunting.follow_ups(
            one.room, catalog.get(one.kata), catalog, load_wording(catalog), interview.plan.seed
        )
    ]
    if hunted:
        return [*interview.brought, *hunted[: max(0, HOW_MANY - len(interview.brought))]]
    missed, other = [], []
    for one in reversed(interview.rounds):
        pool = list(questions(catalog.get(one.kata)))
        rng.shuffle(pool)
        lost = set(one.graded.data["missed"]) if one.graded else set()
        missed += [(one.kata, question) for question in pool if question.concept in lost]
        other += [(one.kata, question) for question in pool if question.concept not in lost]
    first = list(interview.brought)
    if own is not None and len(first) < HOW_MANY:
        first.append(own)
    many = max(0, HOW_MANY - len(first))
    return first + _one_a_concept(missed, many) + other[: max(0, many - len(missed))]


def ask(
    session: Session, catalog: Catalog, store: InterviewStore | None = None, measure: Measure | None = None
) -> tuple[FollowUp, ...]:
    """The questions of this interview, chosen when they are first asked for.

    With `store` and `measure` one of them is on the candidate's own lines.
    """
    if session.phase == "questions" and not _asked(session.interview):
        own = None
        hunt = session.interview.rounds[-1].room is not None
        if store is not None and measure is not None and not hunt:
            last, rng = session.interview.rounds[-1], random.Random(session.plan.seed)
            question = own_question(last, store, catalog, measure, rng)
            own = None if question is None else (last.kata, question)
        chosen = choose(session.interview, catalog, own)
        session.choose_questions([_entry(kata, question, catalog) for kata, question in chosen])
    return asked(session.interview, catalog)


def asked(interview: Interview, catalog: Catalog) -> tuple[FollowUp, ...]:
    """The questions that were asked, with what was answered and marked."""
    found = []
    for entry in _asked(interview):
        known = {question.id: question for question in questions(catalog.get(entry["kata"]))}
        if entry.get("question"):
            own = Question(**{name: entry[name] for name in Question.__struct_fields__})
            found.append(_follow_up(interview, entry["kata"], own))
        elif entry["id"] in known:  # a question that later content no longer has is left out
            found.append(_follow_up(interview, entry["kata"], known[entry["id"]]))
    return tuple(found)


def _follow_up(interview: Interview, kata: str, question: Question) -> FollowUp:
    answer, took, marks = None, None, None
    points = question.key_points
    for event in interview.events:
        if event.data.get("id") != question.id:
            continue
        if event.kind == "answered":
            answer, took = event.data["text"], event.data["took"]
        elif event.kind == "marked":
            given = event.data["points"]  # by another content there may be more key points, or fewer
            marks = tuple(bool(mark) for mark, _ in zip_longest(given[: len(points)], points))
    return FollowUp(kata=kata, question=question, answer=answer, took=took, marks=marks)


def _entry(kata: str, question: Question, catalog: Catalog) -> dict[str, Any]:
    """What is kept: of a question of the kata where it stands, of any other all of it."""
    if question in questions(catalog.get(kata)):
        return {"kata": kata, "id": question.id}
    return {"kata": kata, **msgspec.structs.asdict(question)}


def _asked(interview: Interview) -> list[dict[str, Any]]:
    return next((event.data["questions"] for event in interview.events if event.kind == "questions"), [])


def _one_a_concept(pool: list[tuple[str, Question]], most: int) -> list[tuple[str, Question]]:
    """The first of each concept, then the rest."""
    seen: set[tuple[str, str]] = set()
    first: list[tuple[str, Question]] = []
    rest: list[tuple[str, Question]] = []
    for kata, question in pool:
        place = (kata, question.concept)
        (rest if place in seen else first).append((kata, question))
        seen.add(place)
    return (first + rest)[:most]
