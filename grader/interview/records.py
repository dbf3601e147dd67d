"""An interview as it follows from its events. Everything here is computed; nothing is stored twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.debugging.records import Room
from grader.interview.moments import Moment
from grader.practice.questions import Question
from grader.records import Record

EventKind = Literal[
    "begun",  # a round's clock starts; data: path, backup, room
    "saved",  # the file changed; data: found_later
    "ran",  # the candidate ran the file; data: outcome
    "asked",  # a clarifying question; data: id
    "hint",  # data: number
    "tested",  # practice only: a save was graded at once; data: verdict, points, max_points
    "clock",  # the computer slept or its clock was set; data: kind, seconds
    "resumed",  # a room that had died, or another one, took over
    "submitted",
    "deadline",
    "gave_up",
    "graded",  # what counted was graded; data: attempt, verdict, points, max_points, missed
    "questions",  # the follow-up questions were chosen; data: questions
    "answered",  # data: id, text, took
    "marked",  # the candidate's own marks; data: id, points
    "finished",
    "aborted",
]
Phase = Literal["writing", "between", "grading", "questions", "over"]
ENDINGS = ("submitted", "deadline", "gave_up")


class Plan(Record):
    """What was agreed before the clock started. `limits` are seconds, one for each of `katas`."""

    uuid: str
    folder: Path
    katas: tuple[str, ...]
    limits: tuple[float, ...]
    practice: bool
    guided: bool
    seed: int


class Event(Record):
    """Something that happened. `elapsed` is the round's clock when it was written down at `moment`.

    `seconds` is the round's clock when it happened: for a save that nobody saw, that was earlier.
    """

    uuid: str
    round: int
    kind: EventKind
    moment: Moment
    elapsed: float
    seconds: float
    sha256: str | None = None
    data: dict[str, Any] = msgspec.field(default_factory=dict)


class Save(Record):
    """One state of the file. `late`: after the deadline, or after it was handed in."""

    seconds: float
    sha256: str
    late: bool
    found_later: bool
    first: bool  # the file as the interviewer handed it over


class Round(Record):
    """One kata of an interview: its events, in order, beginning with `begun`."""

    number: int
    kata: str
    limit: float
    events: tuple[Event, ...]

    @property
    def path(self) -> Path:
        return Path(self.events[0].data["path"])

    @property
    def backup(self) -> Path | None:
        """Where the work is that was there before."""
        kept = self.events[0].data.get("backup")
        return None if kept is None else Path(kept)

    @property
    def room(self) -> Room | None:
        """The room with planted bugs, where they are to be found: then this is a hunt."""
        made = self.events[0].data.get("room")
        return None if made is None else msgspec.convert(made, Room)

    @property
    def ending(self) -> Event | None:
        return next((event for event in self.events if event.kind in ENDINGS), None)

    @property
    def end(self) -> float:
        """The second of the round at which the file stopped counting."""
        ending = self.ending
        return self.limit if ending is None else min(ending.seconds, self.limit)

    @property
    def saves(self) -> tuple[Save, ...]:
        ending = self.ending
        found: list[Save] = []
        for place, event in enumerate(self.events):
            if event.kind != "saved" or event.sha256 is None:
                continue
            after = ending is not None and place > self.events.index(ending)
            found.append(
                Save(
                    seconds=event.seconds,
                    sha256=event.sha256,
                    late=after or event.seconds > self.limit,
                    found_later=bool(event.data.get("found_later")),
                    first=not found,
                )
            )
        return tuple(found)

    @property
    def counts(self) -> Save:
        """The last state before the end: this is what is graded."""
        return [save for save in self.saves if not save.late][-1]

    @property
    def graded(self) -> Event | None:
        return next((event for event in self.events if event.kind == "graded"), None)

    def of(self, kind: EventKind) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.kind == kind)

    @property
    def hints(self) -> int:
        """How many hints were shown in this round."""
        return max((int(event.data["number"]) for event in self.of("hint")), default=0)


class Interview:
    """A plan and what has happened since."""

    def __init__(self, plan: Plan, events: Sequence[Event]) -> None:
        self.plan = plan
        self.events = tuple(events)

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that have begun."""
        begun = sorted({event.round for event in self.events})
        return tuple(
            Round(
                number=number,
                kata=self.plan.katas[number],
                limit=self.plan.limits[number],
                events=tuple(event for event in self.events if event.round == number),
            )
            for number in begun
        )

    @property
    def round(self) -> Round:
        """The round that is on, or was last."""
        return self.rounds[-1]

    @cached_property
    def phase(self) -> Phase:
        if self.closing is not None:
            return "over"
        if self.round.ending is None:
            return "writing"
        if len(self.rounds) < len(self.plan.katas) and self.round.ending.kind != "gave_up":
            return "between"
        if any(one.graded is None for one in self.rounds):
            return "grading"
        return "questions"

    @property
    def closing(self) -> Event | None:
        return next((event for event in self.events if event.kind in ("finished", "aborted")), None)

    @property
    def aborted(self) -> bool:
        return self.closing is not None and self.closing.kind == "aborted"

    @property
    def brought(self) -> tuple[tuple[str, Question], ...]:
        """The questions that the interviewer brought along, each with its kata."""
        found = self.events[0].data.get("brought", ())
        return tuple((one["kata"], msgspec.convert(one, Question)) for one in found)

    @property
    def candidate(self) -> str:
        """Who is interviewed; nobody is named where it is the user."""
        return str(self.events[0].data.get("candidate", ""))

    @property
    def ladder(self) -> bool:
        return len(self.plan.katas) > 1

    @property
    def last(self) -> Event:
        return self.events[-1]
