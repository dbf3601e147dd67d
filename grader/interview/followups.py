"""The interviewer's follow-up questions: which are asked, and how the candidate marked their own answers."""

from __future__ import annotations

import random
from itertools import zip_longest

from grader.catalog import Catalog
from grader.interview.records import Interview
from grader.interview.session import Session
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


def choose(interview: Interview, catalog: Catalog) -> list[tuple[str, Question]]:
    """Three questions: on missed concepts first, the later levels before the earlier; seeded."""
    rng = random.Random(interview.plan.seed)
    missed, other = [], []
    for one in reversed(interview.rounds):
        pool = list(questions(catalog.get(one.kata)))
        rng.shuffle(pool)
        lost = set(one.graded.data["missed"]) if one.graded else set()
        missed += [(one.kata, question) for question in pool if question.concept in lost]
        other += [(one.kata, question) for question in pool if question.concept not in lost]
    return _one_a_concept(missed, HOW_MANY) + other[: max(0, HOW_MANY - len(missed))]


def ask(session: Session, catalog: Catalog) -> tuple[FollowUp, ...]:
    """The questions of this interview, chosen when they are first asked for."""
    if session.phase == "questions" and not _asked(session.interview):
        chosen = choose(session.interview, catalog)
        session.choose_questions([{"kata": kata, "id": question.id} for kata, question in chosen])
    return asked(session.interview, catalog)


def asked(interview: Interview, catalog: Catalog) -> tuple[FollowUp, ...]:
    """The questions that were asked, with what was answered and marked."""
    found = []
    for entry in _asked(interview):
        known = {question.id: question for question in questions(catalog.get(entry["kata"]))}
        if entry["id"] in known:  # a question that later content no longer has is left out
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


def _asked(interview: Interview) -> list[dict[str, str]]:
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
