"""A `Grade` made into what a report shows: ordered sections in which everything is computed.

The order is the order of reading: the verdict, what went wrong and where, the evidence, the code, the rest.
Others add sections of their own (a debrief, a cohort) through `extra`, or build a `View` of their sections.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from grader.catalog import Kata
from grader.records import HELD_BACK, CheckRecord, Diagnosis, Grade, Record, Status, Verdict
from grader.report.code import Source, walk_through
from grader.report.context import ReportContext
from grader.report.hand import hand_of
from grader.report.heatmaps import map_pair
from grader.report.neutral import bounded, for_terminal, visible
from grader.report.sections import (
    Bug,
    ChecksSection,
    ConceptBar,
    ConceptsSection,
    DiagnosisItem,
    DiagnosisSection,
    Effort,
    FailedCheck,
    Headline,
    HuntSection,
    MapsSection,
    NoteItem,
    NotesSection,
    NotReached,
    Origin,
    PrintedSection,
    Questions,
    Section,
    Tone,
)
from grader.report.todos import todos_of

END_TO_END = "end_to_end"
_NUMBERS = re.compile(r"[0-9.]+")

Kind = TypeVar("Kind", bound=Section)

VERDICT_TONE: dict[Verdict, Tone] = {
    "passed": "good",
    "failed": "bad",
    "unrunnable": "bad",
    "grader_error": "open",
}
_STATUS_TONE: dict[Status, Tone] = {"passed": "good", "failed": "bad", "not_reached": "open"}


class View(Record):
    """A whole report. `title` is the document's; the sections follow in the order of reading."""

    title: str
    tone: Tone
    sections: tuple[Section, ...]
    verbose: bool = False

    def section(self, kind: type[Kind]) -> Kind | None:
        """The section of that type, if the report has one."""
        return next((section for section in self.sections if isinstance(section, kind)), None)


def build_view(
    grade: Grade, kata: Kata, context: ReportContext | None = None, *, extra: Iterable[Section] = ()
) -> View:
    """The report of one grade. `extra` sections come after the evidence and before the origin."""
    context = context or ReportContext()
    source = source_of(grade, context)
    concepts, checks, walk = _concepts(grade), _checks(grade, kata, source), walk_through(grade, source)
    notes, printed, effort = _notes(grade, source), _printed(grade, context), effort_of(kata, context)
    body: tuple[Section | None, ...]
    if grade.verdict == "grader_error":
        body = ()
    elif grade.todos:
        body = (walk, notes, printed, effort)
    elif grade.verdict == "passed":
        body = (concepts, notes, _questions(context), checks, walk, printed, effort)
    else:
        body = (
            _diagnosis(grade, kata, source, context),
            hand_of(grade) if grade.by_hand or grade.experiment else None,
            _maps(grade, context),
            concepts,
            checks,
            walk,
            notes,
            printed,
            effort,
        )
    body = (hunt_of(grade, source), *body)
    headline = headline_of(grade, kata, context, source)
    body = tuple(_without_repeating(headline.reason, section) for section in body)
    sections = (headline, *body, *extra, _origin(grade, context, source))
    return View(
        title=f"{kata.id} · {kata.title}",
        tone=VERDICT_TONE[grade.verdict],
        sections=tuple(section for section in sections if section is not None),
        verbose=context.verbose,
    )


def hunt_of(grade: Grade, source: Source) -> HuntSection | None:
    """What became of the planted mistakes, where there were any."""
    room = grade.room
    if room is None:
        return None
    said = {label: item for item in grade.diagnosis for label in reversed(item.mistakes)}

    def bug(label: str) -> Bug:
        item = said.get(label)
        line = room.lines.get(label) or (item.line if item else None)
        return Bug(
            label=label,
            text=bounded(item.sentence) if item else "",
            spot=source.bare(line).spot if line else "",
        )

    return HuntSection(
        planted=len(room.planted),
        mended=len(room.mended),
        unknown=len(room.unknown),
        still=tuple(map(bug, room.still)),
        new=tuple(map(bug, room.new)),
        held_back=HELD_BACK in room.planted,
        touched=", ".join(source.bare(line).spot for line in room.touched),
        rewritten=room.rewritten,
        done=grade.verdict == "passed",
        points=grade.points,
        max_points=grade.max_points,
    )


def source_of(grade: Grade, context: ReportContext) -> Source:
    """The code that was graded, with the lines that are to blame."""
    name = context.file or (grade.source.name if grade.source else "")
    blamed: set[int | None] = {item.line for item in grade.diagnosis if item.line}
    if not blamed:
        blamed = {check.line for check in grade.checks if check.status == "failed" and check.line}
    if not blamed and grade.verdict == "unrunnable":
        blamed = {_place_of_reason(grade)}
    text = grade.source.text if grade.source else ""
    return Source(for_terminal(name, limit=300), text, blamed, context.cells)


