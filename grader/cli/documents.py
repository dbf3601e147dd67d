"""Records as JSON documents for programs. Their fields are a promise; `version` changes when one does."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from grader.history import Attempt
from grader.practice.overview import Standing

VERSION = 1


def standings_document(standings: Iterable[Standing]) -> str:
    """The document of `kata list --json`."""
    return _pretty({"version": VERSION, "katas": [_standing(standing) for standing in standings]})


def attempts_document(attempts: Iterable[Attempt]) -> str:
    """The document of `kata history --json`, the latest attempt first."""
    return _pretty({"version": VERSION, "attempts": [_attempt(attempt) for attempt in attempts]})


def _standing(standing: Standing) -> dict[str, object]:
    kata, best = standing.kata, standing.best
    return {
        "id": kata.id,
        "track": kata.track,
        "level": kata.level,
        "title": kata.title,
        "minutes": kata.minutes,
        "max_points": kata.max_points,
        "progress": standing.progress,
        "attempts": 0 if best is None else best.attempts,
        "best": None if best is None else {"points": best.points, "passed": best.passed},
        "solution_seen": standing.solution_seen,
    }


def _attempt(attempt: Attempt) -> dict[str, object]:
    return {
        "id": attempt.uuid,
        "kata": attempt.kata,
        "when": attempt.at,
        "path": None if attempt.path is None else str(attempt.path),
        "sha256": attempt.sha256,
        "origin": attempt.origin,
        "verdict": attempt.verdict,
        "points": attempt.points,
        "max_points": attempt.max_points,
        "seconds": attempt.seconds,
        "seed": attempt.seed,
        "hints": attempt.hints,
        "missed": attempt.missed,
    }


def _pretty(document: object) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
