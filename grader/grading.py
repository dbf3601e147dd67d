"""The one core function behind every way of grading: a submission and a kata in, a `Grade` out."""

from __future__ import annotations

from typing import Literal

from grader.catalog import Catalog, Kata
from grader.records import Grade, Record, Submission

Isolation = Literal["strict", "standard", "process"]


class Options(Record):
    """How to grade. `None` means: the seed is drawn afresh; the deadlines are the kata's."""

    seed: int | None = None
    total_seconds: float | None = None
    isolation: Isolation = "standard"


def grade(submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None) -> Grade:
    """Grade one submission in a worker process of its own; see `grader.engine` for how it is started."""
    from grader.engine.cold import grade_cold

    return grade_cold(submission, kata, catalog, options or Options())
