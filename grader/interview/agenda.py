"""What an interviewer brings along: own limits and follow-up questions, in `agenda.toml`.

    [minutes]
    v3 = 20

    [[questions]]
    kata = "v3"
    concept = "mask"
    question = "How would you test that mask?"
    answer = "Change a hidden token: nothing that is visible may change."
    key_points = ["hidden tokens are changed", "the visible output stays"]

The questions go into the interview as it begins, so that it can be read without the folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from grader.catalog import Catalog
from grader.errors import UsageError
from grader.practice.questions import Question
from grader.records import Record

FILE = "agenda.toml"
MOST_BYTES = 256 * 1024

Minutes = Annotated[float, Meta(gt=0, le=24 * 60)]
Words = Annotated[str, Meta(min_length=1, max_length=4000)]


class Brought(Record, forbid_unknown_fields=True):
    """A question to whoever writes `kata`; it is asked instead of one of ours."""

    kata: str
    concept: str
    question: Words
    answer: Words
    key_points: Annotated[tuple[Words, ...], Meta(min_length=1, max_length=20)]


class Agenda(Record, forbid_unknown_fields=True):
    """Minutes by kata, and questions in the order in which they are asked."""

    minutes: dict[str, Minutes] = msgspec.field(default_factory=dict)
    questions: Annotated[tuple[Brought, ...], Meta(max_length=50)] = ()

    def asked_of(self, katas: tuple[str, ...]) -> tuple[tuple[str, Question], ...]:
        """The questions to whoever writes these katas, each with its kata."""
        return tuple(
            (
                one.kata,
                Question(
                    id=f"agenda:{number}",
                    concept=one.concept,
                    question=one.question,
                    answer=one.answer,
                    key_points=one.key_points,
                ),
            )
            for number, one in enumerate(self.questions, start=1)
            if one.kata in katas
        )


def load_agenda(folder: Path, catalog: Catalog) -> Agenda:
    """What stands in the folder; raises `UsageError` with the place of what cannot be used."""
    path = folder / FILE
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.", "docs/interview.md shows one."
        ) from error
    if len(text) > MOST_BYTES:
        raise UsageError(f"{path} is longer than {MOST_BYTES // 1024} kB.", "Keep what you ask.")
    try:
        agenda = msgspec.toml.decode(text, type=Agenda)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "docs/interview.md shows one.") from error
    for kata in agenda.minutes:
        catalog.get(kata)
    for number, question in enumerate(agenda.questions, start=1):
        concepts = [concept.id for concept in catalog.get(question.kata).concepts]
        if question.concept not in concepts:
            raise UsageError(
                f"{path}, question {number}: {question.kata} has no concept '{question.concept}'.",
                f"It has {', '.join(concepts)}.",
            )
    return agenda