def headline_of(grade: Grade, kata: Kata, context: ReportContext, source: Source) -> Headline:
    """The verdict, with the reason and the place of what could not be run."""
    percent = _percent(grade.points, grade.max_points)
    gained = None if context.previous_points is None else grade.points - context.previous_points
    return Headline(
        verdict=grade.verdict,
        tone=VERDICT_TONE[grade.verdict],
        kata=kata.id,
        title=kata.title,
        class_name=kata.class_name,
        points=grade.points,
        max_points=grade.max_points,
        percent=percent,
        arc=f"{percent:.1f}",
        gained=gained,
        attempt=None if grade.verdict == "grader_error" else context.attempt,
        reason=bounded(source.told(grade.reason)) if grade.reason else None,
        place=source.place(_place_of_reason(grade)) if grade.verdict == "unrunnable" else None,
        mistakes=sum(len(item.mistakes) for item in grade.diagnosis),
        failed_checks=sum(check.status == "failed" for check in grade.checks),
        command=context.command,
        next_kata=context.next_kata,
        todos=todos_of(grade, source),
    )


def _without_repeating(said: str | None, section: Section | None) -> Section | None:
    """The section without the sentence that the headline has said already."""
    if said and isinstance(section, DiagnosisSection):
        items = tuple(replace(item, sentence="") if item.sentence in said else item for item in section.items)
        return replace(section, items=items)
    if said and isinstance(section, ChecksSection):
        failed = tuple(
            replace(check, message=None) if check.message and check.message in said else check
            for check in section.failed
        )
        return replace(section, failed=failed)
    return section


def _percent(points: int, max_points: int) -> int:
    return round(100 * min(points, max_points) / max_points) if max_points > 0 else 0


def _place_of_reason(grade: Grade) -> int | None:
    """The line of an answer that could not be run; a diagnosis shows its own line."""
    if any(item.line for item in grade.diagnosis):
        return None
    failed = next((check.line for check in grade.checks if check.status == "failed" and check.line), None)
    if failed is not None or not grade.reason or not grade.source:
        return failed
    found = re.search(rf"{re.escape(grade.source.name)}:(\d{{1,6}})\b|\bline (\d{{1,6}})\b", grade.reason)
    return int(found[1] or found[2]) if found else None


def _diagnosis(grade: Grade, kata: Kata, source: Source, context: ReportContext) -> DiagnosisSection | None:
    items = tuple(diagnosis_item(item, kata, source, context) for item in grade.diagnosis)
    return DiagnosisSection(items=items) if items else None


def diagnosis_item(
    item: Diagnosis, kata: Kata, source: Source, context: ReportContext, around: int = 2
) -> DiagnosisItem:
    """One entry of what went wrong; its code with so many lines `around`."""
    return DiagnosisItem(
        sentence=bounded(item.sentence),
        fix="" if context.without_fixes else bounded(item.fix),
        why=bounded(item.why),
        labels=item.mistakes,
        concept=_concept_title(item.concept, kata),
        exact=item.certainty == "exact",
        alternatives=tuple(" ".join(labels) for labels in item.alternatives),
        place=source.place(item.line, around),
        asked=not context.fixes_on_request or " ".join(item.mistakes) in context.fixes,
    )


def _concept_title(concept: str, kata: Kata) -> str:
    """The kata's words for a concept; empty for the gates, which belong to none."""
    return next((known.title for known in kata.concepts if known.id == concept), "")


def _maps(grade: Grade, context: ReportContext) -> MapsSection | None:
    """Maps that differ, the first of them in full; all of them in a verbose report."""
    pairs = [map_pair(record) for record in grade.maps]
    wrong = [pair for pair in pairs if pair.cells_off]
    shown = pairs if context.verbose else wrong
    if not shown:
        return None
    rest = tuple(pair.title for pair in pairs if not pair.cells_off and pair not in shown)
    return MapsSection(pairs=tuple(shown), rest=rest)


def _concepts(grade: Grade) -> ConceptsSection | None:
    if not grade.concepts or grade.verdict == "unrunnable":  # a row of "not reached" says nothing
        return None
    total = sum(concept.max_points for concept in grade.concepts)
    bars = tuple(
        ConceptBar(
            id=concept.id,
            title=concept.title,
            points=concept.points,
            max_points=concept.max_points,
            percent=_percent(concept.points, concept.max_points),
            share=f"{100 * concept.max_points / total:.2f}" if total else "0",
            status=concept.status,
            tone=_STATUS_TONE[concept.status],
            required=concept.required,
        )
        for concept in grade.concepts
    )
    return ConceptsSection(bars=bars, points=grade.points, max_points=grade.max_points)


