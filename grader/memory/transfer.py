"""The whole history as one JSON document: out of one machine, into another.

Every row keeps its `uuid`, and what is there already is left as it is: importing twice adds nothing, and two
histories that both went on can be merged in either order.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from grader import migrations
from grader.database import Database
from grader.errors import UsageError
from grader.records import Record

FORMAT = "attention-kata history"
VERSION = 1

# In the order in which they refer to each other. What tells two rows apart, and the columns that are kept.
_TABLES: dict[str, tuple[str, ...]] = {
    "starts": ("uuid", "kata", "at", "path", "folder", "kind"),
    "attempts": (
        "uuid",
        "kata",
        "at",
        "path",
        "sha256",
        "start_uuid",
        "origin",
        "verdict",
        "points",
        "max_points",
        "seconds",
        "seed",
        "hints",
        "missed",
        "grade",
    ),
    "hints": ("uuid", "kata", "at", "number", "start_uuid"),
    "solutions_seen": ("uuid", "kata", "at", "gave_up"),
    "interviews": ("uuid", "at", "folder", "katas", "limits", "practice", "guided", "seed"),
    "interview_events": (
        "uuid",
        "interview_uuid",
        "round",
        "kind",
        "at",
        "mono",
        "boot",
        "slept",
        "elapsed",
        "seconds",
        "sha256",
        "data",
    ),
    "interview_grades": (
        "uuid",
        "interview_uuid",
        "round",
        "sha256",
        "verdict",
        "points",
        "max_points",
        "passed",
    ),
}

Row = dict[str, Any]


class Document(Record):
    """The exported file. `sources` are the graded and saved texts by their sha256, in base64."""

    format: str
    version: int
    schema: int
    exported: datetime
    sources: dict[str, str]
    tables: dict[str, list[Row]]


class Imported(Record):
    """How many rows were new, and how many were there already."""

    added: int
    known: int


def export_history(path: Path, now: datetime) -> bytes:
    """The history in the SQLite file at `path`, as JSON."""
    database = Database(path, busy_seconds=10.0)
    try:
        tables = {
            table: [
                dict(zip(columns, row, strict=True))
                for row in database.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id")
            ]
            for table, columns in _TABLES.items()
        }
        sources = database.rows("SELECT sha256, source FROM sources ORDER BY sha256")
    finally:
        database.close()
    document = Document(
        format=FORMAT,
        version=VERSION,
        schema=len(migrations.MIGRATIONS),
        exported=now,
        sources={sha256: base64.b64encode(source).decode() for sha256, source in sources},
        tables=tables,
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def import_history(content: bytes, path: Path, name: str) -> Imported:
    """Add what is new in an exported document to the history at `path`: all of it, or nothing.

    `name` is what the document is called in messages. Raises `UsageError` when it is not such a document.
    """
    document = _read(content, name)
    sources = {sha256: _source(sha256, text, name) for sha256, text in document.sources.items()}
    database = Database(path, busy_seconds=10.0)
    added = known = 0
    try:
        with database.writing() as connection:
            for sha256, source in sources.items():
                connection.execute(
                    "INSERT INTO sources (sha256, source) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
                    (sha256, source),
                )
            for table, columns in _TABLES.items():
                for row in document.tables.get(table, []):
                    new = _insert(connection, table, columns, row, name)
                    added, known = added + new, known + (not new)
    finally:
        database.close()
    return Imported(added=added, known=known)


def _read(content: bytes, name: str) -> Document:
    try:
        document = msgspec.json.decode(content, type=Document)
    except msgspec.DecodeError as error:
        raise _broken(name, str(error)) from error
    if document.format != FORMAT:
        raise _broken(name, f"its format is '{document.format}'")
    if document.version > VERSION or document.schema > len(migrations.MIGRATIONS):
        raise UsageError(f"{name} was written by a newer kata.", "Upgrade attention-kata here first.")
    return document


def _source(sha256: str, text: str, name: str) -> bytes:
    try:
        source = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise _broken(name, f"the source {sha256[:12]} is damaged") from error
    if hashlib.sha256(source).hexdigest() != sha256:
        raise _broken(name, f"the source {sha256[:12]} is not what it was")
    return source


def _insert(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...], row: Row, name: str
) -> bool:
    """Whether the row was new."""
    if set(row) != set(columns):
        raise _broken(name, f"a row of {table} has other columns")
    values = [row[column] for column in columns]
    if table == "interviews":  # one that is still on goes on where it began, not here
        columns, values = (*columns, "open"), [*values, 0]
    marks = ", ".join("?" * len(columns))
    try:
        done = connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING", values
        )
    except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
        raise _broken(name, f"a row of {table} does not fit: {error}") from error
    return done.rowcount == 1


def _broken(name: str, why: str) -> UsageError:
    return UsageError(
        f"{name} is no exported history: {why}.",
        "Write one with: kata export history.json. Nothing was changed.",
    )
