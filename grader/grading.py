"""The one core function behind every way of grading: a submission and a kata in, a `Grade` out."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from grader.catalog import Catalog, Kata
from grader.errors import ConfinementUnavailable
from grader.records import ConceptRecord, Grade, Record, Submission

if TYPE_CHECKING:
    from grader.engine.running import Running
    from grader.engine.shared import SharedEngine

ENGINE_SWITCH = "KATA_ENGINE"
ENGINE_OFF = frozenset({"off", "0", "no", "false"})

Isolation = Literal["strict", "standard", "process"]


class Options(Record):
    """How to grade. `None` means: the seed is drawn afresh; the deadlines are the kata's.

    `engine` allows the user's warm engine; the outcome is the same without it.
    """

    seed: int | None = None
    total_seconds: float | None = None
    isolation: Isolation = "standard"
    engine: bool = True


def grade(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    options: Options | None = None,
    *,
    meanwhile: Callable[[], None] | None = None,
) -> Grade:
    """Grade one submission in a worker process of its own.

    The user's engine does it if it runs. If not, or if it is lost on the way, a fresh interpreter does it at
    once, and an engine is started for the next time. Isolation that was asked for and is not to be had gives
    the verdict `grader_error`; nothing of the submission has run then. `meanwhile` is called once while an
    engine grades, for what the caller needs afterwards; without an engine it is not called.
    """
    options = options or Options()
    try:
        return _grade(submission, kata, catalog, options, meanwhile)
    except ConfinementUnavailable as refusal:
        return Grade(
            kata=kata.id,
            verdict="grader_error",
            seed=options.seed or 0,
            reason=f"{refusal.message}. {refusal.fix}.",
            max_points=kata.max_points,
            concepts=untouched(kata),
        )


def untouched(kata: Kata) -> tuple[ConceptRecord, ...]:
    """The concepts of an answer that never ran: none was reached."""
    return tuple(
        ConceptRecord(
            id=concept.id,
            title=concept.title,
            points=0,
            max_points=concept.points,
            status="not_reached",
            required=concept.required,
        )
        for concept in kata.concepts
    )


def _grade(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    options: Options,
    meanwhile: Callable[[], None] | None,
) -> Grade:
    engine = _engine() if options.engine else None
    if engine is not None:
        warm = engine.try_grade(submission, kata, catalog, options, meanwhile)
        if warm is not None:
            return warm
    from grader.engine.once import grade_in_subprocess

    try:
        return grade_in_subprocess(submission, kata, catalog, options)
    finally:
        if engine is not None:
            engine.start()


def begin(submission: Submission, kata: Kata, catalog: Catalog, options: Options) -> Running:
    """A grading that another thread may wait for, and that can be ended before it has an outcome."""
    from grader.engine.messages import Request
    from grader.engine.running import Running

    engine = _engine() if options.engine else None
    return Running(Request.of(submission, kata, catalog, options), engine)


def warm_up() -> None:
    """Have an engine ready for the next grade, unless the caller wants none. Returns at once."""
    engine = _engine()
    if engine is not None:
        engine.start()


def _engine() -> SharedEngine | None:
    """The user's engine, running or not; None where there is none to be had, or none is wanted."""
    if os.environ.get(ENGINE_SWITCH, "").lower() in ENGINE_OFF:
        return None
    from grader.engine.shared import SharedEngine

    return SharedEngine.of(os.environ)
