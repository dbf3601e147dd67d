"""The rows of bug hunts as they may be, as `grader.stored` has those of the history."""

from __future__ import annotations

import msgspec

from grader.debugging.records import MOST_BUGS, Room
from grader.records import Verdict
from grader.stored import Id, PathText, Sha256, TimedRow, read_grade

MAX_ROOM = 1_000_000  # characters


class RoomRow(TimedRow):
    kata: Id
    path: PathText
    room: str

    def __post_init__(self) -> None:
        super().__post_init__()
        read_room(self.room)


class ExportedRoom(RoomRow):
    folder: PathText


class RoomGradeRow(TimedRow):
    room_uuid: Id
    sha256: Sha256 | None
    verdict: Verdict
    grade: str

    def __post_init__(self) -> None:
        super().__post_init__()
        read_grade(self.grade)


class RevealRow(TimedRow):
    room_uuid: Id


def read_room(text: str) -> Room:
    """A stored room; raises `ValueError` for anything else."""
    if len(text) > MAX_ROOM:
        raise ValueError("`room` is too long")
    try:
        room = msgspec.json.decode(text, type=Room)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"`room` is none: {error}") from error
    check_room(room)
    return room


def check_room(room: Room) -> None:
    """Raise `ValueError` where a room's bugs cannot be those of its text."""
    if not 1 <= len(room.bugs) <= MOST_BUGS or len(set(room.labels)) < len(room.bugs):
        raise ValueError("`room` has no such number of bugs")
    if any(not bug.wrong or room.text.count(bug.wrong) != 1 for bug in room.bugs):
        raise ValueError("`room` has a bug that does not stand in its text once")
