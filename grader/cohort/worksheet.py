"""The times of submission in Moodle's grading worksheet: they are nowhere else in its download."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from grader.cohort.entries import Row
from grader.cohort.sheets import read_sheet

_FORMS = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d/%m/%Y, %H:%M", "%d/%m/%y, %H:%M")
_NUMBER = re.compile(r"\D*(\d+)")  # Participant 12345


def timed(rows: Sequence[Row], worksheet: Path) -> list[Row]:
    """The rows, with the time of those whose number is in the worksheet."""
    times = submitted(worksheet)
    told = []
    for row in rows:
        time = times.get(row.origin.id, "") if row.origin.id and not row.origin.submitted else ""
        origin = msgspec.structs.replace(row.origin, submitted=time) if time else row.origin
        told.append(msgspec.structs.replace(row, origin=origin))
    return told


def submitted(worksheet: Path) -> dict[str, str]:
    """Participants and times, ISO 8601. Moodle writes no offset: they are taken for this machine's."""
    sheet = read_sheet(worksheet)
    heads = [head.lower() for head in sheet.heads]
    if not {"identifier", "last modified (submission)"} <= set(heads):
        return {}
    who, when = heads.index("identifier"), heads.index("last modified (submission)")
    found = {}
    for row in sheet.rows:
        number = _NUMBER.match(row[who]) if len(row) > max(who, when) else None
        time = _time(row[when].strip()) if number else ""
        if number and time:
            found[number[1]] = time
    return found


def _time(text: str) -> str:
    for form in _FORMS:
        try:
            return datetime.strptime(text, form).astimezone().isoformat()
        except ValueError:
            continue
    return ""
