"""A `Debrief` made into sections of a report. All geometry and all words of time are computed here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from grader.catalog import Catalog
from grader.interview.debrief import Debrief, RoundDebrief, SelfMarked
from grader.interview.hunting import BugStatus, BugStory
from grader.interview.timeline import MarkKind, Point
from grader.interview.verdict import VerdictId
from grader.interview.wording import clock
from grader.records import Record
from grader.report.context import ReportContext
from grader.report.sections import Section, Tone
from grader.report.view import View, build_view

FORMATS = ("text", "html", "md", "json")
Format = Literal["text", "html", "md", "json"]

WIDTH, HEIGHT = 720.0, 220.0
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)  # seconds between two labels of time
_MOST_COLUMNS = 8
LEFT, RIGHT, TOP, BOTTOM = 34.0, 14.0, 16.0, 28.0

_TONES: dict[VerdictId, Tone] = {
    "strong": "good",
    "lean_yes": "good",
    "lean_no": "open",
    "no": "bad",
    "none": "calm",
}
_OUTCOMES: dict[BugStatus, tuple[str, Tone]] = {
    "mended": ("mended", "good"),
    "still": ("still there", "bad"),
    "unknown": ("cannot be told from what the file does", "open"),
}
_SHORT: dict[MarkKind, str] = {
    "hint": "H",
    "asked": "Q",
    "ran": "R",
    "tested": "",
    "clock": "!",
    "resumed": "!",
}


class DebriefHeadline(Section):
    """The verdict in one glance, with the rule's reasons."""

    kind: ClassVar[str] = "debrief"

    tone: Tone
    word: str
    sentence: str
    reasons: tuple[str, ...]
    katas: str
    when: str
    practice: bool
    guided: bool


class Dot(Record):
    """A save in the drawing."""

    x: str
    y: str
    late: bool
    passed: bool
    title: str


class Tick(Record):
    """A line of the grid with its label, or a mark on the time axis."""

    at: str
    text: str


class Row(Record):
    """A line of the timeline in words."""

    time: str
    percent: int | None  # of the points, of a save; `None` for all else
    points: str
    text: str
    tone: Tone


class Share(Record):
    """A part of the time."""

    text: str
    time: str
    percent: int


class Timeline(Section):
    """One round, drawn as points over time, and in words."""

    kind: ClassVar[str] = "timeline"

    number: int
    kata: str
    title: str
    points: int
    max_points: int
    used: str
    limit: str
    ending: str
    ended_in_time: bool
    hints: int
    hint_cost: int
    questions_asked: int
    steps: str  # the line of what counted, as an SVG path
    dots: tuple[Dot, ...]
    columns: tuple[Tick, ...]
    lines: tuple[Tick, ...]
    marks: tuple[Tick, ...]
    end_x: str
    rows: tuple[Row, ...]
    shares: tuple[Share, ...]
    notes: tuple[str, ...]
    review: tuple[str, ...]
    sentences: tuple[str, ...]  # what went wrong, in a ladder, where no report follows
    unit: str = "points"


class FoundBug(Record):
    """A planted bug as it went: its status in words, the line, and by which save it was mended."""

    text: str
    tone: Tone
    status: str
    line: int
    wrong: str
    right: str
    change: tuple[str, ...]
    experiment: str


class BugStories(Section):
    """The bugs of a hunt, one by one."""

    kind: ClassVar[str] = "bugs"

    items: tuple[FoundBug, ...]


class FollowUps(Section):
    """The follow-up questions with answers and the candidate's own marks."""

    kind: ClassVar[str] = "followups"

    items: tuple[SelfMarked, ...]
    marked: int
    key_points: int


def debrief_view(debrief: Debrief, catalog: Catalog) -> View:
    """The debrief, and after it the report of the grade where there is one kata."""
    headline = _headline(debrief)
    alone = len(debrief.rounds) == 1
    sections: list[Section] = [headline]
    sections += [_timeline(number, one, alone) for number, one in enumerate(debrief.rounds, start=1)]
    sections += [_bugs(one) for one in debrief.rounds if one.bugs]
    if debrief.follow_ups:
        sections.append(_follow_ups(debrief.follow_ups))
    if alone:
        one = debrief.rounds[0]
        context = ReportContext(seconds_taken=one.used, hints=one.hints, when=debrief.at.isoformat())
        sections += build_view(one.grade, catalog.get(one.kata), context).sections
    return View(title=f"Interview · {headline.katas}", tone=headline.tone, sections=tuple(sections))


