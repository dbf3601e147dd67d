"""One interview as a file to send: the same document as a whole history, with that interview's rows alone."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from grader.errors import UsageError
from grader.memory.transfer import Imported, export_history, import_history

Rows = list[dict[str, Any]]


def export_interview(database: Path, now: datetime, uuid: str) -> bytes:
    """The interview of that id, its grades and all that these need."""
    document = msgspec.json.decode(export_history(database, now))
    tables: dict[str, Rows] = document["tables"]
    events = _of(tables["interview_events"], "interview_uuid", {uuid})
    graded = {_data(event).get("attempt") for event in events if event["kind"] == "graded"}
    attempts = _of(tables["attempts"], "uuid", graded)
    hunts = _of(tables["room_grades"], "uuid", graded)
    rooms = {row["room_uuid"] for row in hunts}
    kept = {
        "interviews": _of(tables["interviews"], "uuid", {uuid}),
        "interview_events": events,
        "interview_grades": _of(tables["interview_grades"], "interview_uuid", {uuid}),
        "attempts": attempts,
        "rooms": _of(tables["rooms"], "uuid", rooms),
        "room_grades": hunts,
        "room_reveals": _of(tables["room_reveals"], "room_uuid", rooms),
        "starts": _of(tables["starts"], "uuid", {row["start_uuid"] for row in attempts}),
    }
    needed = {row.get("sha256") for rows in kept.values() for row in rows}
    sources = {sha256: text for sha256, text in document["sources"].items() if sha256 in needed}
    document |= {"tables": {name: kept.get(name, []) for name in tables}, "sources": sources}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def import_interview(content: bytes, database: Path, name: str, candidate: str) -> Imported:
    """Add the interviews of a file to those with candidates; `candidate` names who sent it."""
    try:
        document = msgspec.json.decode(content)
        for event in document["tables"]["interview_events"]:
            if event["kind"] == "begun" and event["round"] == 0 and candidate:
                event["data"] = msgspec.json.encode(_data(event) | {"candidate": candidate}).decode()
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{name} is no exported interview.", "Write one with: kata interview export ID -o FILE"
        ) from error
    return import_history(msgspec.json.encode(document), database, name)


def _of(rows: Rows, column: str, wanted: set[Any]) -> Rows:
    return [row for row in rows if row[column] in wanted]


def _data(event: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(event["data"])
    return found
