"""A room: one answer of a kata's stock with so many mistakes planted in it.

What is chosen follows from digests of the seed and the names alone, so that a seed gives the same room on
every machine. That what may be planted together is fair, `kata lint` and the tests prove.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from grader.debugging.content import Edit, Stock, Style
from grader.debugging.records import MOST_BUGS, Bug, Level, Room, line_of
from grader.errors import UsageError

T = TypeVar("T")

USUAL: dict[Level, int] = {"easy": 2, "interview": 4, "hard": 5}  # bugs, where their number is not given


def make_room(stock: Stock, seed: int, level: Level = "interview", bugs: int | None = None) -> Room:
    """The room of that seed; raises `UsageError` when there is none with so many bugs."""
    most = most_bugs(stock, level)
    count = min(USUAL[level], most) if bugs is None else bugs
    if not most:
        raise UsageError(
            f"There is nothing to debug in {stock.kata.id} yet.", "Take another kata: kata debug v3"
        )
    if not 1 <= count <= most:
        raise UsageError(
            f"{stock.kata.id} has rooms with at most {most} bugs at the level {level}, not {count}.",
            f"For example: kata debug {stock.kata.id} --level {level} --bugs {most}",
        )
    key = f"{stock.kata.id}/{seed}/{level}/{count}"
    styles = _shuffled(stock.styles, key, lambda style: style.name)
    style, edits = next(
        (style, edits) for style in styles for edits in _sets(style, stock, level, count, key)
    )
    return _room(stock, style, edits, seed, level, key)


def most_bugs(stock: Stock, level: Level = "hard") -> int:
    """The most bugs that one room can have; 0 where there are none."""
    return next(
        (
            count
            for count in range(MOST_BUGS, 0, -1)
            if any(_first(style, stock, level, count) for style in stock.styles)
        ),
        0,
    )


def every_set(stock: Stock, count: int) -> Iterator[tuple[Style, tuple[Edit, ...]]]:
    """All rooms with so many bugs: each style with each set of edits that go together."""
    for style in stock.styles:
        yield from ((style, edits) for edits in _grown((), style.edits, stock, style, count))


def drawn_set(style: Style, stock: Stock, count: int, key: str) -> tuple[Edit, ...] | None:
    """So many bugs that go together, of this style; the same for a key. None where there are not so many."""
    return next(_sets(style, stock, "interview", count, key), None)


def room_text(style: Style, edits: Sequence[Edit]) -> str:
    """The style's text after these edits, which touch other parts of it each."""
    text = style.text
    for edit in sorted(edits, key=lambda edit: -edit.start):
        text = text[: edit.start] + edit.wrong + text[edit.end :]
    return text


def _sets(style: Style, stock: Stock, level: Level, count: int, key: str) -> Iterator[tuple[Edit, ...]]:
    edits = _shuffled(
        _at_level(style, level), f"{key}/{style.name}", lambda edit: f"{edit.label}/{edit.wrong}"
    )
    if level == "hard":
        edits.sort(key=lambda edit: not edit.subtle)  # stable: subtle ones first, each in their order
    yield from _grown((), edits, stock, style, count)


def _first(style: Style, stock: Stock, level: Level, count: int) -> tuple[Edit, ...] | None:
    return next(_grown((), _at_level(style, level), stock, style, count), None)


def _at_level(style: Style, level: Level) -> list[Edit]:
    return [edit for edit in style.edits if not (edit.subtle and level == "easy")]


def _grown(
    chosen: tuple[Edit, ...], rest: Sequence[Edit], stock: Stock, style: Style, count: int
) -> Iterator[tuple[Edit, ...]]:
    """The sets of `count` edits that begin with the chosen ones, in the order of the rest."""
    if len(chosen) == count:
        yield chosen
        return
    if len({edit.concept for edit in rest}) < count - len(chosen):
        return
    for place, edit in enumerate(rest):
        if _fit((*chosen, edit), stock, style):
            yield from _grown((*chosen, edit), rest[place + 1 :], stock, style, count)


def _fit(edits: Sequence[Edit], stock: Stock, style: Style) -> bool:
    """Whether these may be planted together: one a concept, apart in the text, each to be found again."""
    labels = {edit.label for edit in edits}
    if len({edit.concept for edit in edits}) < len(edits) or any(pair <= labels for pair in stock.apart):
        return False
    in_order = sorted(edits, key=lambda edit: edit.start)
    if any(one.end > other.start for one, other in pairwise(in_order)):
        return False
    text = room_text(style, edits)
    return all(text.count(edit.wrong) == 1 for edit in edits)


def _room(stock: Stock, style: Style, edits: Sequence[Edit], seed: int, level: Level, key: str) -> Room:
    text = room_text(style, edits)
    bugs = [
        Bug(
            label=edit.label,
            form=edit.form,
            line=line_of(edit.wrong, edit.right, text),
            wrong=edit.wrong,
            right=edit.right,
        )
        for edit in edits
    ]
    noticed = _shuffled(list(dict.fromkeys(edit.report for edit in edits)), key, lambda report: report)
    told = (len(noticed) + 1) // 2 if level == "hard" else len(noticed)
    return Room(
        kata=stock.kata.id,
        seed=seed,
        level=level,
        content=stock.version,
        style=style.name,
        text=text,
        bugs=tuple(sorted(bugs, key=lambda bug: bug.line)),
        report=tuple(noticed[:told]),
    )


def _shuffled(things: Iterable[T], key: str, name: Callable[[T], str]) -> list[T]:
    """In the order of digests of their names, which is the same on every machine."""
    return sorted(things, key=lambda thing: hashlib.sha256(f"{key}/{name(thing)}".encode()).digest())
