"""A grade of a bug hunt without what would give bugs away: how many are mended, not which and not where."""

from __future__ import annotations

from msgspec.structs import replace

from grader.records import HELD_BACK, Grade, RoomRecord


def withheld(grade: Grade) -> Grade:
    """The verdict and the numbers of a hunt. What Python itself said of a file that cannot run stays."""
    if grade.room is None:
        return grade
    return replace(
        grade,
        reason=grade.reason if grade.verdict == "unrunnable" else None,
        concepts=(),
        checks=(),
        diagnosis=(),
        notes=(),
        trace=(),
        shape_comments=(),
        maps=(),
        room=_counted(grade.room),
    )


def _counted(room: RoomRecord) -> RoomRecord:
    return replace(
        room,
        planted=_alike(room.planted),
        mended=_alike(room.mended),
        still=_alike(room.still),
        new=_alike(room.new),
        unknown=_alike(room.unknown),
        touched=(),
        lines={},
    )


def _alike(labels: tuple[str, ...]) -> tuple[str, ...]:
    return (HELD_BACK,) * len(labels)
