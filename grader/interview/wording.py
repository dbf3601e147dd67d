"""The interview's texts, from `templates/interview.toml`, and times as a person reads them."""

from __future__ import annotations

import msgspec

from grader.catalog import Catalog
from grader.errors import GraderFault
from grader.records import Record


class Verdict(Record):
    """How an interviewer would word it."""

    word: str
    sentence: str
    hunt: str = ""  # the sentence of a bug hunt, where that is another


class Wording(Record):
    """All texts, by their keys."""

    verdict: dict[str, Verdict]
    reasons: dict[str, str]
    notes: dict[str, str]
    price: dict[str, str]
    room: dict[str, str]
    hunt: dict[str, str]


def load_wording(catalog: Catalog) -> Wording:
    """The texts of the content; a broken file raises `GraderFault`."""
    path = catalog.templates / "interview.toml"
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Wording)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Reinstall attention-kata.") from error


def clock(seconds: float) -> str:
    """A countdown: `24:59`, `1:00:00`; a second that has begun counts."""
    whole = max(0, -int(-seconds // 1))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60:02}:{rest % 60:02}"


def at(seconds: float) -> str:
    """A moment of a round: `03:20`."""
    return clock(int(seconds))


def spoken(seconds: float) -> str:
    """A span as one says it: `24 minutes 59 seconds`, for screen readers and for the log."""
    whole = max(0, -int(-seconds // 1))
    minutes, rest = divmod(whole, 60)
    parts = [count(minutes, "minute")] if minutes else []
    if rest or not parts:
        parts.append(count(rest, "second"))
    return " ".join(parts)


def count(number: int, thing: str) -> str:
    """`1 hint`, `2 hints`, `no hints`."""
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
