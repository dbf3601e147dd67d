"""The outcome of `kata lint` as frozen records."""

from __future__ import annotations

from pathlib import Path

from grader.records import Record


class Problem(Record):
    """One thing that is wrong with a kata: where, what, and how to mend it."""

    path: Path
    message: str
    fix: str = ""
    line: int | None = None


class Tally(Record):
    """One kata in numbers: how its checks and the diagnosis did on answers whose verdict is known."""

    kata: str
    mistakes: int  # wrong answers that were tried: forms of the catalogue, and examples
    rejected: int
    named: int  # of those, with the right label in the first diagnosis
    blamed: int  # concepts that failed for a mistake which is not theirs
    rights: int  # right answers that were tried
    accepted: int


class LintReport(Record):
    """Everything that was found, and what was tried; no problem means that the katas are whole."""

    problems: tuple[Problem, ...] = ()
    tallies: tuple[Tally, ...] = ()


class Trial(Record):
    """What the judge said to one answer whose verdict is known. `label` is None for a right answer."""

    kata: str
    label: str | None
    what: str  # how the answer differs from the solution, in words
    verdict: str
    reason: str | None
    named: tuple[tuple[str, ...], ...]  # the labels of each diagnosis, the telling one first
    alternatives: tuple[str, ...]
    failed: tuple[str, ...]  # required concepts
    not_reached: tuple[str, ...]
    own: str | None = None  # the concept that the mistake should cost
    entails: tuple[str, ...] = ()  # what it is as well
    full: bool = False  # every point was given
