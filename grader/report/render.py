"""One way to every format: `render(view, format)` returns the report as a string."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import jinja2
from markupsafe import Markup, escape

from grader.catalog import content_root
from grader.report import neutral
from grader.report.layout import Layout, code, plain
from grader.report.terminal import render_text, text_engine
from grader.report.view import View

Format = Literal["text", "html", "md"]
FORMATS: tuple[Format, ...] = get_args(Format)

_BLOCK_WIDTH = 110  # columns of a code block in Markdown


class Renderer:
    """Renders many reports with templates that are read and compiled once."""

    def __init__(self, templates: Path | None = None) -> None:
        self._templates = templates or content_root() / "templates"
        self._engines: dict[Format, jinja2.Environment] = {}

    def render(self, view: View, format: Format) -> str:  # noqa: A002
        """The report in one format; text at 80 columns without colour."""
        if format == "text":
            return self.text(view)
        rendered: str = self._engine(format).get_template(f"report.{format}.j2").render(view=view)
        return rendered

    def text(self, view: View, width: int = 80, color: bool = False, *, unicode: bool = True) -> str:
        """The report for a terminal; see `render_text`."""
        return render_text(view, width, color, unicode=unicode, engine=self._engine("text"))

    def _engine(self, format: Format) -> jinja2.Environment:  # noqa: A002
        if format not in self._engines:
            self._engines[format] = _ENGINES[format](self._templates)
        return self._engines[format]


def render(view: View, format: Format, templates: Path | None = None) -> str:  # noqa: A002
    """One report in one format. `templates` is the folder of templates, by default the program's own."""
    return Renderer(templates).render(view, format)


def html_engine(templates: Path) -> jinja2.Environment:
    """Everything that is put into a template is escaped, and its control characters become visible."""
    found = _engine(templates, autoescape=True, finalize=_visible)
    found.filters["prose"] = _prose
    return found


def markdown_engine(templates: Path) -> jinja2.Environment:
    """Every string that is put into a template is escaped for a line of Markdown."""
    found = _engine(templates, autoescape=False, finalize=_markdown)
    layout = Layout(width=_BLOCK_WIDTH, unicode=True)
    found.filters |= {
        "fenced": _fenced,
        "span": lambda text: Markup(neutral.code_span(text)),
        "prose": lambda text: Markup(neutral.for_markdown(text, spans=True)),
        "excerpt": lambda lines: _fenced(plain(code(line, indent=0) for line in lines)),
        "shaded": lambda pair: _fenced(plain(layout.shaded(pair))),
        "walked": lambda lines: _fenced(plain(row for line in lines for row in layout.walked(line))),
    }
    return found


def _engine(templates: Path, *, autoescape: bool, finalize: Callable[[Any], Any]) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=autoescape,
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _visible(value: Any) -> Any:
    """Escaping is the engine's; here controls and bidirectional characters become visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return neutral.visible(value)
    return value


def _markdown(value: Any) -> Any:
    """Strings are escaped unless a filter of ours has made Markdown of them; numbers stay."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return neutral.for_markdown(value)
    return value


def _fenced(text: str, language: str = "") -> Markup:
    return Markup(neutral.fenced(text, language, limit=64 * 1024))


def _prose(text: str) -> Markup:
    """Escaped text in which what stands between backticks is code."""
    parts = neutral.split_code(neutral.visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )


_ENGINES: dict[Format, Callable[[Path], jinja2.Environment]] = {
    "text": text_engine,
    "html": html_engine,
    "md": markdown_engine,
}
