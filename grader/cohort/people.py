"""One person in several tables: by number, address or name, whichever they share and no two have."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cohort.entries import Row
from grader.cohort.sheets import Sheet, read_sheet
from grader.records import Record

_WORD = re.compile(r"[^\W_]+")


class Person(Record):
    """Somebody of a course, as a table tells of them."""

    name: str
    id: str = ""
    email: str = ""

    @classmethod
    def of_row(cls, row: Row) -> Person:
        return cls(name=row.student, id=row.origin.id, email=row.origin.email)

    @classmethod
    def of_cells(cls, sheet: Sheet, row: Sequence[str]) -> Person:
        return cls(
            name=sheet.person(row) or sheet.cell(row, "student"),
            id=sheet.cell(row, "id"),
            email=sheet.cell(row, "email"),
        )


class People:
    """Those who are known, to be found again."""

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = people
        self._places: dict[str, set[int]] = defaultdict(set)
        for place, person in enumerate(people):
            for key in _keys(person):
                self._places[key].add(place)

    def find(self, person: Person) -> int | None:
        """The place of that person; None where nobody is meant, or it cannot be told who."""
        for key in _keys(person):
            places = self._places.get(key, set())
            if len(places) == 1:
                return next(iter(places))
        return None


def roster(path: Path) -> tuple[list[Person], str]:
    """Those who are to hand in, and how the table was read."""
    sheet = read_sheet(path)
    if not sheet.columns:
        return [Person(name=row[0].strip()) for row in sheet.rows if row and row[0].strip()], sheet.said()
    people = [Person.of_cells(sheet, row) for row in sheet.rows]
    return [person for person in people if person.name or person.id or person.email], sheet.said()


def _keys(person: Person) -> Iterator[str]:
    """What they may share, the surest first."""
    if person.id:
        yield f"id {person.id.strip().lower()}"
    if person.email:
        yield f"id {person.email.strip().lower()}"
    name = _plain(person.name)
    yield f"id {person.name.strip().lower()}"  # a folder may be named after a number, or a login
    if "@" in person.email:
        yield f"id {person.email.partition('@')[0].strip().lower()}"
    words = _WORD.findall(name)
    if words:
        yield f"name {' '.join(sorted(words))}"  # "Lovelace, Ada" and "Ada Lovelace"
        yield f"joined {''.join(words)}"
        yield f"joined {''.join([words[-1], *words[:-1]])}"  # Canvas's lastfirst


def _plain(name: str) -> str:
    """Lower case, without accents."""
    parts = unicodedata.normalize("NFKD", name)
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).casefold()
