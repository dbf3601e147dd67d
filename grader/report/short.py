"""The short form of a report, for a terminal: the verdict, what is wrong first, what else, what to type next.

It is a view of one section, so everything that it leaves out is never computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec.structs import replace

from grader.catalog import Kata
from grader.records import CheckRecord, Diagnosis, Grade, Record
from grader.report.code import Source
from grader.report.context import ReportContext
from grader.report.neutral import bounded
from grader.report.sections import DiagnosisItem, Effort, Headline, Place, Section
from grader.report.view import (
    END_TO_END,
    VERDICT_TONE,
    View,
    diagnosis_item,
    effort_of,
    headline_of,
    hunt_of,
    source_of,
)

WIDE, NARROW = 80, 60  # columns
LONGEST = 300  # characters of a sentence
MOST_LINES = {WIDE: 21, NARROW: 17}  # of a screen of 24 and of 20, with a prompt and what was typed


class Other(Record):
    """What else is wrong, in one line."""

    text: str
    spot: str = ""


class Short(Section):
    """All of the short form. `first` is what to look at; the terminal leaves out `others` from the end."""

    kind: ClassVar[str] = "short"

    headline: Headline
    first: DiagnosisItem | None
    others: tuple[Other, ...]
    effort: Effort | None
    questions: int  # that could be asked next
    more: int = 0  # others that there was no room for


def short_view(grade: Grade, kata: Kata, context: ReportContext) -> View:
    """The short form of one grade."""
    source = source_of(grade, context)
    headline = headline_of(grade, kata, context, source)
    headline = replace(headline, reason=bounded(headline.reason or "", LONGEST))
    said = [] if grade.todos else list(_said(grade, kata, source, context))
    passed = grade.verdict == "passed"
    section = Short(
        headline=headline,
        first=None if passed or not said else replace(said[0], sentence=bounded(said[0].sentence, LONGEST)),
        others=tuple(_in_a_line(item) for item in (said if passed else said[1:])),
        effort=effort_of(kata, context) if passed else None,
        questions=len(context.questions),
    )
    return View(title=f"{kata.id} · {kata.title}", tone=VERDICT_TONE[grade.verdict], sections=(section,))


def hunt_view(grade: Grade, kata: Kata, context: ReportContext) -> View:
    """The short form of a grade in a bug hunt: what is mended, what is not."""
    section = hunt_of(grade, source_of(grade, context))
    assert section is not None
    reason = grade.reason if grade.verdict == "unrunnable" else None
    section = replace(section, reason=bounded(reason or "", LONGEST))
    return View(title=f"{kata.id} · {kata.title}", tone=VERDICT_TONE[grade.verdict], sections=(section,))


def without_some(view: View, short: Short, lines: int) -> View:
    """The view with others left out so that it is so many lines shorter, one of which says how many."""
    left = max(0, len(short.others) - lines - 1)
    fewer = replace(short, others=short.others[:left], more=len(short.others) - left)
    return replace(view, sections=(fewer,))


def most_lines(width: int) -> int:
    """How many lines the short form may have, with what is written beside it."""
    return MOST_LINES[WIDE if width >= WIDE else NARROW]


def _said(grade: Grade, kata: Kata, source: Source, context: ReportContext) -> Iterator[DiagnosisItem]:
    """The mistakes that have a name, then the failed checks that none of them accounts for."""
    for item in grade.diagnosis:
        yield diagnosis_item(item, kata, source, context, around=0)
    for check in _unaccounted(grade.checks, grade.diagnosis):
        yield _unnamed(source.told(check.message or check.title), source.place(check.line, 0))
    if not grade.checks and not grade.diagnosis and grade.verdict == "failed":
        yield from (_unnamed(lost.title) for lost in grade.concepts if lost.status == "failed")


def _unnamed(sentence: str, place: Place | None = None) -> DiagnosisItem:
    return DiagnosisItem(
        sentence=bounded(sentence),
        fix="",
        why="",
        labels=(),
        concept="",
        exact=True,
        alternatives=(),
        place=place,
    )


def _unaccounted(checks: Sequence[CheckRecord], diagnosis: Sequence[Diagnosis]) -> list[CheckRecord]:
    """What failed of concepts that no named mistake is about; the gates only where nothing else failed."""
    failed = [check for check in checks if check.status == "failed"]
    charged = {item.concept for item in diagnosis}
    own = [check for check in failed if check.concept not in charged and check.concept != END_TO_END]
    own.sort(key=lambda check: not check.required)
    once = {check.concept: check for check in reversed(own)}
    kept = [check for check in own if once[check.concept] is check]
    return kept or ([] if diagnosis else failed)


def _in_a_line(item: DiagnosisItem) -> Other:
    place: Place | None = item.place
    return Other(text=item.sentence, spot="" if place is None else place.spot)
