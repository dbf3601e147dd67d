"""The interviewer's follow-up questions of a kata."""

from __future__ import annotations

import msgspec

from grader.catalog import Kata
from grader.errors import GraderFault
from grader.records import Record


class Question(Record):
    """One question with its model answer. `concept` is the concept of the kata that it probes."""

    id: str
    concept: str
    question: str
    answer: str
    key_points: tuple[str, ...]


class _File(Record):
    questions: tuple[Question, ...]


def questions(kata: Kata) -> tuple[Question, ...]:
    """All questions of the kata, in the author's order; a broken file raises `GraderFault`."""
    try:
        return msgspec.toml.decode(kata.text("questions.toml"), type=_File).questions
    except msgspec.DecodeError as error:
        raise GraderFault(
            f"{kata.folder / 'questions.toml'}: {error}", "Mend the file; `kata lint` checks it."
        ) from error


def some_questions(kata: Kata, most: int = 3) -> tuple[str, ...]:
    """What an interviewer could ask next."""
    return tuple(question.question for question in questions(kata)[:most])
