"""Attention maps as cells that can be drawn: SVG in HTML, shaded blocks in a terminal."""

from __future__ import annotations

import math
from typing import TypeVar

from grader.records import AttentionMap
from grader.report.sections import HeatCell, HeatMap, MapPair

MAX_SIZE = 16  # queries and keys that are drawn
_VISIBLE = 5e-4  # smaller differences cannot be read from three decimals
_STRONG = 0.69  # from here on the other colour of text has the better contrast, in both themes
_SHADES = ("··", "░░", "▒▒", "▓▓", "██")

Rows = tuple[tuple[float | None, ...], ...]
Cell = TypeVar("Cell")


def map_pair(record: AttentionMap) -> MapPair:
    """The two maps of one record on one scale: the darkest cell is the largest expected weight."""
    actual, expected = _cut(record.actual), _cut(record.expected)
    weights = [abs(value) for row in expected for value in row if value is not None]
    peak = max(weights, default=0.0) or 1.0
    of_weights = record.shows == "weights"
    ours = _heat_map(expected, expected, record.hidden, peak, of_weights=of_weights)
    theirs = _heat_map(actual, expected, record.hidden, peak, of_weights=of_weights)
    cells = [cell for row in theirs.rows for cell in row]
    expected_sums = [_total(row) for row in expected]
    return MapPair(
        title=record.title,
        shows=record.shows,
        row_names=record.row_names[:MAX_SIZE] or tuple(f"q{row}" for row in range(len(actual))),
        column_names=record.column_names[:MAX_SIZE]
        or tuple(f"k{column}" for column in range(len(actual[0]) if actual else 0)),
        actual=theirs,
        expected=ours,
        queries=len(actual),
        keys=len(actual[0]) if actual else 0,
        all_queries=len(record.actual),
        all_keys=len(record.actual[0]) if record.actual else 0,
        cells_off=sum(cell.off for cell in cells),
        cells=len(cells),
        worst=_worst(theirs, actual, expected),
        rows_off=sum(
            off and total is not None and math.isclose(total, 1.0, abs_tol=1e-3)
            for off, total in zip(theirs.sums_off, expected_sums, strict=False)
        ),
        leaks=sum(cell.hidden and cell.off and cell.finite for cell in cells),
        not_finite=sum(not cell.finite and cell.off for cell in cells),
    )


def _cut(rows: Rows) -> Rows:
    return tuple(row[:MAX_SIZE] for row in rows[:MAX_SIZE])


def _heat_map(
    rows: Rows, reference: Rows, hidden: tuple[tuple[bool, ...], ...], peak: float, *, of_weights: bool
) -> HeatMap:
    """Rows of weights sum to 1; those of another result need not."""
    drawn = tuple(
        tuple(
            _cell((q, k), value, _at(reference, q, k), hidden=_at(hidden, q, k) is True, peak=peak)
            for k, value in enumerate(row)
        )
        for q, row in enumerate(rows)
    )
    totals = [_total(row) for row in rows]
    return HeatMap(
        rows=drawn,
        sums=tuple(_decimals(total) for total in totals),
        sums_off=tuple(
            of_weights and (total is None or not math.isclose(total, 1.0, abs_tol=1e-3)) for total in totals
        ),
    )


def _at(rows: tuple[tuple[Cell, ...], ...], row: int, column: int) -> Cell | None:
    return rows[row][column] if row < len(rows) and column < len(rows[row]) else None


def _total(row: tuple[float | None, ...]) -> float | None:
    finite = [value for value in row if value is not None]
    return sum(finite) if len(finite) == len(row) else None


def _cell(
    place: tuple[int, int], value: float | None, other: float | None, *, hidden: bool, peak: float
) -> HeatCell:
    off, far = _apart(value, other, peak)
    level = 0.0 if value is None else min(1.0, abs(value) / peak)
    blank = hidden and value is not None and abs(value) <= _VISIBLE
    return HeatCell(
        row=place[0],
        column=place[1],
        value=_decimals(value),
        short=_short(value),
        other=_decimals(other),
        opacity=f"{level:.3f}",
        strong=level >= _STRONG,
        negative=value is not None and value < 0,
        finite=value is not None,
        hidden=hidden,
        blank=blank,
        off=off,
        far=far,
        shade=_shade(value, level, blank),
        digit=_digit(value, blank),
    )


def _apart(value: float | None, other: float | None, peak: float) -> tuple[bool, bool]:
    """Whether two weights differ at all, and by much."""
    if value is None or other is None:
        return value != other, value != other
    return abs(value - other) > _VISIBLE, abs(value - other) > peak / 10


def _shade(value: float | None, level: float, blank: bool) -> str:
    if value is None:
        return "??"
    if blank:
        return "\u2573\u2573"
    return _SHADES[0] if level < 0.02 else _SHADES[min(4, 1 + int(level * 4))]


def _digit(value: float | None, blank: bool) -> str:
    """The weight in tenths."""
    if value is None:
        return "?"
    if blank:
        return "x"
    if value < 0:
        return "-"
    return str(min(9, int(value * 10)))


def _decimals(value: float | None) -> str:
    if value is None:
        return "NaN"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.2e}"


def _short(value: float | None) -> str:
    if value is None:
        return "NaN"
    if abs(value) >= 9.95:
        return f"{value:.0f}" if abs(value) < 1000 else "≫" if value > 0 else "≪"
    text = f"{value:.2f}"
    return (
        "0" if text in ("0.00", "-0.00") else text.replace("0.", ".", 1) if abs(value) < 1 else f"{value:.1f}"
    )


def _worst(drawn: HeatMap, actual: Rows, expected: Rows) -> HeatCell | None:
    """The cell that is furthest from what was expected; one that is no number is further than any."""
    worst, distance = None, _VISIBLE
    for row in drawn.rows:
        for cell in row:
            value, other = _at(actual, cell.row, cell.column), _at(expected, cell.row, cell.column)
            if not cell.off:
                continue
            far = math.inf if value is None or other is None else abs(value - other)
            if far > distance:
                worst, distance = cell, far
    return worst
