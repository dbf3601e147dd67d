"""A grading that can be ended, with the user's engine and without."""

from __future__ import annotations

import threading

import pytest

from grader import grading
from grader.catalog import Catalog
from grader.engine.running import Cancelled
from grader.engine.shared import SharedEngine
from grader.records import Grade, Options
from tests.engine.answers import HANGS, solution, submission, timeless, wrong
from tests.engine.test_daemon import running, until


def outcome(catalog: Catalog, options: Options) -> Grade:
    return grading.begin(wrong(catalog), catalog.get("v3"), catalog, options).result()


def test_it_is_the_same_grade_with_the_engine_and_without(shared: SharedEngine, catalog: Catalog) -> None:
    cold = outcome(catalog, Options(seed=5, engine=False))
    running(shared)
    warm = outcome(catalog, Options(seed=5))
    assert shared.status().grades == 1  # type: ignore[union-attr]
    assert timeless(cold) == timeless(warm)
    assert cold.verdict == "failed"


@pytest.mark.slow
def test_the_first_one_starts_the_engine(shared: SharedEngine, catalog: Catalog) -> None:
    begun = grading.begin(solution(catalog, "v1"), catalog.get("v1"), catalog, Options())
    assert begun.result().verdict == "passed"
    until(shared.is_running)


@pytest.mark.parametrize("engine", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("early", [True, False], ids=["before it began", "in the middle"])
def test_it_can_be_ended_at_any_time(
    shared: SharedEngine, catalog: Catalog, engine: bool, early: bool
) -> None:
    if engine:
        running(shared)
    begun = grading.begin(submission(HANGS), catalog.get("v1"), catalog, Options(engine=engine))
    if early:
        begun.cancel()
    else:
        threading.Timer(0.5, begun.cancel).start()
    with pytest.raises(Cancelled):
        begun.result()
    if engine:
        until(lambda: shared.status().running == 0)  # type: ignore[union-attr]


def test_every_check_is_told_while_an_engine_grades(shared: SharedEngine, catalog: Catalog) -> None:
    running(shared)
    told: list[tuple[int, int]] = []
    begun = grading.begin(
        wrong(catalog), catalog.get("v3"), catalog, Options(seed=5), lambda *checks: told.append(checks)
    )
    grade = begun.result()
    assert told == [(done, len(grade.checks)) for done in range(1, len(grade.checks) + 1)]
    assert timeless(grade) == timeless(outcome(catalog, Options(seed=5)))


def test_what_the_caller_needs_afterwards_is_done_while_the_engine_grades(
    shared: SharedEngine, catalog: Catalog
) -> None:
    running(shared)
    done: list[str] = []
    grade = grading.grade(
        solution(catalog, "v1"), catalog.get("v1"), catalog, meanwhile=lambda: done.append("loaded")
    )
    assert (grade.verdict, done) == ("passed", ["loaded"])
