"""The report as text for a terminal: the templates' words, laid out by rich at the width that is there.

The templates emit one line a paragraph. A paragraph is wrapped with a hanging indent: under its own first
character, or under what follows its label. Styled spans, labels and lines that must not wrap are marked with
control characters, which no candidate's text can contain after `for_terminal`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jinja2
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from grader.catalog import content_root
from grader.report.neutral import for_terminal, visible
from grader.report.sections import CodeLine, HeatCell, HeatMap, MapPair, WalkLine
from grader.report.view import View

MIN_WIDTH = 40
_BESIDE = 100  # from this width the walk-through stands beside the code, not below it
_LABEL = 10  # columns of a label such as "expected"

_OPEN, _TEXT, _CLOSE, _LABEL_END, _NO_WRAP = "\x02", "\x03", "\x04", "\t", "\x05"
_SPAN = re.compile(f"{_OPEN}([^{_TEXT}]*){_TEXT}([^{_CLOSE}]*){_CLOSE}")

_THEME = Theme(
    {
        "title": "bold",
        "label": "bold",
        "quiet": "dim",
        "good": "green",
        "bad": "bold red",
        "open": "yellow",
        "heading": "bold cyan",
        "command": "bold",
        "rule": "dim",
        "heat": "blue",
        "comment": "dim italic",
        "string": "green",
        "number": "yellow",
        "keyword": "magenta",
        "name": "blue",
        "builtin": "cyan",
    },
    inherit=False,
)

# What a terminal that speaks only ASCII gets for the signs that the templates and katas use.
_ASCII = str.maketrans(
    "✓✕○▶│·━■□⟨⟩“”\u2018\u2019\u2013\u2014\u2212\u00d7\u2573", "+xo>|--#.<>\"\"''---xx"
) | str.maketrans(
    {"→": "->", "√": "sqrt ", "…": "...", "⋯": "...", "Σ": "sum", "ᵀ": "^T", "≤": "<=", "≥": ">="}
)


class Marked(str):
    """Text of the templates' own filters, which carries marks and is not made harmless again."""

    __slots__ = ()


def render_text(
    view: View, width: int = 80, color: bool = False, *, unicode: bool = True, templates: Path | None = None
) -> str:
    """The report at `width` columns; ANSI styles with `color`, only ASCII without `unicode`.

    Whether there is colour (`NO_COLOR`, a pipe) and which encoding the output has, the caller finds out.
    """
    width = max(width, MIN_WIDTH)
    page = _environment(width, unicode, templates).get_template("report.txt.j2")
    lines = page.render(view=view)
    if not unicode:
        lines = lines.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    for line in _without_double_blanks(lines):
        for laid in _laid_out(line, width, console, _ellipsis(unicode)):
            console.print(laid, soft_wrap=True, markup=False, highlight=False, emoji=False)
    return stream.getvalue()


def _environment(width: int, unicode: bool, templates: Path | None) -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates or content_root() / "templates"),
        autoescape=False,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    layout = Layout(width, unicode)
    found.globals |= {"unicode": unicode, "bar": layout.bar}
    found.filters |= {
        "style": styled,
        "label": label,
        "heading": layout.heading,
        "code": code,
        "shaded": layout.shaded,
        "walked": layout.walked,
    }
    return found


def _harmless(value: Any) -> Any:
    """Strings become one harmless line, unless they come from our own filters."""
    if isinstance(value, str) and not isinstance(value, Marked):
        return for_terminal(value)
    return value


def styled(text: str, style: str) -> Marked:
    """The text in a style of the theme."""
    return Marked(f"{_OPEN}{style}{_TEXT}{for_terminal(text)}{_CLOSE}")


def label(text: str, width: int = _LABEL, style: str = "label") -> Marked:
    """A label; what follows it on the line hangs to the right of it."""
    return Marked(styled(text, style) + " " * max(1, width - cell_len(text)) + _LABEL_END)


def code(line: CodeLine, indent: int = 3) -> Marked:
    """One line of code with its number; the blamed one with an arrow."""
    arrow = styled("▶", "bad") if line.blamed else " "
    number = styled(f"{line.number:>4}", "bad" if line.blamed else "quiet")
    return Marked(_NO_WRAP + " " * indent + f"{arrow}{number} {styled('│', 'quiet')} {_source(line)}")


def _source(line: CodeLine) -> str:
    pieces = ((name, visible(piece)) for name, piece in line.pieces)
    return "".join(f"{_OPEN}{name}{_TEXT}{piece}{_CLOSE}" if name else piece for name, piece in pieces)


def plain(lines: Iterable[Marked]) -> str:
    """Marked lines without their marks, as for a code block."""
    return "\n".join(_plain(line).rstrip() for line in lines)


