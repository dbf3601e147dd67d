"""The rows of interviews as they may be (see `grader.stored`), and whether they are an interview together."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from grader.debugging.records import Room
from grader.debugging.stored import check_room
from grader.interview.moments import GapKind
from grader.interview.records import EventKind, Interview
from grader.records import Record, Verdict
from grader.stored import Count, Flag, Id, Ids, PathText, Row, Seconds, Seed, Sha256, Text, TimedRow

LONGEST = 1e6  # seconds of a round

Clocked = Annotated[float, Meta(ge=0, le=1e12)]
AnswerPath = Annotated[str, Meta(pattern=r"\A[^\0]{0,8192}[^\0/\\]\.(?i:py|ipynb)\Z")]


class InterviewRow(TimedRow):
    folder: PathText
    katas: Ids
    limits: Annotated[str, Meta(max_length=4096)]
    practice: Flag
    guided: Flag
    seed: Seed

    def __post_init__(self) -> None:
        super().__post_init__()
        katas, limits = self.katas.split(), [float(limit) for limit in self.limits.split()]
        if not katas or len(katas) != len(limits):
            raise ValueError("`katas` and `limits` are not equally many")
        if not all(math.isfinite(limit) and 0 < limit <= LONGEST for limit in limits):
            raise ValueError("`limits` are not seconds")


class _Data(Record, forbid_unknown_fields=True):
    """What belongs to an event of a kind that has nothing more to say."""


class _Question(_Data):
    """One of the kata's; or, with its words, one that was brought along, or one on the candidate's lines."""

    kata: Id
    id: Text
    concept: Text = ""
    question: Text = ""
    answer: Text = ""
    key_points: Annotated[tuple[Text, ...], Meta(max_length=20)] = ()


class _Begun(_Data):
    path: AnswerPath
    backup: PathText | None = None
    candidate: Annotated[str, Meta(max_length=200)] = ""
    brought: Annotated[tuple[_Question, ...], Meta(max_length=50)] = ()
    room: Room | None = None

    def __post_init__(self) -> None:
        if self.room is not None:
            check_room(self.room)


class _Saved(_Data):
    found_later: bool = False


class _Ran(_Data):
    outcome: Text


class _Asked(_Data):
    id: Text


class _Hint(_Data):
    number: Annotated[int, Meta(ge=1, le=1000)]


class _Tested(_Data):
    verdict: Verdict
    points: Count
    max_points: Count


class _Gap(_Data):
    kind: GapKind
    seconds: Annotated[float, Meta(ge=-1e12, le=1e12)]


class _Resumed(_Data):
    restarted: bool


class _Graded(_Tested):
    attempt: Id
    missed: list[Id]
    hints: Annotated[int, Meta(ge=0, le=1000)]


class _Questions(_Data):
    questions: list[_Question]


class _Answered(_Data):
    id: Text
    text: Text
    took: Seconds


class _Marked(_Data):
    id: Text
    points: list[bool]


_DATA: dict[EventKind, type[_Data]] = {
    "begun": _Begun,
    "saved": _Saved,
    "ran": _Ran,
    "asked": _Asked,
    "hint": _Hint,
    "tested": _Tested,
    "clock": _Gap,
    "resumed": _Resumed,
    "graded": _Graded,
    "questions": _Questions,
    "answered": _Answered,
    "marked": _Marked,
    "submitted": _Data,
    "deadline": _Data,
    "gave_up": _Data,
    "finished": _Data,
    "aborted": _Data,
}


class EventRow(TimedRow):
    round: Annotated[int, Meta(ge=0, le=1000)]
    kind: EventKind
    mono: Clocked
    boot: Annotated[str, Meta(max_length=200)]
    slept: Clocked | None
    elapsed: Seconds
    seconds: Seconds
    sha256: Sha256 | None
    data: str

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            msgspec.json.decode(self.data, type=_DATA[self.kind])
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"`data` does not belong to `{self.kind}`: {error}") from error
        if self.kind == "saved" and self.sha256 is None:
            raise ValueError("`sha256` is missing: a save has a content")


class ExportedEvent(EventRow):
    interview_uuid: Id


class ShortGradeRow(Row):
    sha256: Sha256
    verdict: Verdict
    points: Count
    max_points: Count
    passed: Ids


class ExportedShortGrade(ShortGradeRow):
    interview_uuid: Id
    round: Annotated[int, Meta(ge=0, le=1000)]


def flaw(interview: Interview) -> str | None:
    """Why these events are no interview, if they are none: each round begins, with a file that counts."""
    begun: list[int] = []
    handed_over: set[int] = set()
    for event in interview.events:
        number = event.round
        if event.kind == "begun":
            if number != len(begun) or number >= len(interview.plan.katas):
                return f"round {number} cannot begin there"
            begun.append(number)
        elif number not in begun:
            return f"round {number} has not begun when something happens in it"
        elif number not in handed_over:
            if event.kind != "saved" or event.seconds > interview.plan.limits[number]:
                return f"round {number} does not begin with the file as it was handed over"
            handed_over.add(number)
    if not begun or len(handed_over) < len(begun):
        return "no round has begun"
    return None
