"""One way to every format: `render(view, format)` returns the report as a string."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import jinja2
from markupsafe import Markup, escape

from grader.catalog import content_root
from grader.report import neutral
from grader.report.terminal import Layout, code, plain, render_text
from grader.report.view import View

Format = Literal["text", "html", "md"]
FORMATS: tuple[Format, ...] = get_args(Format)

_BLOCK_WIDTH = 110  # columns of a code block in Markdown


def render(view: View, format: Format, templates: Path | None = None) -> str:  # noqa: A002
    """The report in one format. `templates` is the folder of templates, by default the program's own."""
    if format == "text":
        return render_text(view, templates=templates)
    page = environment(format, templates).get_template(f"report.{format}.j2")
    rendered: str = page.render(view=view)
    return rendered


def environment(format: Literal["html", "md"], templates: Path | None = None) -> jinja2.Environment:  # noqa: A002
    """The template engine of a format, in which everything that is put into a template is made harmless."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates or content_root() / "templates"),
        autoescape=format == "html",
        finalize=_visible if format == "html" else _markdown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    if format == "html":
        found.filters["prose"] = _prose
    else:
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
