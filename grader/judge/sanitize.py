"""The sentences of a grade without the control characters that a candidate put into them.

Every program that reads the JSON document may print a sentence; the candidate's own text (`source`,
`printed`) stays as it is, and is made harmless by whoever shows it.
"""

from __future__ import annotations

import unicodedata
from typing import Any, TypeVar

import msgspec

from grader.records import Grade, Printed, Record, SourceRecord

_AS_THEY_ARE = (SourceRecord, Printed)
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, bidirectional marks, surrogates, line ends
_JOINERS = "\u200c\u200d"  # scripts need them; they move nothing

R = TypeVar("R", bound=Record)


def plain_grade(grade: Grade) -> Grade:
    """The grade with `\ufffd` for every control or format character but the line end in its sentences."""
    return _plain_record(grade)


def plain(text: str) -> str:
    """One text made so."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_sign(character) for character in text)


def _sign(character: str) -> str:
    if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in _HARMFUL:
        return character
    return "\ufffd"


def _plain_record(record: R) -> R:
    changed = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        made = _plain_value(value)
        if made is not value:
            changed[name] = made
    return msgspec.structs.replace(record, **changed) if changed else record


def _plain_value(value: Any) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, Record):
        return _plain_record(value)
    if isinstance(value, tuple):
        made = tuple(map(_plain_value, value))
        return made if any(new is not old for new, old in zip(made, value, strict=True)) else value
    return value
