"""Grades that somebody changed by hand: a table of their own, which no regrade touches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.catalog import Catalog
from grader.cohort.people import People, Person
from grader.cohort.sheets import Sheet, read_sheet
from grader.errors import UsageError
from grader.records import Record

FILE_NAME = "overrides.csv"


class Override(Record):
    """Other points for a student's kata, or for one concept of it; without points it is a comment only."""

    person: Person
    kata: str
    points: float | None = None
    concept: str = ""
    comment: str = ""

    def is_for(self, person: Person, kata: str) -> bool:
        return self.kata == kata and People([person]).find(self.person) is not None

    def told(self, machine: int | None) -> str:
        """What was changed, in words, beside what the machine gave."""
        if self.points is None:
            return self.comment
        given = "no grade" if machine is None else f"{machine} points"
        of = f" for {self.concept}" if self.concept else ""
        said = f"changed by hand to {self.points:g}{of} (the machine: {given})"
        return ": ".join(filter(None, (said, self.comment)))


def read_overrides(path: Path, catalog: Catalog) -> tuple[Override, ...]:
    """The changes in the file, none without one. Raises `UsageError` for a row that says nothing."""
    if not path.is_file():
        return ()
    sheet = read_sheet(path)
    if not {"kata"} <= sheet.columns.keys():
        raise UsageError(
            f"{path.name} has no column 'kata'.",
            "It needs: student, kata, points, and may have concept, comment.",
        )
    return tuple(_override(sheet, row, number, catalog) for number, row in enumerate(sheet.rows, 2))


def _override(sheet: Sheet, row: Sequence[str], number: int, catalog: Catalog) -> Override:
    person = Person.of_cells(sheet, row)
    kata = catalog.get(sheet.cell(row, "kata"))
    concept = sheet.cell(row, "concept")
    where = f"Row {number} of {sheet.name}"
    if not (person.name or person.id or person.email):
        raise UsageError(f"{where} names no student.", "Give a name, an id or an email.")
    if concept and concept not in {known.id for known in kata.concepts}:
        ids = ", ".join(known.id for known in kata.concepts)
        raise UsageError(
            f"{where} names the concept '{concept}', which {kata.id} does not have.", f"It has: {ids}."
        )
    written = sheet.cell(row, "points").replace(",", ".")
    try:
        points = float(written) if written else None
    except ValueError as error:
        raise UsageError(f"{where}: '{written}' is no number of points.", "Write a number.") from error
    return Override(
        person=person, kata=kata.id, points=points, concept=concept, comment=sheet.cell(row, "comment")
    )


def unused(overrides: Sequence[Override], people: Sequence[tuple[Person, str]]) -> list[str]:
    """The changes that are for nobody here: a name that was misspelt must not be passed over."""
    return [
        f"{change.person.name or change.person.id or change.person.email}, {change.kata}"
        for change in overrides
        if not any(change.is_for(person, kata) for person, kata in people)
    ]
