"""Lines as they stand in a terminal or a code block: labels, numbered code, shaded maps, the walk-through.

Styled spans, the end of a label and lines that must not wrap are marked with control characters, which no
candidate's text can contain after `for_terminal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, set_cell_size

from grader.report.neutral import for_terminal, visible
from grader.report.sections import CodeLine, HeatCell, HeatMap, MapPair, WalkLine

_BESIDE = 100  # from this width the walk-through stands beside the code, not below it
_GUTTER = 9  # columns of a line number in the walk-through
_LABEL = 10  # columns of a label such as "expected"

LABEL_END, NO_WRAP = "\t", "\x05"
_OPEN, _TEXT, _CLOSE = "\x02", "\x03", "\x04"
SPAN = re.compile(f"{_OPEN}([^{_OPEN}{_TEXT}]*){_TEXT}([^{_TEXT}{_CLOSE}]*){_CLOSE}")  # (style, text)


class Marked(str):
    """Text of the templates' own filters, which carries marks and is not made harmless again."""

    __slots__ = ()


def styled(text: str, style: str) -> Marked:
    """The text in a style of the theme."""
    return Marked(f"{_OPEN}{style}{_TEXT}{for_terminal(text)}{_CLOSE}")


def label(text: str, width: int = _LABEL, style: str = "label") -> Marked:
    """A label; what follows it on the line hangs to the right of it."""
    return Marked(styled(text, style) + " " * max(1, width - cell_len(text)) + LABEL_END)


def unwrapped(text: str) -> Marked:
    """A line that is cut where the screen ends."""
    return Marked(NO_WRAP + (text if isinstance(text, Marked) else for_terminal(text)))


def code(line: CodeLine, indent: int = 3, limit: int | None = None, ellipsis: str = "…") -> Marked:
    """One line of code with its number, the blamed one with an arrow; of the code at most `limit` columns."""
    arrow = styled("▶", "bad") if line.blamed else " "
    number = styled(f"{line.number:>4}", "bad" if line.blamed else "quiet")
    if limit is not None and cell_len(line.text) > limit:
        source = _marked(_first(line.pieces, limit - len(ellipsis))) + ellipsis
    else:
        source = _marked(line.pieces)
    return Marked(NO_WRAP + " " * indent + f"{arrow}{number} {styled('│', 'quiet')} {source}")


def _marked(pieces: Iterable[tuple[str, str]]) -> str:
    harmless = ((name, visible(piece)) for name, piece in pieces)
    return "".join(f"{_OPEN}{name}{_TEXT}{piece}{_CLOSE}" if name else piece for name, piece in harmless)


def _first(pieces: Iterable[tuple[str, str]], columns: int) -> Iterator[tuple[str, str]]:
    """The pieces that fill so many columns."""
    for name, piece in pieces:
        if columns <= 0:
            return
        yield name, set_cell_size(piece, min(columns, cell_len(piece)))
        columns -= cell_len(piece)


def plain(lines: Iterable[Marked]) -> str:
    """Marked lines without their marks, as for a code block."""
    return "\n".join(_plain(line).rstrip() for line in lines)


class Layout:
    """Filters that depend on the terminal: its width, and whether it shows more than ASCII."""

    def __init__(self, width: int, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode
        self.ellipsis = "…" if unicode else "..."

    def heading(self, text: str) -> Marked:
        """A heading with a rule to the right edge."""
        rule = ("━" if self.unicode else "-") * max(0, self.width - cell_len(text) - 3)
        return Marked(f"{NO_WRAP} {styled(text, 'heading')} {styled(rule, 'rule')}")

    def bar(self, percent: int, tone: str, cells: int = 20) -> Marked:
        """A bar of points: full cells for what was earned."""
        full = round(percent * cells / 100)
        return Marked(styled("■" * full, tone) + styled("□" * (cells - full), "quiet"))

    def shaded(self, pair: MapPair) -> list[Marked]:
        """The candidate's map and the expected one: beside each other if there is room, else stacked."""
        drawn = self._table if pair.shows == "table" else self._map
        yours = drawn(pair, pair.actual, "Yours", compared=True)
        expected = drawn(pair, pair.expected, "Expected", compared=False)
        column = max(_length(line) for line in yours) + 4
        if 3 + column + max(_length(line) for line in expected) > self.width:
            return [Marked(f"{NO_WRAP}   {line}") for line in [*yours, "", *expected]]
        return [
            Marked(f"{NO_WRAP}   {left}{' ' * (column - _length(left))}{right}")
            for left, right in zip(yours, expected, strict=True)
        ]

    def _table(self, pair: MapPair, heat: HeatMap, title: str, *, compared: bool) -> list[str]:
        """Numbers under the names of their columns; those that are far off are marked."""
        width = max(map(len, pair.row_names), default=0)
        names = " ".join(f"{name:>7}" for name in pair.column_names)
        lines = [str(styled(title, "title")), f"{'':{width}} {names}"]
        for name, row in zip(pair.row_names, heat.rows, strict=True):
            cells = " ".join(
                str(styled(f"{cell.value:>6}", "bad" if compared and cell.far else "heat"))
                + ("!" if compared and cell.far else " ")
                for cell in row
            )
            lines.append(f"{name:{width}} {cells}")
        return lines

    def _map(self, pair: MapPair, heat: HeatMap, title: str, *, compared: bool) -> list[str]:
        keys = "".join(f"{name:<3}" for name in pair.column_names)
        lines = [str(styled(title, "title")), f"     {keys} {'Σ' if self.unicode else 'sum'}"]
        parts = zip(pair.row_names, heat.rows, heat.sums, heat.sums_off, strict=True)
        for name, row, total, off in parts:
            cells = "".join(self._cell(cell, compared) for cell in row)
            shown = f"{styled(total, 'bad')}!" if compared and off else total
            lines.append(f"{name:<4} {cells} {shown}")
        return lines

    def _cell(self, cell: HeatCell, compared: bool) -> str:
        mark = compared and cell.far
        block = cell.shade if self.unicode else f"{cell.digit:>2}"
        return str(styled(block, "bad" if mark else "heat")) + ("!" if mark else " ")

    def walked(self, line: WalkLine) -> list[Marked]:
        """A line of code with its shapes: beside it if there is room, else below it."""
        seen = [
            f"{styled(step.call, 'label')} {step.inputs} → {styled(step.output, 'name')}"
            + (f" ({step.times} times)" if step.times > 1 else "")
            for step in line.steps
        ]
        seen += [
            str(
                styled(f"✓ {claim.text}", "good")
                if claim.right
                else styled(f"✕ {claim.text}: {claim.actual}", "bad")
            )
            for claim in line.claims
        ]
        column = self.width * 6 // 10
        if self.width < _BESIDE:
            return [code(line.code, indent=1), *(Marked(f"{NO_WRAP}{' ' * 12}{text}") for text in seen)]
        first, *others = seen or [""]
        left = code(line.code, 1, column - _GUTTER - 2, self.ellipsis)
        lines = [Marked(f"{left}{' ' * (column - _length(left))}{first}")]
        return lines + [Marked(f"{NO_WRAP}{' ' * column}{text}") for text in others]


def _length(marked: str) -> int:
    return cell_len(_plain(marked))


def _plain(marked: str) -> str:
    return SPAN.sub(r"\2", marked).removeprefix(NO_WRAP)
