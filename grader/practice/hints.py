"""Hints: one more each time, counted in the history."""

from __future__ import annotations

import re

from grader.catalog import Kata
from grader.errors import GraderFault
from grader.history import History
from grader.records import Record

_HEADING = re.compile(r"^## Hint \d+[ \t]*$", re.MULTILINE)


class Hint(Record):
    """One hint as Markdown. `again` says that it was shown before, because there are no more."""

    number: int
    total: int
    text: str
    again: bool = False


def hint_texts(kata: Kata) -> tuple[str, ...]:
    """The kata's hints as Markdown, the mildest first; `hints.md` has them under `## Hint n`."""
    parts = _HEADING.split(kata.text("hints.md"))[1:]
    if not parts:
        raise GraderFault(f"{kata.folder / 'hints.md'} has no heading '## Hint 1'.", "Run `kata lint`.")
    return tuple(part.strip() for part in parts)


def next_hint(kata: Kata, history: History) -> Hint:
    """The next hint, recorded as taken; after the last one, the last one again."""
    texts = hint_texts(kata)
    before = history.hints_taken(kata.id)
    number = history.take_hint(kata.id, len(texts))
    return Hint(number=number, total=len(texts), text=texts[number - 1], again=before == len(texts))


def all_hints(kata: Kata, history: History) -> tuple[Hint, ...]:
    """All hints, recorded as taken."""
    texts = hint_texts(kata)
    while history.take_hint(kata.id, len(texts)) < len(texts):
        pass
    return tuple(Hint(number=i, total=len(texts), text=text) for i, text in enumerate(texts, start=1))
