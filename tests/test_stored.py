"""A row of the history is one, or it is not: no field holds what its readers cannot reckon with."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from grader.stored import StartRow, TimedRow

START = {
    "uuid": "a-1",
    "at": "2026-11-30T10:15:00+00:00",
    "kata": "v3",
    "path": "/home/ada/self_attention_v3.py",
    "kind": "start",
}


def read(**changes: Any) -> StartRow:
    return msgspec.convert(START | changes, StartRow)


def test_a_row_as_the_program_writes_it_is_one() -> None:
    assert read().kata == "v3"


@pytest.mark.parametrize(
    "changes",
    [
        {"at": "garbage"},
        {"at": "0001-01-01T00:00:00+00:00"},
        {"at": "2026-11-30T10:15:00"},
        {"at": "2300-01-01T00:00:00+00:00"},
        {"kata": "v3\x1b[31m"},
        {"kata": ""},
        {"path": ""},
        {"path": "a\0b"},
        {"kind": "ended"},
        {"uuid": "a b"},
        {"more": 1},
    ],
)
def test_what_is_no_row_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(**changes)


def test_the_years_have_bounds() -> None:
    row = {"uuid": "a", "at": "1970-01-01T00:00:00+00:00"}
    assert msgspec.convert(row, TimedRow).at.year == 1970
