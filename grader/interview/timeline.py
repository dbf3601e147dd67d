"""What happened in a round, in order: every save with its points, milestones, hints, questions, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from grader.catalog import Kata
from grader.interview.clarify import clarifications
from grader.interview.records import Event, Round
from grader.interview.store import ShortGrade
from grader.interview.wording import spoken
from grader.records import Record, Verdict

MarkKind = Literal["hint", "asked", "ran", "tested", "clock", "resumed", "ending"]

_ENDINGS = {
    "submitted": "handed in",
    "deadline": "the deadline",
    "gave_up": "given up",
}


class Point(Record):
    """One save, graded after the fact; `verdict` is `None` where the grader failed."""

    seconds: float
    verdict: Verdict | None
    points: int
    late: bool
    first: bool
    found_later: bool
    milestones: tuple[str, ...] = ()


class Mark(Record):
    """Something else that happened."""

    seconds: float
    kind: MarkKind
    text: str


class Span(Record):
    """A part of the time: what it went into, and how long it was."""

    text: str
    seconds: float


def points(one: Round, grades: Mapping[str, ShortGrade]) -> tuple[Point, ...]:
    """Every save of the round with its points, and what was reached with it for the first time."""
    found = []
    reached: set[str] = set()
    hunt = one.room is not None
    for save in one.saves:
        grade = grades.get(save.sha256)
        milestones = () if grade is None or save.late else tuple(_milestones(grade, reached, hunt=hunt))
        found.append(
            Point(
                seconds=save.seconds,
                verdict=None if grade is None else grade.verdict,
                points=0 if grade is None else grade.points,
                late=save.late,
                first=save.first,
                found_later=save.found_later,
                milestones=milestones,
            )
        )
    return tuple(found)


def marks(one: Round, kata: Kata, notes: Mapping[str, str]) -> tuple[Mark, ...]:
    """What happened beside the saves, until the end of the round and at it."""
    asked = {entry.id: entry.question for entry in clarifications(kata)}
    found = []
    for event in one.events:
        mark = _mark(event, asked, notes)
        if mark is not None:
            found.append(mark)
    return tuple(found)


def spans(one: Round, graded: tuple[Point, ...]) -> tuple[Span, ...]:
    """Where the time went, from one milestone to the next until the end; they add up to the time used."""
    counted = [point for point in graded if not point.late and not point.first]
    steps = []
    if counted:
        steps.append(("until the first save", counted[0].seconds))
    runs = next((p for p in counted if p.verdict not in (None, "unrunnable")), None)
    if runs is not None and runs is not counted[0]:
        steps.append(("until the first version that ran", runs.seconds))
    passes = next((p for p in counted if p.verdict == "passed"), None)
    if passes is not None and passes is not runs:
        steps.append(("until the first version that passes", passes.seconds))
    last = "until the end" if steps else "without a save"
    found, before = [], 0.0
    for text, second in [*steps, (last, one.end)]:
        found.append(Span(text=text, seconds=max(0.0, second - before)))
        before = second
    return tuple(found)


def _milestones(grade: ShortGrade, reached: set[str], *, hunt: bool) -> Iterator[str]:
    """What this save is the first to reach."""
    if grade.verdict == "unrunnable":
        return
    if "runs" not in reached:
        reached.add("runs")
        yield "first version that runs"
    new = [concept for concept in grade.passed if concept not in reached]
    if new:
        reached.update(new)
        yield f"{'mended' if hunt else 'first right'}: {', '.join(name.replace('_', ' ') for name in new)}"
    if grade.verdict == "passed" and "passes" not in reached:
        reached.add("passes")
        yield "first version that passes"


def _mark(event: Event, asked: Mapping[str, str], notes: Mapping[str, str]) -> Mark | None:
    data = event.data
    kind: MarkKind
    if event.kind == "hint":
        kind, text = "hint", f"hint {data['number']}"
    elif event.kind == "asked":
        kind, text = "asked", f"asked: {asked.get(data['id'], data['id'])}"
    elif event.kind == "ran":
        kind, text = "ran", f"ran the file: {data['outcome']}"
    elif event.kind == "tested":
        kind, text = "tested", f"graded at once: {data['points']} of {data['max_points']} points"
    elif event.kind in ("clock", "resumed"):
        kind, text = event.kind, note(event, notes)
    elif event.kind in ("submitted", "deadline", "gave_up"):
        kind, text = "ending", _ENDINGS[event.kind]
    else:
        return None
    return Mark(seconds=event.seconds, kind=kind, text=text)


def note(event: Event, notes: Mapping[str, str]) -> str:
    """A change of the clocks, or a room that was opened again, as a sentence."""
    if event.kind == "clock":
        seconds = float(event.data["seconds"])
        direction = "forward" if seconds > 0 else "back"
        return notes[event.data["kind"]].format(time=spoken(abs(seconds)), direction=direction)
    return notes["restarted" if event.data["restarted"] else "resumed"]
