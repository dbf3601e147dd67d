"""A plan to a date: which kata on which day, from prerequisites, minutes and the schedule.

What is new comes in order, as early as the days allow, and comes back after growing gaps; what was practised
before comes when it is due; the last day is for an interview. What the days have no room for is left out, and
said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Literal

from grader.catalog import Catalog, Kata
from grader.memory.schedule import Memory
from grader.memory.sittings import Sitting
from grader.records import Record

VERSION = 1
MINUTES_A_DAY = 45
GAPS = (2, 5, 12, 30)  # days from one time to the next of what is new

Why = Literal["new", "again", "due", "interview"]


class Item(Record):
    """One kata on one day. `due` is what the schedule expects to be forgotten, `again` was new before."""

    kata: str
    title: str
    minutes: int
    why: Why
    command: str


class Day(Record):
    day: date
    items: tuple[Item, ...]


class Plan(Record):
    """The JSON document of `kata plan --json`. Days without anything are left out."""

    until: date
    minutes_a_day: int
    days: tuple[Day, ...]
    left_out: tuple[str, ...]  # katas that are new and that no day has room for
    version: int = VERSION


def plan(
    catalog: Catalog,
    sittings: Sequence[Sitting],
    memories: Mapping[str, Memory],
    now: datetime,
    until: date,
    minutes_a_day: int = MINUTES_A_DAY,
) -> Plan:
    """The plan from today to the day before `until`."""
    today = now.astimezone().date()
    days = [today + timedelta(days=number) for number in range(max(0, (until - today).days))]
    calendar = _Calendar(days, minutes_a_day)
    if days:
        calendar.put(_interview(catalog), days[-1])
    for kata, due in _due(catalog, memories):
        calendar.put(_item(kata, "due"), max(due, today))
    left_out = _place_new(calendar, catalog, sittings)
    return Plan(until=until, minutes_a_day=minutes_a_day, days=calendar.filled(), left_out=tuple(left_out))


class _Calendar:
    """Days with the minutes that they have left."""

    def __init__(self, days: Sequence[date], minutes: int) -> None:
        self._minutes = minutes
        self._days: dict[date, list[Item]] = {day: [] for day in days}

    def put(self, item: Item, wanted: date) -> date | None:
        """The first day from `wanted` on that has room; a day that is empty has room for anything."""
        for day, items in self._days.items():
            used = sum(one.minutes for one in items)
            known = any(one.kata == item.kata for one in items)
            if day >= wanted and not known and (not items or used + item.minutes <= self._minutes):
                items.append(item)
                return day
        return None

    def filled(self) -> tuple[Day, ...]:
        return tuple(Day(day=day, items=tuple(items)) for day, items in self._days.items() if items)


def _place_new(calendar: _Calendar, catalog: Catalog, sittings: Sequence[Sitting]) -> list[str]:
    """Every kata that was not passed yet, none before those that it comes after; returns those left out."""
    passed = {sitting.kata for sitting in sittings if sitting.passed}
    on: dict[str, date] = {}
    left_out: list[str] = []
    for kata in _in_order(catalog.katas):
        if kata.id in passed:
            continue
        before = [on[other] for other in kata.prerequisites if other in on]
        first = max(before, default=date.min)
        day = None if set(kata.prerequisites) & set(left_out) else calendar.put(_item(kata, "new"), first)
        if day is None:
            left_out.append(kata.id)
        else:
            on[kata.id] = day
    for kata in catalog.katas:
        again = on.get(kata.id)
        for gap in GAPS:
            if again is not None:
                again = calendar.put(_item(kata, "again"), again + timedelta(days=gap))
    return left_out


def _in_order(katas: Iterable[Kata]) -> list[Kata]:
    """Each after its prerequisites, else as the catalog has them."""
    waiting, ordered = list(katas), list[Kata]()
    while waiting:
        open_ids = {kata.id for kata in waiting}
        ready = next((kata for kata in waiting if not open_ids & set(kata.prerequisites)), waiting[0])
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def _due(catalog: Catalog, memories: Mapping[str, Memory]) -> list[tuple[Kata, date]]:
    """When the schedule wants each kata back: with the first of its concepts."""
    found = []
    for kata in catalog.katas:
        dates = [memory.due.astimezone().date() for memory in memories.values() if memory.kata == kata.id]
        if dates:
            found.append((kata, min(dates)))
    return sorted(found, key=lambda entry: entry[1])


def _item(kata: Kata, why: Why) -> Item:
    command = f"kata start {kata.id}" if why == "new" else f"kata reset {kata.id} --blank"
    return Item(kata=kata.id, title=kata.title, minutes=kata.minutes, why=why, command=command)


def _interview(catalog: Catalog) -> Item:
    last = catalog.katas[-1]
    return Item(
        kata=last.id,
        title=last.title,
        minutes=last.minutes,
        why="interview",
        command=f"kata interview {last.id}",
    )
