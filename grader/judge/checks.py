"""How a hidden check is written: plain functions for pytest, marked with the concept they test.

    @check("scale", why="…")
    def scores_are_divided_by_sqrt_hidden_dim(candidate: Candidate) -> None:
        …

A check ends silently (passed), by `fail`/`require` (failed, with expected and actual), or by `NotReached`
(its premise failed, so it says nothing about its concept).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

END_TO_END = "end_to_end"
ATTRIBUTE = "__kata_check__"

F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True)
class CheckInfo:
    """What the decorator says about a check. `asks` sends what it alone asks a candidate."""

    concept: str
    why: str
    title: str
    asks: Callable[..., object] | None = None


class CheckFailed(Exception):
    """A check found a difference.

    `mistake` names it where the check knows; `required=False` costs points only. `charges` is the concept
    that a gate costs where every concept's own checks found nothing; `sentence` and `fix` are words for the
    mistake that fit this case better than its label's.
    """

    def __init__(
        self,
        message: str,
        *,
        expected: str | None = None,
        actual: str | None = None,
        mistake: str | None = None,
        line: int | None = None,
        required: bool = True,
        charges: str | None = None,
        sentence: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.actual = actual
        self.mistake = mistake
        self.line = line
        self.required = required
        self.charges = charges
        self.sentence = sentence
        self.fix = fix


class NotReached(Exception):
    """The check's premise failed, for this reason."""


def check(concept: str, *, why: str = "", asks: Callable[..., object] | None = None) -> Callable[[F], F]:
    """Mark a function as a check of a concept ("end_to_end" for a gate); its name is its title.

    What it asks by `candidate.once(asks)` is sent ahead of all checks.
    """

    def mark(function: F) -> F:
        title = function.__name__.replace("_", " ")
        setattr(function, ATTRIBUTE, CheckInfo(concept, why, title[0].upper() + title[1:], asks))
        return function

    return mark


def fail(
    message: str,
    *,
    expected: str | None = None,
    actual: str | None = None,
    mistake: str | None = None,
    line: int | None = None,
    required: bool = True,
    charges: str | None = None,
    sentence: str = "",
    fix: str = "",
) -> NoReturn:
    """The check failed."""
    raise CheckFailed(
        message,
        expected=expected,
        actual=actual,
        mistake=mistake,
        line=line,
        required=required,
        charges=charges,
        sentence=sentence,
        fix=fix,
    )


def require(
    condition: bool,
    message: str,
    *,
    expected: str | None = None,
    actual: str | None = None,
    mistake: str | None = None,
    line: int | None = None,
    charges: str | None = None,
) -> None:
    """The check fails unless the condition holds."""
    if not condition:
        fail(message, expected=expected, actual=actual, mistake=mistake, line=line, charges=charges)
