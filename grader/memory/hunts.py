"""What bug hunts left: each room counts by its last grade, and what was missed is known by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from grader.catalog import Catalog, Labels, load_labels_of
from grader.debugging.desk import last_hunts
from grader.debugging.store import Entered, Hunt
from grader.history import History
from grader.records import HELD_BACK, Record


class Hunted(Record):
    """A room at its last grade. `missed` are the labels of bugs that were not mended, `concepts` what they
    are about; both are empty where an interview held them back.
    """

    kata: str
    at: datetime
    planted: int
    mended: int
    missed: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()


class HuntStats(Record):
    """All hunts in one kata; `missed` are the labels, the most frequent first."""

    kata: str
    rooms: int
    planted: int
    mended: int
    missed: tuple[str, ...]


def hunted(catalog: Catalog, history: History) -> tuple[Hunted, ...]:
    """Every room that was graded, the one graded last first."""
    hunts = last_hunts(history)
    katas = {entered.room.kata for entered, _ in hunts}
    words = {kata.id: load_labels_of(kata, catalog) for kata in catalog.katas if kata.id in katas}
    found = [
        _hunted(entered, last, words[entered.room.kata])
        for entered, last in hunts
        if entered.room.kata in words
    ]
    return tuple(sorted(found, key=lambda one: one.at, reverse=True))


def _hunted(entered: Entered, last: Hunt, words: Labels) -> Hunted:
    told, labels = last.grade.room, entered.room.labels
    mended = () if told is None else told.mended
    known = told is not None and HELD_BACK not in told.planted
    missed = tuple(label for label in labels if label not in mended) if known else ()
    concepts = (words[label].concept for label in missed if label in words)
    return Hunted(
        kata=entered.room.kata,
        at=last.at,
        planted=len(labels),
        mended=len(mended),
        missed=missed,
        concepts=tuple(dict.fromkeys(concepts)),
    )


def hunt_stats(found: Sequence[Hunted]) -> tuple[HuntStats, ...]:
    """By kata, in the order of the last hunts."""
    katas = dict.fromkeys(one.kata for one in found)
    return tuple(_of_kata(kata, [one for one in found if one.kata == kata]) for kata in katas)


def _of_kata(kata: str, own: Sequence[Hunted]) -> HuntStats:
    missed = Counter(label for one in own for label in one.missed)
    return HuntStats(
        kata=kata,
        rooms=len(own),
        planted=sum(one.planted for one in own),
        mended=sum(one.mended for one in own),
        missed=tuple(label for label, _ in missed.most_common()),
    )
