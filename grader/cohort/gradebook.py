"""The gradebook: one row for each student and kata, computed anew from the results each time.

What the machine gave, what was taken off for being late, and what somebody changed by hand stand beside one
another. Not graded, or not handed in, is empty and never 0, unless that is asked for.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from grader.cohort.entries import Row
from grader.cohort.names import Attempts
from grader.cohort.overrides import Override
from grader.cohort.people import People, Person
from grader.cohort.tables import cell
from grader.records import Record

HEADS = (
    "student", "id", "email", "kata", "points", "max_points", "percent", "verdict", "machine_points",
    "submitted", "late", "comment", "file", "choice",
)  # fmt: skip
DAY = timedelta(days=1)


class Rules(Record):
    """How a grade is made of results. `late` is the share that each day after the deadline takes off."""

    attempts: Attempts = "latest"
    missing: float | None = None
    deadline: datetime | None = None
    late: float = 0.0


class Standing(Record):
    """One student and one kata. `points` are what counts; none when there is no grade."""

    person: Person
    kata: str
    row: Row | None = None
    points: float | None = None
    max_points: int = 0
    choice: str = ""  # which of several files it is, and why
    late: str = ""
    comment: str = ""
    concepts: tuple[tuple[str, float], ...] = ()

    @property
    def percent(self) -> float | None:
        return None if self.points is None or not self.max_points else 100 * self.points / self.max_points


def standings(
    rows: Sequence[Row],
    known: Sequence[Person] = (),
    overrides: Sequence[Override] = (),
    rules: Rules | None = None,
) -> list[Standing]:
    """Everybody who handed in something or is on the roster, `known`, with a row for each kata."""
    rules = rules or Rules()
    everybody = People(known)
    held: dict[tuple[int | str, str], list[Row]] = defaultdict(list)
    people: dict[int | str, Person] = dict(enumerate(known))
    for row in rows:
        if row.verdict == "aside":
            continue
        own = Person.of_row(row)
        place = everybody.find(own)
        who = row.student if place is None else place
        people.setdefault(who, own)
        held[who, row.kata or ""].append(row)
    sizes = {row.kata: row.max_points for row in rows if row.kata and row.max_points}
    katas = sorted(sizes)
    told: list[Standing] = []
    for who, person in people.items():
        answered = [kata for kata in katas if (who, kata) in held]
        needed = katas if isinstance(who, int) else answered or katas[: len(katas) == 1]
        for kata in needed or [""]:
            found = held.get((who, kata), [])
            others = held.get((who, ""), [])
            told += _standing(person, kata, found, others, sizes.get(kata, 0), rules)
    return [_changed(one, overrides) for one in told]


def _standing(
    person: Person, kata: str, found: Sequence[Row], others: Sequence[Row], size: int, rules: Rules
) -> list[Standing]:
    graded = [row for row in found if row.has_verdict]
    if not graded:
        rest = [*found, *others] if kata else list(others)
        why = "; ".join(dict.fromkeys(row.reason for row in rest)) if rest else "Nothing was handed in."
        row = rest[0] if rest else None
        return [
            Standing(person=person, kata=kata, row=row, max_points=size, points=rules.missing, comment=why)
        ]
    chosen, choice = choose(graded, rules.attempts)
    if others and not choice:
        choice = f"not graded beside it: {', '.join(row.file for row in others)}"
    return [_graded(person, row, choice, rules) for row in chosen]


def choose(graded: Sequence[Row], attempts: Attempts) -> tuple[list[Row], str]:
    """The results that count, and why those."""
    if attempts == "all" or len(graded) == 1:
        return list(graded), "" if len(graded) == 1 else f"one of {len(graded)} files"
    if attempts == "best":
        best = max(graded, key=lambda row: row.points)
        return [best], f"the best of {len(graded)} files"

    def age(row: Row) -> tuple[bool, str, int]:
        return not row.gone, row.origin.submitted, row.origin.attempt

    newest = max(map(age, graded))
    last = [row for row in graded if age(row) == newest]
    best = max(last, key=lambda row: row.points)
    if len(last) == 1:
        return [best], f"the latest of {len(graded)} files"
    return [best], f"the best of {len(last)} files that nothing tells the order of"


def _graded(person: Person, row: Row, choice: str, rules: Rules) -> Standing:
    points: float = row.points
    late = ""
    if rules.deadline is not None:
        days = _days_late(row, rules.deadline)
        if days is None:
            late = "late by the platform's mark, time unknown" if row.origin.late else "time unknown"
        elif days:
            share = max(0.0, 1 - rules.late * days)
            points = round(points * share, 2)
            late = f"{days} {'day' if days == 1 else 'days'}, {round(100 * (1 - share))} % off"
    elif row.origin.late:
        late = "late by the platform's mark"
    return Standing(
        person=person,
        kata=row.kata or "",
        row=row,
        points=points,
        max_points=row.max_points,
        choice=choice,
        late=late,
        concepts=tuple((name, float(got)) for name, _, got in row.concepts),
    )


def _days_late(row: Row, deadline: datetime) -> int | None:
    """Days begun after the deadline; None when the platform wrote no time."""
    if not row.origin.submitted:
        return None
    return max(0, math.ceil((datetime.fromisoformat(row.origin.submitted) - deadline) / DAY))


def _changed(one: Standing, overrides: Sequence[Override]) -> Standing:
    """With what was changed by hand, which comes after everything else and is said."""
    for change in overrides:
        if not change.is_for(one.person, one.kata):
            continue
        points, concepts = change.points, dict(one.concepts)
        if change.concept and change.points is not None:
            before = concepts.get(change.concept, 0.0)
            concepts[change.concept] = change.points
            points = (one.points or 0.0) + change.points - before
        told = change.told(one.row.points if one.row is not None and one.row.has_verdict else None)
        one = Standing(
            person=one.person,
            kata=one.kata,
            row=one.row,
            points=one.points if points is None else points,
            max_points=one.max_points,
            choice=one.choice,
            late=one.late,
            comment="; ".join(filter(None, (one.comment, told))),
            concepts=tuple(concepts.items()),
        )
    return one


def gradebook(told: Iterable[Standing]) -> str:
    """The whole table as CSV, with a column for each concept."""
    told = list(told)
    concepts = list(dict.fromkeys(name for one in told for name, _ in one.concepts))
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow([*HEADS, *concepts])
    for one in told:
        row, got = one.row, dict(one.concepts)
        table.writerow(
            [
                cell(one.person.name), cell(one.person.id), cell(one.person.email), one.kata,
                number(one.points),
                one.max_points or "", number(one.percent), row.verdict if row else "missing",
                row.points if row and row.has_verdict else "", row.origin.submitted if row else "", one.late,
                cell(one.comment), cell(row.file if row else ""), cell(one.choice),
                *(number(got.get(name)) for name in concepts),
            ]
        )  # fmt: skip
    return written.getvalue()


def number(value: float | None) -> str:
    """As people write it: no zeros behind the point, and nothing for none."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")
