"""The records of a bug hunt."""

from __future__ import annotations

from typing import Literal, get_args

from grader.records import Planted, Record

Level = Literal["easy", "interview", "hard"]
LEVELS: tuple[Level, ...] = get_args(Level)
MOST_BUGS = 5


class Bug(Record):
    """One planted mistake. `wrong` stands in the room's text exactly once, and begins to differ in `line`."""

    label: str
    line: int
    wrong: str
    right: str
    form: str = ""

    @property
    def planted(self) -> Planted:
        """As the judge takes it."""
        return Planted(label=self.label, form=self.form)


class Room(Record):
    """A file to be debugged. `content` is the version of what it was made from; `report` what is noticed."""

    kata: str
    seed: int
    level: Level
    content: str
    style: str
    text: str
    bugs: tuple[Bug, ...]
    report: tuple[str, ...]

    @property
    def planted(self) -> tuple[Planted, ...]:
        return tuple(bug.planted for bug in self.bugs)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(bug.label for bug in self.bugs)


def line_of(wrong: str, right: str, text: str) -> int:
    """The line of `text` in which the wrong text, standing there once, begins to differ from the right."""
    pairs = enumerate(zip(wrong, right, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), len(wrong) - 1)
    return text.count("\n", 0, text.index(wrong) + same) + 1
