"""The candidate's file, seen from outside: its content and when it was changed, as one pair."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from grader.errors import KataError, UsageError
from grader.records import Record, Submission
from grader.snapshot import UnreadableSubmission, read_submission

Stamp = tuple[int, int, int]  # time of change in nanoseconds, size, inode

_TRIES = 5  # a file that changes while it is read is read again
_DEBOUNCE_MS = 40  # writes that come closer together than this are one save
_STEP_MS = 20  # how long it must be quiet before a save is reported


class Seen(Record):
    """What is at the path: a submission, or the problem with it. `stamp` is `None` when nothing is there."""

    stamp: Stamp | None
    submission: Submission | None = None
    problem: KataError | None = None

    @property
    def changed(self) -> datetime | None:
        """When the file was last written to, by the wall clock."""
        return None if self.stamp is None else datetime.fromtimestamp(self.stamp[0] / 1e9, UTC)


def stamp(path: Path) -> Stamp | None:
    """A cheap sign of the file's state; another content has another stamp."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def look(path: Path) -> Seen:
    """The file as it is now."""
    seen = _look(path)
    for _ in range(_TRIES):
        if stamp(path) == seen.stamp:
            break
        seen = _look(path)
    return seen


def _look(path: Path) -> Seen:
    before = stamp(path)
    try:
        return Seen(stamp=before, submission=read_submission(path))
    except (UsageError, UnreadableSubmission) as problem:
        return Seen(stamp=before, problem=problem)


async def changes(path: Path) -> AsyncIterator[None]:
    """Yields soon after each change of the file, also of one that an editor replaces as a whole."""
    from watchfiles import awatch

    def is_it(_: object, changed: str) -> bool:
        return Path(changed).name == path.name

    watching = awatch(path.parent, watch_filter=is_it, debounce=_DEBOUNCE_MS, step=_STEP_MS, recursive=False)
    async for _ in watching:
        yield
