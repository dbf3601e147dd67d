"""What the candidate did: files started, attempts with their grades, hints taken, solutions seen."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.database import Database, HistoryUnavailable
from grader.errors import KataError
from grader.records import Grade, Record, Submission, Verdict, encode_grade
from grader.stored import AttemptRow, FixRow, Origin, SolutionRow, StartKind, StartRow, TimedRow, read_grade

Clock = Callable[[], datetime]  # the time now, with its time zone

# The start that hints belong to: finding a file that was there already begins no new sitting.
_SITTING = (
    "(SELECT uuid FROM starts WHERE kata = :kata AND kind != 'found' ORDER BY at DESC, id DESC LIMIT 1)"
)
_HINTS_TAKEN = (
    "SELECT max(number) FROM hints WHERE kata = :kata AND typeof(number) = 'integer'"
    f" AND start_uuid IS {_SITTING}"
)
_FIXES_SEEN = f"fixes_seen WHERE kata = :kata AND start_uuid IS {_SITTING}"


class GradeUnreadable(HistoryUnavailable):
    """One grade cannot be read. The rest of the history can."""


class PassedOver(KataError):
    """Rows of the history that are none: an older version imported them, or something wrote over them."""


class Start(Record):
    """A file of the candidate that a kata was started in. `found`: the file was there already."""

    uuid: str
    kata: str
    at: datetime
    path: Path
    kind: StartKind


class Attempt(Record):
    """One grading, without the grade itself. `missed` are the required concepts that got no points."""

    uuid: str
    kata: str
    at: datetime
    path: Path | None
    sha256: str | None
    start_uuid: str | None
    origin: Origin
    verdict: Verdict
    points: int
    max_points: int
    seconds: float
    seed: int
    hints: int
    missed: tuple[str, ...]


_ATTEMPT_FIELDS = Attempt.__struct_fields__  # the columns have the same names
_ATTEMPT_COLUMNS = ", ".join(_ATTEMPT_FIELDS)


class Best(Record):
    """How often a kata was tried, and its best attempt: a pass counts above all points."""

    kata: str
    attempts: int
    passed: bool
    points: int
    max_points: int


class History:
    """The history in the SQLite file at `path`, which the first write creates.

    Every method may raise `HistoryUnavailable`. Several processes may use one file at once: a write waits up
    to `busy_seconds` for the others.
    """

    def __init__(self, path: Path, clock: Clock, *, busy_seconds: float = 10.0) -> None:
        self.path = path
        self.clock = clock
        self._database = Database(path, busy_seconds)

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. The next use opens it again."""
        self._database.close()

    # Files

    def record_start(self, kata: str, path: Path, kind: StartKind) -> Start:
        """Remember that the file at `path` (absolute) is work on `kata`."""
        start = Start(uuid=_new_id(), kata=kata, at=self.clock(), path=path, kind=kind)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO starts (uuid, kata, at, path, folder, kind) VALUES (?, ?, ?, ?, ?, ?)",
                (start.uuid, kata, time_text(start.at), path_text(path), path_text(path.parent), kind),
            )
        return start

    def starts(
        self,
        *,
        kata: str | None = None,
        path: Path | None = None,
        folder: Path | None = None,
        uuid: str | None = None,
    ) -> list[Start]:
        """Starts, the latest first; of one kata, file or folder, or that of one id, where given."""
        rows = self._database.records(
            StartRow,
            "starts WHERE (:kata IS NULL OR kata = :kata) AND (:path IS NULL OR path = :path)"
            " AND (:folder IS NULL OR folder = :folder) AND (:uuid IS NULL OR uuid = :uuid)"
            " ORDER BY at DESC, id DESC",
            kata=kata,
            path=path_text(path),
            folder=path_text(folder),
            uuid=uuid,
        )
        return [Start(uuid=r.uuid, kata=r.kata, at=r.at, path=Path(r.path), kind=r.kind) for r in rows]

    def began(self, attempt: Attempt) -> datetime | None:
        """When work on the file of an attempt began; `None` when that is not known."""
        rows = self._database.records(StartRow, "starts WHERE uuid = :uuid", uuid=attempt.start_uuid)
        return rows[0].at if rows else None

    def signs_of_life(self, attempt: Attempt) -> list[datetime]:
        """When something was done in the work on an attempt's file, from its start to it, in order."""
        rows = self._database.records(
            TimedRow,
            "(SELECT uuid, at FROM starts WHERE uuid = :start UNION SELECT uuid, at FROM hints"
            " WHERE start_uuid = :start UNION SELECT uuid, at FROM fixes_seen"
            " WHERE start_uuid = :start UNION SELECT uuid, at FROM attempts WHERE start_uuid = :start)"
            " WHERE at <= :until ORDER BY at",
            start=attempt.start_uuid,
            until=time_text(attempt.at),
        )
        return list(dict.fromkeys(row.at for row in rows))

    # Attempts

    def record_attempt(
        self, grade: Grade, submission: Submission | None, path: Path | None, origin: Origin = "grade"
    ) -> Attempt:
        """Keep a grade with the source that got it; `submission` is `None` when the file was unreadable."""
        with self._database.writing() as connection:
            start = connection.execute(
                "SELECT uuid FROM starts WHERE path = ? AND kata = ? ORDER BY at DESC, id DESC LIMIT 1",
                (path_text(path), grade.kata),
            ).fetchone()
            attempt = Attempt(
                uuid=_new_id(),
                kata=grade.kata,
                at=self.clock(),
                path=path,
                sha256=None if submission is None else submission.sha256,
                start_uuid=None if start is None else start[0],
                origin=origin,
                verdict=grade.verdict,
                points=grade.points,
                max_points=grade.max_points,
                seconds=grade.seconds.get("total", 0.0),
                seed=grade.seed,
                hints=_hints_taken(connection, grade.kata) + _fixes_taken(connection, grade.kata),
                missed=tuple(c.id for c in grade.concepts if c.required and c.status != "passed"),
            )
            if submission is not None:
                connection.execute(
                    "INSERT INTO sources (sha256, source) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
                    (submission.sha256, submission.source),
                )
            connection.execute(
                f"INSERT INTO attempts ({_ATTEMPT_COLUMNS}, grade) VALUES ({', '.join('?' * 15)})",
                (*_attempt_row(attempt), encode_grade(grade).decode()),
            )
        return attempt

    def attempts(self, kata: str | None = None, limit: int | None = None) -> list[Attempt]:
        """Attempts, the latest first; of one kata where given."""
        rows = self._database.records(
            AttemptRow, "attempts WHERE :kata IS NULL OR kata = :kata ORDER BY at DESC, id DESC", kata=kata
        )
        return [_attempt(row) for row in rows[:limit]]

    def grade(self, attempt: Attempt) -> Grade:
        """The grade of an attempt, as it was given then."""
        rows = self._database.rows("SELECT grade FROM attempts WHERE uuid = :uuid", uuid=attempt.uuid)
        try:
            return read_grade(str(rows[0][0]))
        except ValueError as error:
            raise GradeUnreadable(
                f"The grade that {attempt.kata} got at {time_text(attempt.at)} cannot be read ({error}).",
                "Grade the file again; the other attempts are as they were.",
            ) from error

    def source(self, attempt: Attempt) -> bytes | None:
        """The bytes that an attempt graded; `None` when the file could not be read then."""
        rows = self._database.rows("SELECT source FROM sources WHERE sha256 = :sha256", sha256=attempt.sha256)
        return bytes(rows[0][0]) if rows else None

    def best(self) -> dict[str, Best]:
        """The best attempt of each kata that was tried, by the kata's id."""
        tried: dict[str, list[Attempt]] = {}
        for attempt in self.attempts():
            tried.setdefault(attempt.kata, []).append(attempt)
        return {kata: _best(attempts) for kata, attempts in tried.items()}

    # Hints and solutions

    def hints_taken(self, kata: str) -> int:
        """How many hints were shown since the kata was last started or reset."""
        rows = self._database.rows(_HINTS_TAKEN, kata=kata)
        return (rows[0][0] or 0) if rows else 0

    def take_hint(self, kata: str, available: int) -> int:
        """Record the next hint and return its number, 1 to `available`; after the last comes the last."""
        with self._database.writing() as connection:
            taken = _hints_taken(connection, kata)
            if taken < available:
                taken += 1
                connection.execute(
                    "INSERT INTO hints (uuid, kata, at, number, start_uuid)"
                    f" VALUES (:uuid, :kata, :at, :number, {_SITTING})",
                    {"uuid": _new_id(), "kata": kata, "at": time_text(self.clock()), "number": taken},
                )
        return taken

    def fixes_seen(self, kata: str) -> tuple[str, ...]:
        """The mistakes whose fix was shown since the kata was last started or reset, each set once."""
        rows = self._database.records(FixRow, f"{_FIXES_SEEN} ORDER BY at, id", kata=kata)
        return tuple(dict.fromkeys(row.mistakes for row in rows))

    def fixes_of(self, attempt: Attempt) -> tuple[str, ...]:
        """The mistakes whose fix had been shown when an attempt was graded: they are among its hints."""
        rows = self._database.records(
            FixRow,
            "fixes_seen WHERE kata = :kata AND start_uuid IS :start AND at <= :until ORDER BY at, id",
            kata=attempt.kata,
            start=attempt.start_uuid,
            until=time_text(attempt.at),
        )
        return tuple(dict.fromkeys(row.mistakes for row in rows))

    def record_fix_seen(self, kata: str, mistakes: str) -> None:
        """Remember that the fix of these mistakes was shown; once a sitting."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO fixes_seen (uuid, kata, at, mistakes, start_uuid)"
                f" SELECT :uuid, :kata, :at, :mistakes, {_SITTING} WHERE NOT EXISTS"
                f" (SELECT 1 FROM {_FIXES_SEEN} AND mistakes = :mistakes)",
                {"uuid": _new_id(), "kata": kata, "at": time_text(self.clock()), "mistakes": mistakes},
            )

    def record_solution_seen(self, kata: str, *, gave_up: bool) -> None:
        """Remember that the reference was shown."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO solutions_seen (uuid, kata, at, gave_up) VALUES (?, ?, ?, ?)",
                (_new_id(), kata, time_text(self.clock()), int(gave_up)),
            )

    def solutions_seen(self) -> dict[str, datetime]:
        """When the solution of each kata was first shown, by the kata's id."""
        rows = self._database.records(SolutionRow, "solutions_seen ORDER BY at DESC")
        return {row.kata: row.at for row in rows}

    def solution_views(self, kata: str) -> list[datetime]:
        """Every time that the solution of a kata was shown."""
        source = "solutions_seen WHERE kata = :kata ORDER BY at"
        return [row.at for row in self._database.records(SolutionRow, source, kata=kata)]

    @property
    def passed_over(self) -> frozenset[str]:
        """The ids of rows that could not be read since it was opened, and were left out."""
        return frozenset(self._database.passed_over)


