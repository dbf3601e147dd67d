"""A counterexample on paper as a report: what goes in, the right steps, the wrong ones, what came out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from grader.records import Grade, HandMatrix, Record
from grader.report.neutral import bounded, visible
from grader.report.sections import Section

MOST_PRINTED = 2000  # characters
FAR = 1e6  # beyond it a number is told by its power of ten


class HandTable(Record):
    """A tensor on paper, as lines; `labelled` are those for a terminal."""

    name: str
    shape: str
    lines: tuple[str, ...]

    @property
    def labelled(self) -> tuple[str, ...]:
        return tuple(
            f"   {self.name if place == 0 else '':<19} {line}" for place, line in enumerate(self.lines)
        )


NO_TABLE = HandTable(name="", shape="", lines=())


class HandSection(Section):
    """The smallest example of what is wrong; without `inputs` there is none, but perhaps `lines` to paste.
    `row` and `column` count from 1.
    """

    kind: ClassVar[str] = "hand"

    call: str = ""
    has_layers: bool = False
    layer: str = ""
    change: str = ""
    inputs: tuple[HandTable, ...] = ()
    right: tuple[HandTable, ...] = ()
    wrong: tuple[HandTable, ...] = ()
    expected: HandTable = NO_TABLE
    actual: HandTable = NO_TABLE
    row: int = 0
    column: int = 0
    should_be: str = ""
    actually: str = ""
    lines: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    right_is: str = ""


def hand_of(grade: Grade) -> HandSection:
    """The example of one grade; where there is none, a section that says so."""
    found = grade.by_hand
    if found is None:
        return _experiment(grade)
    row, column = found.worst
    return HandSection(
        call=bounded(", ".join(found.arguments)),
        has_layers=found.has_layers,
        layer=bounded(found.layer),
        change=found.change,
        inputs=_tables(found.inputs),
        right=_tables(found.right),
        wrong=_tables(found.wrong),
        expected=_table(found.expected),
        actual=_table(found.actual),
        row=row + 1,
        column=column + 1,
        should_be=_number(found.expected.rows[row][column]),
        actually=_number(found.actual.rows[row][column]),
    )


def _experiment(grade: Grade) -> HandSection:
    tried = grade.experiment
    if tried is None:
        return HandSection()
    printed = visible(tried.printed[:MOST_PRINTED]).rstrip("\n").split("\n")
    return HandSection(
        lines=tuple(bounded(line) for line in tried.lines), printed=tuple(printed), right_is=tried.right
    )


def _tables(matrices: Iterable[HandMatrix]) -> tuple[HandTable, ...]:
    return tuple(_table(matrix) for matrix in matrices)


def _table(matrix: HandMatrix) -> HandTable:
    """Each row as a line, the columns under each other, a gap between the matrices of a larger tensor."""
    cells = [[_number(value) for value in row] for row in matrix.rows]
    width = max((len(cell) for row in cells for cell in row), default=0)
    lines = ["  ".join(cell.rjust(width) for cell in row) for row in cells]
    height = matrix.shape[-2] if len(matrix.shape) > 2 else len(lines)
    lined = [
        text for at, line in enumerate(lines) for text in (["", line] if at and at % height == 0 else [line])
    ]
    return HandTable(name=bounded(matrix.name), shape=", ".join(map(str, matrix.shape)), lines=tuple(lined))


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if abs(value) >= FAR:
        return f"{value:.0e}"
    return str(int(value)) if float(value).is_integer() else f"{value:.3f}"
