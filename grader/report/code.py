"""The candidate's code as highlighted lines, excerpts around a line, and the walk-through beside it."""

from __future__ import annotations

import bisect
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from grader.lexing import Kind, pieces
from grader.records import Grade, Note, ShapeComment, TraceStep
from grader.report.neutral import visible
from grader.report.sections import Claim, CodeLine, Place, Step, WalkLine, WalkThrough

Pieces = tuple[tuple[str, str], ...]
Lined = TypeVar("Lined", TraceStep, ShapeComment, Note)

MAX_CHARACTERS = 200_000  # of a source that is highlighted; more is shown plain
MAX_LINES = 300  # of a walk-through; longer files show the lines around what matters
_AROUND = 6  # lines around a line that matters, in a file that is too long
_MAX_STEPS = 8  # calls shown for one line

# What is shown in a style of its own; the style sheet and the terminal's theme know these names.
_CLASSES: dict[Kind, str] = {
    "comment": "comment",
    "string": "string",
    "docstring": "string",
    "number": "number",
    "keyword": "keyword",
    "name": "name",
    "builtin": "builtin",
}


class Source:
    """The lines of one source, highlighted once. Line numbers count from 1, as the tracer's do."""

    def __init__(
        self, file: str, text: str, blamed: Iterable[int | None] = (), cells: Sequence[int] = ()
    ) -> None:
        self.file = file
        self._blamed = frozenset(blamed)
        self._cells = tuple(cells)
        text = visible(text.replace("\r\n", "\n").replace("\r", "\n")).rstrip("\n")
        self._lines = _highlighted(text) if text else ()

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> CodeLine:
        _, shown = self.spot(number)
        return CodeLine(number=shown, pieces=self._lines[number - 1], blamed=number in self._blamed)

    def spot(self, number: int) -> tuple[int | None, int]:
        """The cell and the line in it; in a `.py` file no cell, and the line itself."""
        cell = bisect.bisect_right(self._cells, number)
        return (cell, number - self._cells[cell - 1] + 1) if cell else (None, number)

    def told(self, text: str) -> str:
        """What the judge says of `answer.ipynb:57`, said of a cell and its line."""
        if not self._cells:
            return text
        mentioned = re.compile(rf"{re.escape(os.path.basename(self.file))}:(\d{{1,6}})\b")  # noqa: PTH119
        return mentioned.sub(lambda found: self.bare(int(found[1])).where, text)

    def bare(self, line: int) -> Place:
        """The line without its neighbours."""
        cell, shown = self.spot(line)
        return Place(file=self.file, line=shown, cell=cell)

    def place(self, line: int | None, around: int = 2) -> Place | None:
        """The line with its neighbours, without blank ones at the edges and without their common indentation.

        `None` without a line; no excerpt for a line that is not in the source.
        """
        if line is None:
            return None
        numbers = range(max(1, line - around), min(len(self), line + around) + 1) if line <= len(self) else ()
        texts = {number: "".join(text for _, text in self._lines[number - 1]) for number in numbers}
        filled = [number for number, text in texts.items() if text.strip()]
        indent = min((len(texts[number]) - len(texts[number].lstrip()) for number in filled), default=0)
        excerpt = tuple(
            CodeLine(
                number=self.spot(number)[1],
                pieces=_dedented(self._lines[number - 1], indent),
                blamed=number == line,
            )
            for number in texts
            if filled and filled[0] <= number <= filled[-1]
        )
        return replace(self.bare(line), excerpt=excerpt)


def _dedented(pieces: Pieces, indent: int) -> Pieces:
    """The pieces without their first `indent` blanks."""
    kept: list[tuple[str, str]] = []
    for name, text in pieces:
        cut = text[indent:]
        indent = max(0, indent - len(text))
        if cut:
            kept.append((name, cut))
    return tuple(kept)


def _highlighted(text: str) -> tuple[Pieces, ...]:
    if len(text) > MAX_CHARACTERS:
        return tuple((("", line),) for line in text.split("\n"))
    ended = itertools.chain(_classed(text), [("", "\n")])
    by_line = (
        itertools.takewhile(lambda piece: piece[1] != "\n", ended) for _ in range(text.count("\n") + 1)
    )
    return tuple(tuple(_merged(line)) for line in by_line)


def _classed(text: str) -> Iterator[tuple[str, str]]:
    """The pieces with their classes, each line end by itself."""
    for kind, value in pieces(text):
        for number, part in enumerate(value.split("\n")):
            if number:
                yield "", "\n"
            if part:
                yield _CLASSES.get(kind, ""), part


def _merged(line: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, parts in itertools.groupby(line, key=lambda piece: piece[0]):
        yield name, "".join(text for _, text in parts)


def shape_text(shape: tuple[int, ...] | tuple[str, ...] | None) -> str:
    """A shape as Python writes it: `(3, 5, 8)`, `(3,)`, `()`; a dash where there is none."""
    if shape is None:
        return "-"
    inner = ", ".join(str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def walk_through(grade: Grade, source: Source) -> WalkThrough | None:
    """The code with the recorder's shapes beside it; `None` when the grade has no code."""
    if not len(source):
        return None
    steps = _by_line(grade.trace)
    claims = _by_line(grade.shape_comments)
    notes = _by_line(grade.notes)
    shown = _shown(source, {*steps, *claims, *notes, *(d.line for d in grade.diagnosis if d.line)})
    lines, last = [], 0
    for number in shown:
        lines.append(
            WalkLine(
                code=source.line(number),
                steps=_steps(steps.get(number, ())),
                claims=tuple(_claim(comment) for comment in claims.get(number, ())),
                notes=() if number in claims else tuple(note.text for note in notes.get(number, ())),
                skipped=number - last - 1,
            )
        )
        last = number
    right = sum(comment.right for comment in grade.shape_comments)
    return WalkThrough(
        file=source.file,
        lines=tuple(lines),
        skipped=len(source) - last,
        traced=len(steps),
        right_claims=right,
        wrong_claims=len(grade.shape_comments) - right,
    )


def _by_line(records: Iterable[Lined]) -> dict[int, list[Lined]]:
    found: dict[int, list[Lined]] = {}
    for record in records:
        if record.line is not None:
            found.setdefault(record.line, []).append(record)
    return found


def _shown(source: Source, matter: set[int]) -> list[int]:
    if len(source) <= MAX_LINES:
        return list(range(1, len(source) + 1))
    near = {number + step for number in matter for step in range(-_AROUND, _AROUND + 1)} or set(
        range(1, MAX_LINES)
    )
    return sorted(number for number in near if 1 <= number <= len(source))[:MAX_LINES]


def _steps(trace: Iterable[TraceStep]) -> tuple[Step, ...]:
    times: dict[tuple[str, str, str], int] = {}
    for step in trace:
        inputs = ", ".join(shape_text(shape) for shape in step.inputs)
        key = (step.call, inputs, shape_text(step.output))
        times[key] = times.get(key, 0) + 1
    return tuple(
        Step(call=call, inputs=inputs, output=output, times=count)
        for (call, inputs, output), count in list(times.items())[:_MAX_STEPS]
    )


def _claim(comment: ShapeComment) -> Claim:
    return Claim(text=comment.text, actual=shape_text(comment.actual), right=comment.right)
