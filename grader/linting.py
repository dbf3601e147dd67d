"""What kata authors are told about their katas."""

from __future__ import annotations

from pathlib import Path

from grader.records import Record


class Problem(Record):
    """One thing that is wrong with a kata: where, what, and how to mend it."""

    path: Path
    message: str
    fix: str = ""
    line: int | None = None


def lint(root: Path | None = None) -> tuple[Problem, ...]:
    """All problems of the katas below `root` (default: those that this program came with)."""
    raise NotImplementedError
