"""The history's SQLite file: opening it safely beside other processes, and its troubles as sentences."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from grader import migrations
from grader.errors import GraderFault
from grader.stored import Row

R = TypeVar("R", bound=Row)

# What SQLite's error means for a person, by the first two words of its name.
_DAMAGED = (
    "is damaged, or is not a history",
    "Move the file away to begin a new history; nothing here deletes it.",
)
_BUSY = ("is in use by another program", "Try again when the other `kata` has finished.")
_READ_ONLY = (
    "may not be written to",
    "Make the file and its folder writable, or set KATA_HOME to another folder.",
)
_DISK = (
    "cannot be read or written",
    "Check the disk and its free space, or set KATA_HOME to a folder elsewhere.",
)
_UNKNOWN = (
    "cannot be used",
    "`kata doctor` shows where it is; set KATA_HOME to another folder to begin a new one.",
)
_MEANINGS = {
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_CANTOPEN": _READ_ONLY,
    "SQLITE_FULL": _DISK,
    "SQLITE_IOERR": _DISK,
}


class HistoryUnavailable(GraderFault):
    """The history cannot be read or written. Grading does not need it."""


def record_of(kind: type[R], row: tuple[Any, ...]) -> R:
    """A row of the columns of `kind`, in their order; raises `msgspec.ValidationError` where it is none."""
    return msgspec.convert(dict(zip(kind.__struct_fields__, row, strict=True)), kind)


class Database:
    """One SQLite file, opened at the first use and created by the first write.

    All trouble is raised as `HistoryUnavailable`. A write waits up to `busy_seconds` for other processes.
    """

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self.passed_over: set[str] = set()  # the ids of rows that are none, and were left out

    def close(self) -> None:
        """Let go of the file. The next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def rows(self, query: str, **values: object) -> list[Any]:
        """The rows of a query; none when there is no file yet."""
        with self._speaking():
            if self._connection is None and not self.path.exists():
                return []
            return self._open().execute(query, values).fetchall()

    def records(self, kind: type[R], source: str, **values: object) -> list[R]:
        """The rows of `source`, a table and what follows it, as records; what is no such row is left out."""
        rows = self.rows(f"SELECT {', '.join(kind.__struct_fields__)} FROM {source}", **values)
        return [record for row in rows if (record := self._record(kind, row)) is not None]

    def _record(self, kind: type[R], row: tuple[Any, ...]) -> R | None:
        try:
            return record_of(kind, row)
        except msgspec.ValidationError:
            self.passed_over.add(str(row[kind.__struct_fields__.index("uuid")]))
            return None

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of the block is kept, or nothing when it raises."""
        with self._speaking():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=self._busy_seconds, isolation_level=None)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        known = len(migrations.MIGRATIONS)
        found = migrations.version(connection)
        if found > known:
            raise HistoryUnavailable(
                f"The history {self.path} was written by a newer kata (schema {found}, not {known}).",
                "Upgrade attention-kata, or set KATA_HOME to another folder to begin a new history.",
            )
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            # SQLite does not wait for this one. Another process that is writing just now makes it fail, which
            # costs speed only: no row depends on the mode, and the next opening changes it.
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
        # With a write-ahead log a power cut may cost the last attempts, and never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrations.migrate(connection)

    @contextlib.contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
            what, fix = _MEANINGS.get(name, _UNKNOWN)
            raise HistoryUnavailable(f"The history {self.path} {what} ({error}).", fix) from error
        except OSError as error:
            what, fix = _READ_ONLY
            raise HistoryUnavailable(f"The history {self.path} {what} ({error.strerror}).", fix) from error
