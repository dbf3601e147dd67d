"""The one core function behind every way of grading: a submission and a kata in, a `Grade` out."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.catalog import Catalog, Kata
from grader.errors import ConfinementUnavailable
from grader.records import Grade, Options, Submission, Told, Trial

if TYPE_CHECKING:
    from grader.engine.running import Running
    from grader.engine.shared import SharedEngine

ENGINE_SWITCH = "KATA_ENGINE"
ENGINE_OFF = frozenset({"off", "0", "no", "false"})


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
        return begin(submission, kata, catalog, options).result(meanwhile)
    except ConfinementUnavailable as refusal:
        return Grade(
            kata=kata.id,
            verdict="grader_error",
            seed=options.seed or 0,
            reason=f"{refusal.message}. {refusal.fix}.",
            max_points=kata.max_points,
            concepts=kata.untouched,
        )


def begin(
    submission: Submission, kata: Kata, catalog: Catalog, options: Options, told: Told | None = None
) -> Running:
    """A grading that another thread may wait for, and that can be ended before it has an outcome.

    `told` is called after every check, in the thread that waits, while an engine grades.
    """
    from grader.engine.messages import Request
    from grader.engine.running import Running

    engine = _engine(catalog) if options.engine else None
    request = Request.of(submission, kata, catalog, options, progress=told is not None)
    return Running(request, engine, told)


def try_out(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    options: Options | None = None,
    *,
    measure: bool = False,
) -> Trial:
    """Call an answer's forward once, on an example, in a worker of its own: no check, no verdict.

    With `measure` some more times, for the numbers that questions on its own lines ask for.
    """
    from grader.engine.messages import Request
    from grader.engine.trying import trial

    options = options or Options()
    request = Request.of(submission, kata, catalog, options, trial=True, measured=measure)
    return trial(request, _engine(catalog) if options.engine else None)


def warm_up(catalog: Catalog) -> None:
    """Have an engine ready for the next grade, unless the caller wants none. Returns at once."""
    engine = _engine(catalog)
    if engine is not None:
        engine.start()


def _engine(catalog: Catalog) -> SharedEngine | None:
    """The user's engine, running or not; None where there is none to be had, or none is wanted."""
    if os.environ.get(ENGINE_SWITCH, "").lower() in ENGINE_OFF:
        return None
    from grader.engine.shared import SharedEngine

    return SharedEngine.of(os.environ, catalog.roots)
