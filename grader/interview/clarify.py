"""The clarifying questions that a candidate may ask, with the interviewer's answers. Asking is free."""

from __future__ import annotations

import msgspec

from grader.catalog import Kata
from grader.errors import GraderFault
from grader.records import Record


class Clarification(Record):
    """One question and its answer, which does not give the solution away."""

    id: str
    question: str
    answer: str


class _File(Record):
    clarifications: tuple[Clarification, ...]


def clarifications(kata: Kata) -> tuple[Clarification, ...]:
    """All of the kata's, in the author's order; a broken file raises `GraderFault`."""
    try:
        return msgspec.toml.decode(kata.text("clarify.toml"), type=_File).clarifications
    except msgspec.DecodeError as error:
        raise GraderFault(
            f"{kata.folder / 'clarify.toml'}: {error}", "Mend the file; `kata lint` checks it."
        ) from error