def _checks(grade: Grade, kata: Kata, source: Source) -> ChecksSection | None:
    if not grade.checks:
        return None
    failed = [check for check in grade.checks if check.status == "failed"]
    failed.sort(key=lambda check: (not check.required, check.concept == END_TO_END))
    reasons: dict[str | None, list[str]] = {}
    for check in grade.checks:
        if check.status == "not_reached":
            reasons.setdefault(bounded(check.message) if check.message else None, []).append(check.title)
    explained = {item.line for item in grade.diagnosis}
    return ChecksSection(
        failed=tuple(_failed_check(check, kata, source, explained) for check in failed),
        not_reached=tuple(NotReached(reason=why, titles=tuple(titles)) for why, titles in reasons.items()),
        not_reached_count=sum(len(titles) for titles in reasons.values()),
        passed=tuple(check.title for check in grade.checks if check.status == "passed"),
    )


def _failed_check(check: CheckRecord, kata: Kata, source: Source, explained: set[int | None]) -> FailedCheck:
    """A failed check; the code of a line that the diagnosis has shown already is not shown again."""
    place = source.place(check.line, around=0)
    if place is not None and check.line in explained:
        place = replace(place, excerpt=())
    concept = _concept_title(check.concept, kata)
    return FailedCheck(
        id=check.id,
        title=check.title,
        concept="" if concept == check.title else concept,
        gate=check.concept == END_TO_END,
        required=check.required,
        message=bounded(source.told(check.message)) if check.message else None,
        expected=bounded(check.expected) if check.expected else None,
        actual=bounded(check.actual) if check.actual else None,
        why=bounded(check.why) if check.why else None,
        place=place,
    )


def _notes(grade: Grade, source: Source) -> NotesSection | None:
    items = tuple(
        NoteItem(
            text=bounded(note.text),
            line=note.line,
            spot=source.bare(note.line).spot if note.line else "",
        )
        for note in grade.notes
    )
    return NotesSection(items=items) if items else None


def _questions(context: ReportContext) -> Questions | None:
    if not context.questions and not context.next_kata:
        return None
    return Questions(items=context.questions, next_kata=context.next_kata)


def _printed(grade: Grade, context: ReportContext) -> PrintedSection | None:
    text = visible(grade.printed.text).rstrip("\n")
    if not text:
        return None
    every = text.split("\n")
    times = Counter(map(_alike, every))
    first = dict(zip(reversed(list(map(_alike, every))), reversed(every), strict=True))
    lines = [first[line] + (f"  ({count} times)" if count > 1 else "") for line, count in times.items()]
    return PrintedSection(
        text="\n".join(lines),
        lines=tuple(lines),
        printed_lines=len(every),
        brief=not (context.show_printed or context.verbose),
        dropped_bytes=grade.printed.dropped_bytes,
    )


def _alike(line: str) -> str:
    """A printed line without its numbers: forward prints the same at each call, with other numbers."""
    return _NUMBERS.sub("0", line)


def effort_of(kata: Kata, context: ReportContext) -> Effort | None:
    """The time and the hints that it took, where anything is known of them."""
    hints = context.hints if isinstance(context.hints, tuple) else ()
    count = context.hints if isinstance(context.hints, int) else len(hints) + len(context.fixes)
    if context.seconds_taken is None and not count and context.attempt is None:
        return None
    return Effort(
        time=None if context.seconds_taken is None else duration(context.seconds_taken),
        paused=context.paused,
        hints=hints,
        fixes=context.fixes,
        hint_count=count,
        attempt=context.attempt,
        minutes=kata.minutes,
        over_time=(context.seconds_taken or 0) > kata.minutes * 60,
    )


def duration(seconds: float) -> str:
    """A time as people say it: `48 s`, `12 min 05 s`, `1 h 02 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _origin(grade: Grade, context: ReportContext, source: Source) -> Origin:
    total = grade.seconds.get("total")
    environment = grade.environment
    named = ("grader", "python", "torch", "isolation")
    return Origin(
        command=context.command,
        seed=grade.seed,
        file=source.file,
        sha256=grade.source.sha256[:12] if grade.source else "",
        when=_moment(context.when),
        when_iso=context.when,
        seconds=None if total is None else f"{total:.2f}",
        environment=tuple((name, getattr(environment, name)) for name in named) if environment else (),
    )


def _moment(when: str | None) -> str | None:
    """`2026-11-30T14:03:22Z` as `2026-11-30 14:03`; anything else as it is."""
    if when is None:
        return None
    try:
        return datetime.fromisoformat(when).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return when
