"""Where this program keeps its own things. `KATA_HOME` overrides the platform's data folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the history, the reports and the crash notes. It may not exist yet."""
    override = environ.get("KATA_HOME")
    if override:
        return Path(override).expanduser().absolute()
    return platformdirs.user_data_path("attention-kata", appauthor=False)


def database(home: Path) -> Path:
    """The history's SQLite file."""
    return home / "history.db"


def candidates(home: Path) -> Path:
    """The SQLite file of interviews with other people: nothing of it counts for the user's own practice."""
    return home / "candidates.db"


def reports(home: Path) -> Path:
    """Where reports go when no path was given."""
    return home / "reports"


def crashes(home: Path) -> Path:
    """Where the traceback of a fault of our own is kept."""
    return home / "crashes"


def identity(path: Path) -> Path:
    """One spelling for one place: absolute, its folder free of links, the file's own name left as it is."""
    return path.parent.resolve() / path.name


def tilde(path: Path, user_home: Path | None = None) -> str:
    """The path as people write it, with `~` for their home: shorter, and without their name."""
    start = Path.home() if user_home is None else user_home
    try:
        below = path.relative_to(start)
    except ValueError:
        return str(path)
    return str(Path("~") / below)