def passed_over(rows: Iterable[str]) -> PassedOver | None:
    """What to say about rows that were left out, if any were."""
    count = len(set(rows))
    if not count:
        return None
    entries = "1 entry" if count == 1 else f"{count} entries"
    return PassedOver(
        f"{entries} of your history cannot be read, and {'was' if count == 1 else 'were'} passed over.",
        "All else counts as before. To see what they hold: kata export history.json",
    )


def _hints_taken(connection: sqlite3.Connection, kata: str) -> int:
    return connection.execute(_HINTS_TAKEN, {"kata": kata}).fetchone()[0] or 0


def _fixes_taken(connection: sqlite3.Connection, kata: str) -> int:
    counted = f"SELECT count(DISTINCT mistakes) FROM {_FIXES_SEEN}"
    return int(connection.execute(counted, {"kata": kata}).fetchone()[0])


def _attempt_row(attempt: Attempt) -> tuple[object, ...]:
    values = msgspec.structs.asdict(attempt)
    values |= {
        "at": time_text(attempt.at),
        "path": path_text(attempt.path),
        "missed": " ".join(attempt.missed),
    }
    return tuple(values[column] for column in _ATTEMPT_FIELDS)


def _attempt(row: AttemptRow) -> Attempt:
    values = {name: getattr(row, name) for name in _ATTEMPT_FIELDS}
    path = None if row.path is None else Path(row.path)
    return Attempt(**values | {"path": path, "missed": tuple(row.missed.split())})


def _best(attempts: Sequence[Attempt]) -> Best:
    best = max(attempts, key=lambda attempt: (attempt.verdict == "passed", attempt.points))
    return Best(
        kata=best.kata,
        attempts=len(attempts),
        passed=best.verdict == "passed",
        points=best.points,
        max_points=best.max_points,
    )


def path_text(path: Path | None) -> str | None:
    """A path as it is stored."""
    # A name that is not UTF-8 cannot stand in the database as it is.
    return None if path is None else str(path).encode("utf-8", "backslashreplace").decode()


def time_text(moment: datetime) -> str:
    """A time as it is stored."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _new_id() -> str:
    return str(uuid.uuid4())
