"""The numbers as a report. All bars, curves and words are computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from grader.memory.hunts import HuntStats
from grader.memory.stats import KataStats, Stats, Trend
from grader.records import Record
from grader.report.sections import Section, Tone
from grader.report.view import View, duration

MOST_CONCEPTS = 12
_SPARKS = "▁▂▃▄▅▆▇█"
_TRENDS: dict[Trend, str] = {
    "faster": "getting faster",
    "slower": "getting slower",
    "steady": "steady",
    "unknown": "",
}
WIDTH, HEIGHT, PAD = 220.0, 44.0, 5.0


class KataRow(Record):
    kata: str
    title: str
    sittings: int
    passed: int
    at_once: int
    median: str  # empty where it is not known
    trend: str
    sparks: str  # the times to pass as a row of bars, the earliest first
    curve: str  # the same as an SVG polyline
    recall: str


class ConceptRow(Record):
    name: str
    title: str
    recall: str
    percent: int
    tone: Tone
    lapses: int


class MistakeRow(Record):
    mistake: str
    sentence: str
    sittings: int
    last: str
    percent: int  # of the most frequent one


class StatsSection(Section):
    """Everything that `kata stats` shows."""

    kind: ClassVar[str] = "stats"

    when: str
    attempts: int
    sittings: int
    interviews: int
    katas: tuple[KataRow, ...]
    concepts: tuple[ConceptRow, ...]
    more_concepts: int
    mistakes: tuple[MistakeRow, ...]
    weeks: tuple[int, ...]  # attempts, this week last
    hunts: tuple[HuntStats, ...]


def stats_view(found: Stats) -> View:
    """The numbers as a report of one section."""
    shown = found.concepts[:MOST_CONCEPTS]
    most = max((mistake.sittings for mistake in found.mistakes), default=1)
    section = StatsSection(
        when=f"{found.at.astimezone():%Y-%m-%d %H:%M}",
        attempts=found.attempts,
        sittings=found.sittings,
        interviews=found.interviews,
        katas=tuple(_kata(kata) for kata in found.katas),
        concepts=tuple(
            ConceptRow(
                name=f"{concept.kata} {concept.concept.replace('_', ' ')}",
                title=concept.title,
                recall="missed" if concept.lost else _percent(concept.recall),
                percent=0 if concept.lost else round(100 * concept.recall),
                tone="bad" if concept.lost else _tone(concept.recall),
                lapses=concept.lapses,
            )
            for concept in shown
        ),
        more_concepts=len(found.concepts) - len(shown),
        mistakes=tuple(
            MistakeRow(
                mistake=mistake.mistake,
                sentence=mistake.sentence,
                sittings=mistake.sittings,
                last=f"{mistake.last.astimezone():%Y-%m-%d}",
                percent=round(100 * mistake.sittings / most),
            )
            for mistake in found.mistakes
        ),
        weeks=tuple(week.attempts for week in found.weeks),
        hunts=found.hunts,
    )
    return View(title="Your practice", tone="calm", sections=(section,))


def _kata(kata: KataStats) -> KataRow:
    return KataRow(
        kata=kata.kata,
        title=kata.title,
        sittings=kata.sittings,
        passed=kata.passed,
        at_once=kata.at_once,
        median="" if kata.median_to_pass is None else duration(kata.median_to_pass),
        trend=_TRENDS[kata.trend],
        sparks=_sparks(kata.times_to_pass),
        curve=_curve(kata.times_to_pass),
        recall="missed" if kata.lost else "" if kata.recall is None else _percent(kata.recall),
    )


def _sparks(times: Sequence[float]) -> str:
    """The last twenty times, each as high as its share of the longest."""
    if len(times) < 2:
        return ""
    most = max(times) or 1.0
    return "".join(_SPARKS[round(time / most * (len(_SPARKS) - 1))] for time in times[-20:])


def _curve(times: Sequence[float]) -> str:
    if len(times) < 2:
        return ""
    most, last = max(times) or 1.0, len(times) - 1
    points = (
        (PAD + n / last * (WIDTH - 2 * PAD), HEIGHT - PAD - time / most * (HEIGHT - 2 * PAD))
        for n, time in enumerate(times)
    )
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _tone(recall: float) -> Tone:
    return "good" if recall >= 0.9 else "open" if recall >= 0.7 else "bad"


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"
