"""The report as text for a terminal: the templates' words, laid out by rich at the width that is there.

The templates emit one line a paragraph. A paragraph is wrapped with a hanging indent: under its own first
character, or under what follows its label.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from grader.catalog import content_root
from grader.report.layout import LABEL_END, NO_WRAP, SPAN, Layout, Marked, code, label, styled, unwrapped
from grader.report.neutral import for_terminal
from grader.report.sections import MapPair, WalkLine
from grader.report.short import WIDE, Short, most_lines, without_some
from grader.report.view import View

MIN_WIDTH = 40

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
        "heat": "bright_blue",
        "comment": "dim italic",
        "string": "green",
        "number": "yellow",
        "keyword": "magenta",
        "name": "bright_blue",
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


def render_text(
    view: View,
    width: int = 80,
    color: bool = False,
    *,
    unicode: bool = True,
    beside: int = 0,
    engine: jinja2.Environment | None = None,
) -> str:
    """The report at `width` columns; ANSI styles with `color`, only ASCII without `unicode`.

    Whether there is colour (`NO_COLOR`, a pipe) and which encoding the output has, the caller finds out.
    The short form is kept to what a screen holds, with `beside` lines for what is written beside it.
    `engine` is a `text_engine` that is used more than once.
    """
    width = max(width, MIN_WIDTH)
    layout = Layout(width, unicode)
    page = (engine or text_engine()).get_template("report.txt.j2")
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        force_jupyter=False,  # in a kernel it would display the lines, not write them
        no_color=not color,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    lines = _lines(page, view, layout, console)
    if (short := view.section(Short)) is not None:
        over = len(lines) - (most_lines(width) - beside)
        if over > 0 and short.others:
            lines = _lines(page, without_some(view, short, over), layout, console)
            over = len(lines) - (most_lines(width) - beside)
        if over > 0:
            lines = [line for line in lines if line.plain.strip()]
    for line in lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False, emoji=False)
    return stream.getvalue()


def _lines(page: jinja2.Template, view: View, layout: Layout, console: Console) -> list[Text]:
    lines = page.render(
        view=view, layout=layout, unicode=layout.unicode, bar=layout.bar, wide=layout.width >= WIDE
    )
    if not layout.unicode:
        lines = lines.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return [laid for line in _without_double_blanks(lines) for laid in _laid_out(line, layout, console)]


def prepare() -> None:
    """Read and compile the templates of text now; the first report is quicker then."""
    engine = text_engine()
    for name in ("report.txt.j2", *engine.list_templates(filter_func=lambda name: name.startswith("txt/"))):
        engine.get_template(name)


@functools.cache
def text_engine(templates: Path | None = None) -> jinja2.Environment:
    """The template engine of text. Filters that depend on the width use the `layout` of the page."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates or content_root() / "templates"),
        autoescape=False,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "style": styled,
        "label": label,
        "unwrapped": unwrapped,
        "code": code,
        "heading": _heading,
        "shaded": _shaded,
        "walked": _walked,
    }
    return found


@jinja2.pass_context
def _heading(context: jinja2.runtime.Context, text: str) -> Marked:
    return _layout_of(context).heading(text)


@jinja2.pass_context
def _shaded(context: jinja2.runtime.Context, pair: MapPair) -> list[Marked]:
    return _layout_of(context).shaded(pair)


@jinja2.pass_context
def _walked(context: jinja2.runtime.Context, line: WalkLine) -> list[Marked]:
    return _layout_of(context).walked(line)


def _layout_of(context: jinja2.runtime.Context) -> Layout:
    layout: Layout = context["layout"]
    return layout


def _harmless(value: Any) -> Any:
    """Strings become one harmless line, unless they come from our own filters."""
    if isinstance(value, str) and not isinstance(value, Marked):
        return for_terminal(value)
    return value


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


def _laid_out(line: str, layout: Layout, console: Console) -> list[Text]:
    """One line of a template as lines of the terminal."""
    if line.startswith(NO_WRAP):
        text = _text(line[1:])
        _cut(text, layout.width, layout.ellipsis)
        return [text]
    head, separator, tail = line.partition(LABEL_END)
    if not separator:
        tail = line.lstrip(" ")
        head = " " * (len(line) - len(tail))
    first = _text(head)
    wrapped = _text(tail).wrap(console, max(layout.width - first.cell_len, 16)) or [Text()]
    hanging = Text(" " * first.cell_len)
    lines = [Text.assemble(first if index == 0 else hanging, part) for index, part in enumerate(wrapped)]
    for laid in lines:
        laid.rstrip()
    return lines


def _text(marked: str) -> Text:
    """Marked text as rich's."""
    text, last = Text(), 0
    for span in SPAN.finditer(marked):
        text.append(marked[last : span.start()])
        text.append(span[2], style=span[1])
        last = span.end()
    text.append(marked[last:])
    return text
