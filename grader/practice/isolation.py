"""What `standard` isolation lacks on this machine: said once, where the grader keeps its own things."""

from __future__ import annotations

import contextlib
from pathlib import Path

from grader.confine.apply import missing_for_strict
from grader.confine.policy import Level
from grader.errors import KataError

_MARK = "isolation-noted"


class WeakerIsolation(KataError):
    """This machine confines an answer less than it could: right for one's own files only."""


def isolation_note(level: Level, home: Path) -> WeakerIsolation | None:
    """What is missing, unless `home` says that it was told before; only `standard` leaves anything out."""
    missing = missing_for_strict() if level == "standard" else ()
    if not missing or _told(home) == missing:
        return None
    with contextlib.suppress(OSError):  # a home that cannot be written: then it is said again
        home.mkdir(parents=True, exist_ok=True)
        (home / _MARK).write_text("\n".join(missing), encoding="utf-8")
    return WeakerIsolation(
        f"this machine has no {' and no '.join(missing)}: an answer could reach your files or the network.",
        "Grade files that you trust; `kata doctor` shows what there is. This is said once.",
    )


def _told(home: Path) -> tuple[str, ...]:
    try:
        return tuple((home / _MARK).read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        return ()
