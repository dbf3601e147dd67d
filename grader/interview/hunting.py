"""A bug hunt as an interview: its brief, its follow-up questions, and what became of each bug."""

from __future__ import annotations

import difflib
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from grader import paths
from grader.catalog import Catalog, Kata, Label, load_labels_of
from grader.debugging.content import Lesson, load_lessons
from grader.debugging.records import Bug, Room
from grader.interview.records import Round
from grader.interview.session import Session
from grader.interview.store import InterviewStore, ShortGrade
from grader.interview.wording import Wording, count
from grader.practice.questions import Question
from grader.records import Record, RoomRecord

BugStatus = Literal["mended", "still", "unknown"]
MOST_LINES = 8  # of what a save changed
ON_TESTS = 2  # questions


class BugStory(Record):
    """What became of a planted bug. `seconds` and `save` are of the first save that had it mended.

    `change` is what that save changed, as lines of a difference; `experiment` the cheapest one that shows the
    bug, where the content has one.
    """

    label: str
    sentence: str
    status: BugStatus
    line: int
    wrong: str
    right: str
    seconds: float | None = None
    save: int | None = None
    change: tuple[str, ...] = ()
    experiment: str = ""


def brief(room: Room | None, kata: Kata, wording: Wording) -> str:
    """What the candidate reads, as Markdown: in a hunt what was noticed, before what the kata asks for."""
    task = kata.text("brief.md")
    if room is None:
        return task
    hunt = wording.hunt["brief"].format(
        name=kata.class_name,
        bugs=count(len(room.bugs), "bug"),
        report="\n".join(f"- {noticed}" for noticed in room.report),
    )
    return f"{hunt}\n---\n\n{task}"


def is_timed(path: Path, sessions: Sequence[Session]) -> bool:
    """Whether a hunt in this file is on, and its clock runs."""
    wanted = paths.identity(path)
    return any(
        session.phase == "writing"
        and not session.plan.practice
        and session.round.room is not None
        and paths.identity(session.round.path) == wanted
        for session in sessions
    )


def follow_ups(room: Room, kata: Kata, catalog: Catalog, wording: Wording, seed: int) -> list[Question]:
    """How tests would have caught two of the bugs, drawn by the seed, and which of all the loss shows."""
    taught = [(bug, words, lesson) for bug, words, lesson in _known(room, kata, catalog) if words and lesson]
    found = [
        Question(
            id=f"hunt-{bug.label}",
            concept=words.concept,
            question=wording.hunt["test"].format(sentence=words.sentence),
            answer=lesson.test,
            key_points=lesson.test_points,
        )
        for bug, words, lesson in random.Random(seed).sample(taught, min(ON_TESTS, len(taught)))
    ]
    if taught:
        curves = tuple(dict.fromkeys(lesson.curve for *_, lesson in taught))
        found.append(
            Question(
                id="hunt-curve",
                concept=taught[0][1].concept,
                question=wording.hunt["curve"],
                answer=" ".join(curves),
                key_points=curves,
            )
        )
    return found


def stories(
    one: Round,
    outcome: RoomRecord,
    grades: Mapping[str, ShortGrade],
    store: InterviewStore,
    kata: Kata,
    catalog: Catalog,
) -> tuple[BugStory, ...]:
    """What became of each bug, in the order in which they stand in the file."""
    if one.room is None:
        return ()
    counted = [save for save in one.saves if not save.late]
    mended = [grades[save.sha256].passed if save.sha256 in grades else () for save in counted]
    found = []
    for bug, words, lesson in sorted(_known(one.room, kata, catalog), key=lambda known: known[0].line):
        place = next((number for number, labels in enumerate(mended) if bug.label in labels), None)
        story = BugStory(
            label=bug.label,
            sentence=bug.label if words is None else words.sentence,
            status=_status(bug, outcome),
            line=bug.line,
            wrong=bug.wrong,
            right=bug.right,
            experiment="" if lesson is None else lesson.experiment,
        )
        if place:
            before, after = (store.source(save.sha256).decode() for save in counted[place - 1 : place + 1])
            story = replace(story, seconds=counted[place].seconds, save=place, change=_changed(before, after))
        found.append(story)
    return tuple(found)


def _known(room: Room, kata: Kata, catalog: Catalog) -> list[tuple[Bug, Label | None, Lesson | None]]:
    """Each bug with its label's words and its concept's lesson, where the content has them still."""
    words, lessons = load_labels_of(kata, catalog), load_lessons(kata, catalog)
    found = []
    for bug in room.bugs:
        known = words.get(bug.label)
        found.append((bug, known, None if known is None else lessons.get(known.concept)))
    return found


def _status(bug: Bug, outcome: RoomRecord) -> BugStatus:
    if bug.label in outcome.mended:
        return "mended"
    return "still" if bug.label in outcome.still else "unknown"


def _changed(before: str, after: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    told = [
        line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:].strip()
    ]
    return tuple(told[:MOST_LINES])
