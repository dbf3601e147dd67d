"""What has to be true of a fair room, as texts to grade: every part of its bugs fails, and is told.

`kata lint` and the tests have them graded as a candidate's repairs would be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, cycle, islice

from grader.debugging.content import Edit, Stock, Style
from grader.debugging.rooms import drawn_set, room_text
from grader.records import Grade, Planted, Record


class Case(Record):
    """A room in which all bugs but those `left` are mended as they should be."""

    style: str
    text: str
    planted: tuple[Planted, ...]
    left: tuple[str, ...]

    @property
    def name(self) -> str:
        labels = ", ".join(one.label for one in self.planted)
        return f"{self.style} with {labels or 'nothing'}, left {', '.join(self.left) or 'nothing'}"


def cases_of(style: Style, edits: tuple[Edit, ...]) -> Iterator[Case]:
    """Every part of these bugs, all and none included."""
    planted = tuple(Planted(label=edit.label, form=edit.form) for edit in edits)
    for count in range(len(edits) + 1):
        for left in combinations(edits, count):
            yield Case(
                style=style.name,
                text=room_text(style, left),
                planted=planted,
                left=tuple(edit.label for edit in left),
            )


def single_cases(stock: Stock) -> Iterator[Case]:
    """Each answer as it is, and with each of its bugs alone."""
    for style in stock.styles:
        yield Case(style=style.name, text=style.text, planted=(), left=())
        for edit in style.edits:
            yield from list(cases_of(style, (edit,)))[1:]


def some_sets(stock: Stock, most: int, size: int) -> list[tuple[Style, tuple[Edit, ...]]]:
    """Up to so many sets of `size` bugs: from each style in turn, drawn as a room's are."""
    drawn = ((style, drawn_set(style, stock, size, str(place))) for place, style in _in_turn(stock, most))
    return [(style, edits) for style, edits in drawn if edits is not None]


def _in_turn(stock: Stock, most: int) -> Iterator[tuple[int, Style]]:
    return islice(enumerate(cycle(stock.styles)), most)


def flaw(case: Case, grade: Grade) -> str | None:
    """Why the case is not fair; None where it is."""
    room = grade.room
    if (grade.verdict == "passed") != (not case.left):
        return f"it is {grade.verdict}: {grade.reason}"
    if not case.planted:
        return None
    if room is None or room.still != case.left or room.new or room.unknown:
        return f"told is {room}"
    return None
