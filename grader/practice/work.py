"""The candidate's file as an editor of ours sees and saves it. Nobody's text is ever lost by a save.

A file is named by the id of its start, never by a path; no link is followed, in the file's name or before it.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

from grader import paths
from grader.catalog import Kata
from grader.errors import UsageError
from grader.history import History, Start
from grader.records import Record
from grader.snapshot import MAX_SOURCE, read_work
from grader.workspace import back_up, cannot_write, replace_work

EDITED = ".py"


class Work(Record):
    """A file as it is on the disk. `source` is its bytes, `sha256` what a save says that it replaces."""

    start: Start
    source: bytes
    sha256: str


class Saved(Record):
    """What a save did. `backup` is where a text is that it took the place of, unseen by who saved."""

    sha256: str
    backup: Path | None = None


class ChangedOutside(UsageError):
    """The file is another than the one that was edited: `work` is what is there now."""

    def __init__(self, work: Work) -> None:
        super().__init__(
            f"{work.start.path.name} was changed by another program, and nothing was saved.",
            "Take what is on the disk, or keep yours: the other stays beside it.",
        )
        self.work = work


def current_work(kata: Kata, folder: Path, history: History) -> Start | None:
    """The start whose file is the work on `kata`: in `folder`, else the latest that is still there."""
    there = [
        start
        for start in history.starts(kata=kata.id)
        if start.path.suffix.lower() == EDITED and start.path.is_file()
    ]
    here = [start for start in there if start.path.parent == folder.resolve()]
    return next(iter(here or there), None)


def start_of(uuid: str, history: History) -> Start:
    """The start of that id; raises `UsageError` when there is none."""
    for start in history.starts(uuid=uuid):
        return start
    raise UsageError("This file is not known.", "Begin the kata again; the page may be from another history.")


def read(start: Start) -> Work:
    """The file of a start as it is now; raises `UsageError` or `UnreadableSubmission` where it is none."""
    path = start.path
    if path.suffix.lower() != EDITED or paths.identity(path) != path:
        raise UsageError(
            f"{path.name} cannot be edited here.",
            "Only a .py file is, at the place where it was started, without links on the way.",
        )
    source = read_work(path)
    return Work(start=start, source=source, sha256=_sha256(source))


def save(start: Start, text: bytes, seen: str | None, now: datetime) -> Saved:
    """Put `text` into the file of a start. `seen` is the sha256 of what it is an edit of.

    Where the file is another by now, `ChangedOutside` is raised and nothing done; with `seen` None it is
    done, and the other text is kept beside the file.
    """
    if len(text) > MAX_SOURCE:
        raise UsageError(
            f"The text is larger than {MAX_SOURCE // 1024} KiB, the most that is graded.", "Make it shorter."
        )
    work = read(start)
    digest = _sha256(text)
    if work.sha256 == digest:
        return Saved(sha256=digest)
    if seen is not None and seen != work.sha256:
        raise ChangedOutside(work)
    try:
        backup = back_up(start.path, work.source, now) if seen is None else None
        replace_work(start.path, text)
    except OSError as error:
        raise cannot_write(start.path, error) from error
    return Saved(sha256=digest, backup=backup)


def _sha256(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()
