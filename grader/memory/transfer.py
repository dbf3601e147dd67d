"""The whole history as one JSON document: out of one machine, into another.

Every row keeps its `uuid`, and what is there already is left as it is: importing twice adds nothing, and two
histories that both went on can be merged in either order.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec

from grader import migrations
from grader.database import Database
from grader.debugging.stored import ExportedRoom, RevealRow, RoomGradeRow
from grader.errors import UsageError
from grader.history import time_text
from grader.interview.store import read_interview
from grader.interview.stored import ExportedEvent, ExportedShortGrade, InterviewRow, flaw
from grader.records import Record
from grader.snapshot import MAX_NOTEBOOK
from grader.stored import ExportedAttempt, ExportedStart, FixRow, HintRow, Row, SolutionRow, TimedRow

FORMAT = "attention-kata history"
VERSION = 1

_PLACE = re.compile(r"(?P<why>.*) - at `\$\.(?:tables\.)?(?P<where>[^`]*)`", re.DOTALL)


class Tables(Record, forbid_unknown_fields=True):
    """The rows of every table, in the order in which they refer to each other; none must be there."""

    starts: tuple[ExportedStart, ...] = ()
    attempts: tuple[ExportedAttempt, ...] = ()
    hints: tuple[HintRow, ...] = ()
    fixes_seen: tuple[FixRow, ...] = ()
    solutions_seen: tuple[SolutionRow, ...] = ()
    interviews: tuple[InterviewRow, ...] = ()
    interview_events: tuple[ExportedEvent, ...] = ()
    interview_grades: tuple[ExportedShortGrade, ...] = ()
    rooms: tuple[ExportedRoom, ...] = ()
    room_grades: tuple[RoomGradeRow, ...] = ()
    room_reveals: tuple[RevealRow, ...] = ()


_TABLES: dict[str, type[Row]] = {table: get_args(rows)[0] for table, rows in get_type_hints(Tables).items()}


class Head(Record):
    """What an exported file says about itself."""

    format: str
    version: int
    schema: int


class Document(Head):
    """The exported file. `sources` are the graded and saved texts by their sha256, in base64."""

    exported: datetime
    sources: dict[str, str]
    tables: Tables


class Imported(Record):
    """How many rows were new, and how many were there already."""

    added: int
    known: int


def export_history(path: Path, now: datetime) -> bytes:
    """The history in the SQLite file at `path`, as JSON: whatever is in it, whether it can be read or not."""
    database = Database(path, busy_seconds=10.0)
    try:
        tables = {
            table: [
                dict(zip(row.__struct_fields__, values, strict=True))
                for values in database.rows(
                    f"SELECT {', '.join(row.__struct_fields__)} FROM {table} ORDER BY id"
                )
            ]
            for table, row in _TABLES.items()
        }
        sources = database.rows("SELECT sha256, source FROM sources ORDER BY sha256")
    finally:
        database.close()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "schema": len(migrations.MIGRATIONS),
        "exported": now,
        "sources": {sha256: base64.b64encode(source).decode() for sha256, source in sources},
        "tables": tables,
    }
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
            for table in _TABLES:
                for number, row in enumerate(getattr(document.tables, table)):
                    new = _insert(connection, table, number, row, name)
                    added, known = added + new, known + (not new)
            _refuse_what_is_no_interview(connection, document.tables, name)
    finally:
        database.close()
    return Imported(added=added, known=known)


def _read(content: bytes, name: str) -> Document:
    try:
        head = msgspec.json.decode(content, type=Head)
        if head.format != FORMAT:
            raise _broken(name, f"its format is '{head.format}'")
        if head.version > VERSION or head.schema > len(migrations.MIGRATIONS):
            raise UsageError(f"{name} was written by a newer kata.", "Upgrade attention-kata here first.")
        return msgspec.json.decode(content, type=Document)
    except msgspec.DecodeError as error:
        raise _broken(name, _placed(str(error))) from error
    except RecursionError as error:
        raise _broken(name, "it is nested too deeply") from error


def _placed(message: str) -> str:
    """`attempts[3].seed: Expected …`, from msgspec's own words."""
    found = _PLACE.fullmatch(message)
    return message if found is None else f"{found['where']}: {found['why']}"


def _source(sha256: str, text: str, name: str) -> bytes:
    where = f"sources, {sha256[:12]}"
    try:
        source = base64.b64decode(text.encode("ascii"), validate=True)
        source.decode("utf-8")
    except (binascii.Error, UnicodeError) as error:
        raise _broken(name, f"{where}: it is damaged") from error
    if len(source) > MAX_NOTEBOOK or b"\0" in source:
        raise _broken(name, f"{where}: it is none that could have been graded")
    if hashlib.sha256(source).hexdigest() != sha256:
        raise _broken(name, f"{where}: it is not what it was")
    return source


def _insert(connection: sqlite3.Connection, table: str, number: int, row: Row, name: str) -> bool:
    """Whether the row was new."""
    columns = msgspec.structs.asdict(row)
    if isinstance(row, TimedRow):
        columns["at"] = time_text(row.at)  # one way of writing, so that times sort as text
    if table == "interviews":  # one that is still on goes on where it began, not here
        columns["open"] = 0
    marks = ", ".join("?" * len(columns))
    try:
        done = connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING",
            tuple(columns.values()),
        )
    except sqlite3.IntegrityError as error:
        raise _broken(name, f"{table}[{number}]: it names what is not there ({error})") from error
    return done.rowcount == 1


def _refuse_what_is_no_interview(connection: sqlite3.Connection, tables: Tables, name: str) -> None:
    """Events are checked together, with those that were here before."""
    touched = {row.uuid for row in tables.interviews} | {
        row.interview_uuid for row in tables.interview_events
    }
    for uuid in sorted(touched):
        interview = read_interview(connection, uuid)
        why = "it is not there" if interview is None else flaw(interview)
        if why is not None:
            raise _broken(name, f"the interview {uuid}: {why}")


def _broken(name: str, why: str) -> UsageError:
    return UsageError(
        f"{name} is no exported history: {why}.",
        "Write one with: kata export history.json. Nothing was changed.",
    )
