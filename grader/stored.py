"""The rows of the history as they may be: by these records `kata import` and every read are checked.

A history is a file: it comes from older versions, other machines, strangers. What is no such row is refused
by an import, and passed over by everything that reads.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from grader.records import Grade, Record, Verdict, decode_grade

EARLIEST, LATEST = 1970, 2199  # years; what is remembered is planned ahead by up to a hundred more

Id = Annotated[str, Meta(pattern=r"\A[\w.-]{1,64}\Z")]
Ids = Annotated[str, Meta(pattern=r"\A[\w. -]{0,4096}\Z")]  # separated by spaces
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
PathText = Annotated[str, Meta(pattern=r"\A[^\0]{1,8192}\Z")]
Text = Annotated[str, Meta(max_length=100_000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, lt=2**32)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Flag = Literal[0, 1]

StartKind = Literal["start", "reset", "found"]
Origin = Literal["grade", "watch", "interview", "practice"]


class Row(Record, forbid_unknown_fields=True):
    """A row of a table; its fields are the table's columns."""

    uuid: Id


class TimedRow(Row):
    """A row with a time that calendars and schedules can reckon with."""

    at: Annotated[datetime, Meta(tz=True)]

    def __post_init__(self) -> None:
        if not EARLIEST <= self.at.year <= LATEST:
            raise ValueError(f"`at` is not between the years {EARLIEST} and {LATEST}")


class StartRow(TimedRow):
    kata: Id
    path: PathText
    kind: StartKind


class ExportedStart(StartRow):
    folder: PathText


class AttemptRow(TimedRow):
    kata: Id
    path: PathText | None
    sha256: Sha256 | None
    start_uuid: Id | None
    origin: Origin
    verdict: Verdict
    points: Count
    max_points: Count
    seconds: Seconds
    seed: Seed
    hints: Count
    missed: Ids


class ExportedAttempt(AttemptRow):
    grade: str

    def __post_init__(self) -> None:
        super().__post_init__()
        read_grade(self.grade)


def read_grade(text: str) -> Grade:
    """A stored grade that a report can reckon with; raises `ValueError` for anything else."""
    try:
        grade = decode_grade(text.encode())
        points = [grade.points, grade.max_points]
        points += [number for concept in grade.concepts for number in (concept.points, concept.max_points)]
        msgspec.convert(points, list[Count])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"`grade` is none: {error}") from error
    return grade


class HintRow(TimedRow):
    kata: Id
    number: Annotated[int, Meta(ge=1, le=1000)]
    start_uuid: Id | None


class FixRow(TimedRow):
    kata: Id
    mistakes: Ids
    start_uuid: Id | None


class SolutionRow(TimedRow):
    kata: Id
    gave_up: Flag
