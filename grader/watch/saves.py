"""When a file was saved: by the system's notices, or by looking again and again where there are none."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

DEBOUNCE_MS = 60  # writes closer together than this are one save
STEP_MS = 5  # how long it must be quiet before a save is told; a later write starts the grade over
GLANCE_MS = 250  # a save before the watch was in place is seen by a look at the file
POLL_SECONDS = 0.2  # between two looks, where there are no notices

# What changes in these, also from the Windows side of WSL, the kernel is not told.
NETWORK = frozenset(
    {
        "9p",
        "afs",
        "cifs",
        "drvfs",
        "fuse.sshfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
)
MOUNTS = Path("/proc/mounts")


Stamp = tuple[int, int, int] | None


def saves(path: Path, stop: threading.Event, since: Stamp, *, poll: bool | None = None) -> Iterator[None]:
    """Yields after each save until `stop` is set, also when an editor puts a new file in the old one's place.

    `since` is the stamp of the file as it was last read: a save before the watch is in place counts too.
    `poll` decides how; by default the file system does.
    """
    looking = needs_polling(path) if poll is None else poll
    yield from _looked_for(path, stop, since) if looking else _noticed(path, stop, since)


def _noticed(path: Path, stop: threading.Event, seen: Stamp) -> Iterator[None]:
    from watchfiles import watch

    changes = watch(
        path.parent,
        watch_filter=lambda _, changed: os.path.basename(changed) == path.name,  # noqa: PTH119 - a string
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stop,
        recursive=False,
        raise_interrupt=False,
        rust_timeout=GLANCE_MS,
        yield_on_timeout=True,
    )
    for change in changes:
        now = stamp(path)
        if change or now != seen:
            seen = now
            yield


def _looked_for(path: Path, stop: threading.Event, seen: Stamp) -> Iterator[None]:
    """watchfiles' own polling knows whole seconds only: it would miss the second of two quick saves."""
    while not stop.wait(POLL_SECONDS):
        now = stamp(path)
        if now != seen:
            seen = now
            yield


def stamp(path: Path) -> Stamp:
    """Time of the last change, size, and which file it is; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def needs_polling(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether the file lies on a network's or a host's folder."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    place = path.resolve().parent
    found = [line.split()[1:3] for line in lines if len(line.split()) > 2]
    above = [(point, kind) for point, kind in found if place.is_relative_to(_unescaped(point))]
    return bool(above) and max(above, key=lambda mount: len(mount[0]))[1] in NETWORK


def _unescaped(point: str) -> str:
    """As in fstab(5): blanks, tabs, newlines and backslashes are written in octal."""
    for sign in (" ", "\t", "\n", "\\"):
        point = point.replace(f"\\{ord(sign):03o}", sign)
    return point
