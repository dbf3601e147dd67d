"""Rooms in the history's SQLite file, each found by its path. Their grades are apart from all attempts."""

from __future__ import annotations

import uuid
from datetime import datetime
from pathlib import Path

import msgspec

from grader.database import Database
from grader.debugging.records import Room
from grader.debugging.stored import RevealRow, RoomGradeRow, RoomRow, read_room
from grader.history import Clock, path_text, time_text
from grader.records import Grade, Record, Submission, encode_grade
from grader.stored import read_grade


class Entered(Record):
    """A room that was made, and the file that it was written to."""

    uuid: str
    at: datetime
    path: Path
    room: Room


class Hunt(Record):
    """One grade of a room's file."""

    uuid: str
    at: datetime
    sha256: str | None
    grade: Grade


class RoomStore:
    """All rooms in the SQLite file at `path`. Every method may raise `HistoryUnavailable`."""

    def __init__(self, path: Path, clock: Clock, *, busy_seconds: float = 10.0) -> None:
        self._clock = clock
        self._database = Database(path, busy_seconds)

    def __enter__(self) -> RoomStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def record_room(self, room: Room, path: Path) -> Entered:
        """Remember that the file at `path` (absolute) is this room."""
        entered = Entered(uuid=str(uuid.uuid4()), at=self._clock(), path=path, room=room)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO rooms (uuid, kata, at, path, folder, room) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    entered.uuid,
                    room.kata,
                    time_text(entered.at),
                    path_text(path),
                    path_text(path.parent),
                    msgspec.json.encode(room).decode(),
                ),
            )
        return entered

    def rooms(self, *, path: Path | None = None, folder: Path | None = None) -> list[Entered]:
        """Rooms, the latest first; of one file or folder where given."""
        rows = self._database.records(
            RoomRow,
            "rooms WHERE (:path IS NULL OR path = :path) AND (:folder IS NULL OR folder = :folder)"
            " ORDER BY at DESC, id DESC",
            path=path_text(path),
            folder=path_text(folder),
        )
        return [Entered(uuid=r.uuid, at=r.at, path=Path(r.path), room=read_room(r.room)) for r in rows]

    def record_grade(self, entered: Entered, grade: Grade, submission: Submission | None) -> Hunt:
        """Keep a grade of the room's file, with the source that got it."""
        sha256 = None if submission is None else submission.sha256
        hunt = Hunt(uuid=str(uuid.uuid4()), at=self._clock(), sha256=sha256, grade=grade)
        with self._database.writing() as connection:
            if submission is not None:
                connection.execute(
                    "INSERT INTO sources (sha256, source) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
                    (submission.sha256, submission.source),
                )
            connection.execute(
                "INSERT INTO room_grades (uuid, room_uuid, at, sha256, verdict, grade)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    hunt.uuid,
                    entered.uuid,
                    time_text(hunt.at),
                    sha256,
                    grade.verdict,
                    encode_grade(grade).decode(),
                ),
            )
        return hunt

    def hunts(self, entered: Entered, *, last: bool = False) -> list[Hunt]:
        """The grades of a room's file, the earliest first; or the last of them alone."""
        rows = self._database.records(
            RoomGradeRow, "room_grades WHERE room_uuid = :room ORDER BY at, id", room=entered.uuid
        )[-1 if last else 0 :]
        return [
            Hunt(uuid=row.uuid, at=row.at, sha256=row.sha256, grade=read_grade(row.grade)) for row in rows
        ]

    def record_reveal(self, entered: Entered) -> None:
        """Remember that the bugs of a room were shown."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO room_reveals (uuid, room_uuid, at) VALUES (?, ?, ?)",
                (str(uuid.uuid4()), entered.uuid, time_text(self._clock())),
            )

    def revealed(self, entered: Entered) -> list[datetime]:
        """When the bugs of a room were shown."""
        rows = self._database.records(
            RevealRow, "room_reveals WHERE room_uuid = :room ORDER BY at, id", room=entered.uuid
        )
        return [row.at for row in rows]