class Layout:
    """Filters that depend on the terminal: its width, and whether it shows more than ASCII."""

    def __init__(self, width: int, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode
        self.ellipsis = _ellipsis(unicode)

    def heading(self, text: str) -> Marked:
        """A heading with a rule to the right edge."""
        rule = ("━" if self.unicode else "-") * max(0, self.width - cell_len(text) - 3)
        return Marked(f"{_NO_WRAP} {styled(text, 'heading')} {styled(rule, 'rule')}")

    def bar(self, percent: int, tone: str, cells: int = 20) -> Marked:
        """A bar of points: full cells for what was earned."""
        full = round(percent * cells / 100)
        return Marked(styled("■" * full, tone) + styled("□" * (cells - full), "quiet"))

    def shaded(self, pair: MapPair) -> list[Marked]:
        """The candidate's map and the expected one: beside each other if there is room, else stacked."""
        yours = self._map(pair.actual, "Yours", compared=True)
        expected = self._map(pair.expected, "Expected", compared=False)
        column = max(_length(line) for line in yours) + 4
        if 3 + column + max(_length(line) for line in expected) > self.width:
            return [Marked(f"{_NO_WRAP}   {line}") for line in [*yours, "", *expected]]
        return [
            Marked(f"{_NO_WRAP}   {left}{' ' * (column - _length(left))}{right}")
            for left, right in zip(yours, expected, strict=True)
        ]

    def _map(self, heat: HeatMap, title: str, *, compared: bool) -> list[str]:
        keys = "".join(f"k{cell.column:<2}" for cell in heat.rows[0]) if heat.rows else ""
        lines = [str(styled(title, "title")), f"     {keys} {'Σ' if self.unicode else 'sum'}"]
        for row, total, off in zip(heat.rows, heat.sums, heat.sums_off, strict=True):
            cells = "".join(self._cell(cell, compared) for cell in row)
            shown = f"{styled(total, 'bad')}!" if compared and off else total
            lines.append(f"q{row[0].row if row else 0:<3} {cells} {shown}")
        return lines

    def _cell(self, cell: HeatCell, compared: bool) -> str:
        mark = compared and cell.far
        block = cell.shade if self.unicode else f"{cell.digit:>2}"
        return str(styled(block, "bad" if mark else "heat")) + ("!" if mark else " ")

    def walked(self, line: WalkLine) -> list[Marked]:
        """A line of code with its shapes: beside it if there is room, else below it."""
        left = code(line.code, indent=1)
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
            return [left, *(Marked(f"{_NO_WRAP}{' ' * 12}{text}") for text in seen)]
        first, *others = seen or [""]
        shown = _cropped(left, column - 2, self.ellipsis)
        lines = [Marked(f"{shown}{' ' * (column - _length(shown))}{first}")]
        return lines + [Marked(f"{_NO_WRAP}{' ' * column}{text}") for text in others]


def _ellipsis(unicode: bool) -> str:
    return "…" if unicode else "..."


def _length(marked: str) -> int:
    return cell_len(_plain(marked))


def _plain(marked: str) -> str:
    return _SPAN.sub(r"\2", marked).removeprefix(_NO_WRAP)


def _cropped(marked: Marked, width: int, ellipsis: str) -> Marked:
    """A marked line cut to `width` columns; the styles of a line that is cut are lost."""
    line = Text(_plain(marked))
    if line.cell_len <= width:
        return marked
    _cut(line, width, ellipsis)
    return Marked(_NO_WRAP + line.plain)


def _cut(line: Text, width: int, ellipsis: str) -> None:
    """Make the line fit, and show that it was longer."""
    if line.cell_len > width:
        line.truncate(width - len(ellipsis), overflow="crop")
        line.append(ellipsis)


def _without_double_blanks(lines: str) -> Iterator[str]:
    last = ""
    for line in lines.strip("\n").split("\n"):
        line = line.rstrip()  # noqa: PLW2901
        if line or last:
            yield line
        last = line


def _laid_out(line: str, width: int, console: Console, ellipsis: str) -> list[Text]:
    """One line of a template as lines of the terminal."""
    if line.startswith(_NO_WRAP):
        text = _text(line[1:])
        _cut(text, width, ellipsis)
        return [text]
    head, separator, tail = line.partition(_LABEL_END)
    if not separator:
        tail = line.lstrip(" ")
        head = " " * (len(line) - len(tail))
    first = _text(head)
    wrapped = _text(tail).wrap(console, max(width - first.cell_len, 16)) or [Text()]
    hanging = Text(" " * first.cell_len)
    lines = [Text.assemble(first if index == 0 else hanging, part) for index, part in enumerate(wrapped)]
    for laid in lines:
        laid.rstrip()
    return lines


def _text(marked: str) -> Text:
    """Marked text as rich's."""
    text, last = Text(), 0
    for span in _SPAN.finditer(marked):
        text.append(marked[last : span.start()])
        text.append(span[2], style=span[1])
        last = span.end()
    text.append(marked[last:])
    return text
