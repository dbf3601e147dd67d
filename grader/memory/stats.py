"""Honest numbers about the practice so far. No streaks: a day without practice is a day without practice."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Literal

from grader.catalog import Catalog
from grader.history import Attempt, GradeUnreadable, History
from grader.interview.store import InterviewStore
from grader.memory.hunts import HuntStats, hunt_stats, hunted
from grader.memory.schedule import Memory, memories
from grader.memory.sittings import Sitting, sittings
from grader.records import Diagnosis, Record

VERSION = 1
MOST_MISTAKES = 10
MOST_WEEKS = 8

Trend = Literal["faster", "slower", "steady", "unknown"]
_ENOUGH = 4  # sittings that passed, before a trend is more than chance
_STEADY = 0.1  # a change below this share is none


class KataStats(Record):
    """One kata: how often it was tried, and how long it took to pass. Times in seconds."""

    kata: str
    track: str
    title: str
    sittings: int
    passed: int  # sittings that passed in the end
    at_once: int  # sittings whose first submission passed
    attempts: int
    median_to_pass: float | None
    times_to_pass: tuple[float, ...]  # the earliest first
    trend: Trend
    lost: bool  # the last first submission did not pass
    recall: float | None


class ConceptStats(Record):
    """One concept of one kata: how likely it is still known."""

    kata: str
    concept: str
    title: str
    reviews: int
    lapses: int
    lost: bool  # when it was practised last
    recall: float
    due: datetime


class MistakeStats(Record):
    """A mistake by its label: in how many sittings it was made, and when last."""

    mistake: str
    concept: str
    sentence: str
    sittings: int
    last: datetime


class WeekStats(Record):
    """How often something was graded in one week. `monday` is its first day."""

    monday: date
    attempts: int


class Stats(Record):
    """The JSON document of `kata stats --json`."""

    at: datetime
    attempts: int
    sittings: int
    interviews: int
    katas: tuple[KataStats, ...]
    concepts: tuple[ConceptStats, ...]  # what was lost last, then the least certain first
    mistakes: tuple[MistakeStats, ...]  # the most frequent first
    weeks: tuple[WeekStats, ...] = ()  # the last eight, this one last
    hunts: tuple[HuntStats, ...] = ()
    version: int = VERSION


def stats(catalog: Catalog, history: History, interviews: InterviewStore, now: datetime) -> Stats:
    """All numbers at `now`."""
    found = sittings(catalog, history, interviews)
    known = memories(found, now)
    attempts = history.attempts()
    return Stats(
        at=now,
        attempts=len(attempts),
        sittings=len(found),
        interviews=sum(not interview.aborted for interview in interviews.readable()),
        katas=tuple(_katas(catalog, found, known)),
        concepts=tuple(_concepts(catalog, known)),
        mistakes=tuple(_mistakes(found, history)),
        weeks=tuple(_weeks(attempts, now)),
        hunts=hunt_stats(hunted(catalog, history)),
    )


def trend(times: Sequence[float]) -> Trend:
    """How the later half of the times compares with the earlier one."""
    if len(times) < _ENOUGH:
        return "unknown"
    half = len(times) // 2
    before, after = statistics.median(times[:half]), statistics.median(times[-half:])
    if before <= 0 or abs(after - before) <= _STEADY * before:
        return "steady"
    return "faster" if after < before else "slower"


def _weeks(attempts: Iterable[Attempt], now: datetime) -> Iterable[WeekStats]:
    """By the candidate's own calendar."""
    counts = Counter(_monday(attempt.at) for attempt in attempts)
    for back in range(MOST_WEEKS - 1, -1, -1):
        monday = _monday(now) - timedelta(weeks=back)
        yield WeekStats(monday=monday, attempts=counts[monday])


def _monday(moment: datetime) -> date:
    day = moment.astimezone().date()
    return day - timedelta(days=day.weekday())


def _katas(catalog: Catalog, found: Sequence[Sitting], known: dict[str, Memory]) -> Iterable[KataStats]:
    for kata in catalog.katas:
        own = [sitting for sitting in found if sitting.kata == kata.id]
        if not own:
            continue
        times = tuple(s.seconds_to_pass for s in own if s.seconds_to_pass is not None)
        memory = known.get(kata.id)
        yield KataStats(
            kata=kata.id,
            track=kata.track,
            title=kata.title,
            sittings=len(own),
            passed=sum(sitting.passed for sitting in own),
            at_once=sum(sitting.first.verdict == "passed" for sitting in own),
            attempts=sum(len(sitting.attempts) for sitting in own),
            median_to_pass=statistics.median(times) if times else None,
            times_to_pass=times,
            trend=trend(times),
            lost=memory is not None and memory.last_rating == "again",
            recall=None if memory is None else memory.recall,
        )


def _concepts(catalog: Catalog, known: dict[str, Memory]) -> list[ConceptStats]:
    titles = {f"{kata.id}/{concept.id}": concept.title for kata in catalog.katas for concept in kata.concepts}
    found = [
        ConceptStats(
            kata=memory.kata,
            concept=memory.concept,
            title=titles[memory.card],
            reviews=memory.reviews,
            lapses=memory.lapses,
            lost=memory.last_rating == "again",
            recall=memory.recall,
            due=memory.due,
        )
        for memory in known.values()
        if memory.card in titles
    ]
    return sorted(found, key=lambda c: (not c.lost, c.recall, -c.lapses, c.kata, c.concept))


def _mistakes(found: Sequence[Sitting], history: History) -> list[MistakeStats]:
    """Each mistake once a sitting, however often the same file was graded."""
    counts: Counter[str] = Counter()
    latest: dict[str, tuple[datetime, str, str]] = {}
    for sitting in found:
        made = set()
        for attempt in sitting.attempts:
            for item, label in _diagnosed(attempt, history):
                made.add(label)
                latest[label] = (attempt.at, item.concept, item.sentence)
        counts.update(made)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], -latest[entry[0]][0].timestamp()))
    return [
        MistakeStats(
            mistake=label,
            concept=latest[label][1],
            sentence=latest[label][2],
            sittings=count,
            last=latest[label][0],
        )
        for label, count in ordered[:MOST_MISTAKES]
    ]


def _diagnosed(attempt: Attempt, history: History) -> list[tuple[Diagnosis, str]]:
    try:
        diagnosis = history.grade(attempt).diagnosis
    except GradeUnreadable:
        return []
    return [(item, label) for item in diagnosis for label in item.mistakes]
