"""The templates, and what all pages have in common: what was asked, and how it is answered."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import jinja2
import msgspec
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from grader import paths
from grader.errors import UsageError
from grader.interview.wording import clock, count, spoken
from grader.practice.attempts import Graded
from grader.records import Record
from grader.report.render import html_engine
from grader.report.sections import ChecksSection, DiagnosisSection, Headline, NotesSection
from grader.report.view import View, build_view
from grader.web.gate import Keys

T = TypeVar("T")

NOTHING: Mapping[str, str] = MappingProxyType({})
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


class Asked(Record):
    """A request, as much of it as pages and deeds look at."""

    nonce: str
    path: Mapping[str, str] = NOTHING
    query: Mapping[str, str] = NOTHING
    headers: Mapping[str, str] = NOTHING
    body: bytes = b""

    def record(self, kind: type[T]) -> T:
        """The body, which is JSON; raises `UsageError` where it is no such record."""
        try:
            return msgspec.json.decode(self.body or b"{}", type=kind)
        except msgspec.DecodeError as error:
            raise UsageError(f"This was not understood: {error}", "Load the page again.") from error


class Mark(Record):
    """A line of the candidate's, and what is said about it."""

    line: int
    sentence: str
    wrong: bool


class Views:
    """Pages and parts of pages. Templates are read once."""

    def __init__(self, templates: Path, keys: Keys) -> None:
        self._keys = keys
        self._engine = _engine(templates)

    def prepare(self) -> None:
        """Read and compile all templates of pages now: the first page is quicker then."""
        for name in self._engine.list_templates(filter_func=lambda name: name.startswith(("web/", "html/"))):
            if name.endswith(".j2"):
                self._engine.get_template(name)

    def page(self, name: str, asked: Asked, /, *, status: int = 200, **values: Any) -> Response:
        """A whole page."""
        common = {"nonce": asked.nonce, "write": self._keys.write}
        return HTMLResponse(
            self._engine.get_template(f"web/{name}.html.j2").render(**common, **values), status
        )

    def part(self, name: str, asked: Asked, /, **values: Any) -> str:
        """A part of a page, put into one that is there. All text in it is escaped."""
        text: str = self._engine.get_template(f"web/{name}.html.j2").render(nonce=asked.nonce, **values)
        return text

    def result(self, graded: Graded, asked: Asked) -> Markup:
        """A grade as the kata page shows it: the report's sections, and the lines to be marked."""
        view = build_view(graded.grade, graded.kata, graded.context)
        text = self.part("result", asked, view=view, graded=graded, marks=marks(view))
        return Markup(text)


def marks(view: View) -> tuple[Mark, ...]:
    """What a report says about which lines, each line once: the reason, mistakes, checks, notes."""
    found: dict[int, Mark] = {}
    for line, sentence, wrong in _said(view):
        found.setdefault(line, Mark(line=line, sentence=sentence, wrong=wrong))
    return tuple(found.values())


def _said(view: View) -> Iterator[tuple[int, str, bool]]:
    reason = ""
    for section in view.sections:
        if isinstance(section, Headline):
            reason = section.reason or ""
            if section.place:
                yield section.place.line, reason, True
        elif isinstance(section, DiagnosisSection):
            for item in section.items:
                if item.place:  # a sentence that the headline has said is not said again
                    yield item.place.line, item.sentence or reason, True
        elif isinstance(section, ChecksSection):
            for check in section.failed:
                if check.place:
                    yield check.place.line, check.message or check.title, check.required
        elif isinstance(section, NotesSection):
            for note in section.items:
                if note.line:
                    yield note.line, note.text, False


def answer(status: int = 200, **values: Any) -> Response:
    """What a deed gives back to the page."""
    return JSONResponse(values, status)


def sandboxed(document: str) -> Response:
    """A document that a candidate's text is in, kept apart from the pages even if it held a script."""
    return HTMLResponse(document, headers={"content-security-policy": SANDBOX})


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _markdown(text: str) -> Markup:
    """Markdown of a kata's author; headings one level lower, as the page has its own. HTML in it is text."""
    reader = MarkdownIt("commonmark", {"html": False})
    tokens = reader.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    text = reader.renderer.render(tokens, reader.options, {})
    return Markup(text.replace("<pre>", '<pre tabindex="0">'))  # it may scroll; in text the sign is escaped


@functools.cache
def _engine(templates: Path) -> jinja2.Environment:
    """The engine of reports, with the filters of pages; what it has compiled stays compiled."""
    found = html_engine(templates)
    found.filters |= {
        "markdown": _markdown,
        "local": _local,
        "tilde": paths.tilde,
        "clock": clock,
        "spoken": spoken,
        "count": count,
    }
    return found
