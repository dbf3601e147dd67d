"""What was changed in a room's text: how much of it is left, and which lines were changed without need.

A difference of two texts, whatever they are: nothing here parses or runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec.structs import replace

from grader.debugging.records import Bug, Room, line_of
from grader.lexing import pieces
from grader.records import RoomRecord

LEFT = 0.5  # of the tokens of a room, under which it was rewritten
RUN = 4  # tokens in a row that count as left
LONGEST = 20  # times a room: a text that is longer is no repair of it


def with_changes(record: RoomRecord, room: Room, text: str) -> RoomRecord:
    """The record with what the text itself tells.

    While anything is wrong, no bug is mended whose text stands as it was planted: other mistakes may hide it.
    """
    if len(text) > LONGEST * len(room.text) or _share_left(room.text, text) < LEFT:
        return replace(record, rewritten=True)
    there = [bug for bug in room.bugs if text.count(bug.wrong) == 1]
    still = [bug for bug in there if bug.label in record.still]
    hidden = {bug.label for bug in there if bug.label in record.mended} if _is_wrong(record) else set()
    return replace(
        record,
        mended=tuple(label for label in record.mended if label not in hidden),
        unknown=tuple(label for label in record.planted if label in {*record.unknown, *hidden}),
        touched=_touched(room, text),
        lines={bug.label: line_of(bug.wrong, bug.right, text) for bug in still},
    )


def _is_wrong(record: RoomRecord) -> bool:
    return bool(record.still or record.unknown or record.new)


def _share_left(before: str, after: str) -> float:
    """The share of the tokens that are still there, in their order."""
    one, other = _tokens(before), _tokens(after)
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= RUN) / max(1, len(one))


def _tokens(text: str) -> list[str]:
    return [part for kind, part in pieces(text) if kind not in ("space", "comment", "docstring")]


def _touched(room: Room, text: str) -> tuple[int, ...]:
    """Lines of the text that stand for lines of the room without a bug; what was only added is no matter."""
    planted = {number for bug in room.bugs for number in _span(bug, room.text)}
    before, after = _lines(room.text), _lines(text)
    touched: list[int] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        changed = [place for place in range(i1, i2) if before[place]]
        if tag in ("replace", "delete") and changed and not planted & {place + 1 for place in changed}:
            touched += range(j1 + 1, max(j2, j1 + 1) + 1)
    return tuple(touched)


def _lines(text: str) -> Sequence[tuple[str, ...]]:
    """Each line as its tokens."""
    return [tuple(_tokens(line)) for line in text.split("\n")]


def _span(bug: Bug, text: str) -> range:
    start = text.index(bug.wrong)
    return range(text.count("\n", 0, start) + 1, text.count("\n", 0, start + len(bug.wrong)) + 2)
