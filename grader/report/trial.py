"""A trial as a report: the code with its shapes, what came back, the weights, what was printed."""

from __future__ import annotations

from typing import ClassVar

from grader.catalog import Kata
from grader.records import Grade, Trial
from grader.report.code import Source, walk_through
from grader.report.neutral import bounded, for_terminal, visible
from grader.report.sections import Place, Section, WalkLine
from grader.report.view import View

MOST_PRINTED = 40
Rows = tuple[tuple[float | None, ...], ...]


class TrialSection(Section):
    """Everything that `kata run` shows."""

    kind: ClassVar[str] = "trial"

    kata: str
    title: str
    example: str
    lines: tuple[WalkLine, ...]
    returned: str
    output: tuple[str, ...]
    weights: tuple[str, ...]
    reason: str
    place: Place | None
    printed: tuple[str, ...]
    printed_more: int


def trial_view(trial: Trial, kata: Kata, *, file: str, cells: tuple[int, ...] = ()) -> View:
    """The trial as a report of one section."""
    text = "" if trial.source is None else trial.source.text
    source = Source(for_terminal(file, limit=300), text, {trial.line}, cells)
    traced = Grade(kata=trial.kata, verdict="failed", seed=0, trace=trial.trace, source=trial.source)
    walk = walk_through(traced, source)
    printed = visible(trial.printed.text).rstrip("\n")
    lines = printed.split("\n") if printed else []
    section = TrialSection(
        kata=kata.id,
        title=kata.title,
        example=trial.example,
        lines=() if walk is None else walk.core,
        returned=bounded(trial.returned, 200),
        output=numbers(trial.output),
        weights=numbers(trial.weights),
        reason=bounded(source.told(trial.reason or ""), 400),
        place=source.place(trial.line, around=0),
        printed=tuple(lines[:MOST_PRINTED]),
        printed_more=max(0, len(lines) - MOST_PRINTED),
    )
    return View(title=f"{kata.id} · {kata.title}", tone="calm", sections=(section,))


def numbers(rows: Rows) -> tuple[str, ...]:
    """Each row as a line, the columns under each other."""
    cells = [["NaN" if value is None else f"{value:.3f}" for value in row] for row in rows]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return tuple("  ".join(cell.rjust(width) for cell in row) for row in cells)