def debrief_document(
    debrief: Debrief,
    form: Format,
    catalog: Catalog,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The debrief in one format, ending with a newline."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(debrief), indent=2).decode() + "\n"
    view = debrief_view(debrief, catalog)
    if form == "text":
        from grader.report.terminal import render_text

        return render_text(view, width, color, unicode=unicode)
    from grader.report.render import render

    return render(view, form)


def _headline(debrief: Debrief) -> DebriefHeadline:
    verdict = debrief.verdict
    return DebriefHeadline(
        tone=_TONES[verdict.id],
        word=verdict.word,
        sentence=verdict.sentence,
        reasons=verdict.reasons,
        katas=", ".join(one.kata for one in debrief.rounds),
        when=_local(debrief.at),
        practice=debrief.practice,
        guided=debrief.guided,
    )


def _timeline(number: int, one: RoundDebrief, alone: bool) -> Timeline:
    scale = _Scale(one)
    graded = [save for save in one.saves if save.verdict is not None]
    return Timeline(
        number=number,
        kata=one.kata,
        title=one.title,
        points=one.points,
        max_points=one.max_points,
        used=clock(round(one.used)),
        limit=clock(one.limit),
        ending=one.ending,
        ended_in_time=one.ending == "submitted",
        hints=one.hints,
        hint_cost=one.hint_cost,
        questions_asked=one.questions_asked,
        steps=scale.steps([save for save in graded if not save.late], one.used),
        dots=tuple(scale.dot(save) for save in graded),
        columns=tuple(scale.columns()),
        lines=tuple(scale.lines()),
        marks=tuple(
            Tick(at=scale.x(mark.seconds), text=_SHORT[mark.kind])
            for mark in one.marks
            if _SHORT.get(mark.kind) and mark.seconds <= scale.seconds
        ),
        end_x=scale.x(one.used),
        rows=tuple(_rows(one)),
        shares=tuple(
            Share(
                text=span.text,
                time=clock(round(span.seconds)),
                percent=round(100 * span.seconds / (one.used or 1)),
            )
            for span in one.spans
        ),
        notes=one.notes,
        review=tuple(review.title for review in one.review),
        unit=_unit(one),
        sentences=() if alone else tuple(item.sentence for item in one.grade.diagnosis),
    )


class _Scale:
    """Seconds and points as places in the drawing."""

    def __init__(self, one: RoundDebrief) -> None:
        late = [save.seconds for save in one.saves if save.late]
        # What happened fills the width, not what was left of the time.
        self.seconds = max(one.used, *late[-1:], 1.0) * 1.02
        self.most = max(one.max_points, 1)
        self.unit = _unit(one)

    def x(self, seconds: float) -> str:
        return f"{LEFT + min(seconds, self.seconds) / self.seconds * (WIDTH - LEFT - RIGHT):.1f}"

    def y(self, points: float) -> str:
        return f"{HEIGHT - BOTTOM - points / self.most * (HEIGHT - TOP - BOTTOM):.1f}"

    def dot(self, save: Point) -> Dot:
        words = ", ".join(save.milestones)
        return Dot(
            x=self.x(save.seconds),
            y=self.y(save.points),
            late=save.late,
            passed=save.verdict == "passed",
            title=f"{clock(int(save.seconds))}: {save.points} {self.unit}{', late' if save.late else ''}"
            + (f", {words}" if words else ""),
        )

    def steps(self, saves: list[Point], end: float) -> str:
        """What counted at each moment: it stays as it is until the next save."""
        if not saves:
            return ""
        start = f"M{self.x(saves[0].seconds)},{self.y(saves[0].points)}"
        steps = [f"H{self.x(save.seconds)}V{self.y(save.points)}" for save in saves[1:]]
        return "".join([start, *steps, f"H{self.x(end)}"])

    def columns(self) -> Iterator[Tick]:
        step = next((size for size in _STEPS if self.seconds / size <= _MOST_COLUMNS), _STEPS[-1])
        for second in range(0, int(self.seconds) + 1, step):
            yield Tick(at=self.x(second), text=_on_the_axis(second))

    def lines(self) -> Iterator[Tick]:
        for points in sorted({0, self.most // 2, self.most}):
            yield Tick(at=self.y(points), text=str(points))


def _on_the_axis(second: int) -> str:
    if second % 60:
        return f"{second} s" if second < 60 else clock(second)
    return f"{second // 60} min" if second else "0"


def _rows(one: RoundDebrief) -> Iterator[Row]:
    """The timeline in words: saves that changed something, and all else that happened."""
    entries: list[tuple[float, int, Row]] = []
    shown: int | None = None
    for place, save in enumerate(one.saves):
        notable = save.milestones or save.first or save.points != shown
        if save.verdict is None or not notable:
            continue
        shown = save.points
        entries.append((save.seconds, place, _save_row(save, one)))
    for mark in one.marks:
        row = Row(time=clock(int(mark.seconds)), percent=None, points="", text=mark.text, tone="calm")
        entries.append((mark.seconds, len(one.saves), row))
    yield from (row for *_, row in sorted(entries, key=lambda entry: entry[:2]))


def _save_row(save: Point, one: RoundDebrief) -> Row:
    text = "; ".join(save.milestones)
    if save.first:
        text = "the file as it was handed over"
    elif save.late:
        text = "late: not counted"
    elif not text:
        text = "does not run" if save.verdict == "unrunnable" else "saved"
    tone: Tone = "calm" if save.late or save.first else "good" if save.verdict == "passed" else "open"
    return Row(
        time=clock(int(save.seconds)),
        percent=round(100 * save.points / max(one.max_points, 1)),
        points=f"{save.points}/{one.max_points}",
        text=text,
        tone=tone,
    )


def _unit(one: RoundDebrief) -> str:
    """What its points are."""
    return "bugs" if one.bugs else "points"


def _bugs(one: RoundDebrief) -> BugStories:
    return BugStories(items=tuple(_found(bug) for bug in one.bugs))


def _found(bug: BugStory) -> FoundBug:
    status, tone = _OUTCOMES[bug.status]
    if bug.seconds is not None and bug.status == "mended":
        status = f"{status} at {clock(int(bug.seconds))}, save {bug.save}"
    elif bug.seconds is not None:
        status = f"{status}; it was mended at {clock(int(bug.seconds))}, save {bug.save}"
    return FoundBug(
        text=bug.sentence,
        tone=tone,
        status=status,
        line=bug.line,
        wrong=_dedented(bug.wrong),
        right=_dedented(bug.right),
        change=bug.change,
        experiment=bug.experiment,
    )


def _dedented(code: str) -> str:
    """Lines of code, one under the other."""
    return "\n".join(line.strip() for line in code.strip().split("\n"))


def _follow_ups(items: tuple[SelfMarked, ...]) -> FollowUps:
    marked = [item for item in items if item.marks is not None]
    return FollowUps(
        items=items,
        marked=sum(sum(item.marks or ()) for item in marked),
        key_points=sum(len(item.key_points) for item in marked),
    )


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
