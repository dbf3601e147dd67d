"""The practice clock, over a history that is written minute by minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.history import History
from grader.practice.clock import Active, active
from grader.records import Grade

FILE = Path("/desk/answer.py")


class Practice:
    """Work on v1, which gives ten minutes; each word of a day is what happens after so many minutes."""

    def __init__(self, history: History, catalog: Catalog, make_grade: Callable[..., Grade]) -> None:
        self.now = datetime(2026, 11, 30, 10, tzinfo=UTC)
        self._kata = catalog.get("v1")
        self._grade = make_grade("v1", missed=("mix",))
        self._history = history

    def __call__(self, *day: tuple[str, float]) -> Active | None:
        attempt = None
        for what, minutes in day:
            self.now += timedelta(minutes=minutes)
            if what == "start":
                self._history.record_start("v1", FILE, "reset")
            elif what == "hint":
                self._history.take_hint("v1", 4)
            else:
                attempt = self._history.record_attempt(self._grade, None, FILE, what)
        assert attempt is not None
        return active(attempt, self._kata, self._history)


@pytest.fixture
def practice(home: Path, catalog: Catalog, make_grade: Callable[..., Grade]) -> Iterator[Practice]:
    with History(home / "clock.db", lambda: found.now) as history:
        found = Practice(history, catalog, make_grade)
        yield found


def test_the_time_runs_from_the_start_to_the_grade(practice: Practice) -> None:
    assert practice(("start", 0), ("grade", 8)) == Active(seconds=480, paused=False)


def test_a_pause_between_two_grades_does_not_count(practice: Practice) -> None:
    day = practice(("start", 0), ("grade", 5), ("grade", 90), ("grade", 3))
    assert day == Active(seconds=480, paused=True)


def test_hints_and_watched_saves_are_signs_of_life(practice: Practice) -> None:
    day = practice(("start", 0), ("hint", 15), ("watch", 15), ("grade", 15))
    assert day == Active(seconds=45 * 60, paused=False)


def test_a_pause_before_the_first_hint_does_not_count(practice: Practice) -> None:
    assert practice(("start", 0), ("hint", 90), ("grade", 8)) == Active(seconds=480, paused=True)


def test_work_that_is_one_pause_has_no_time(practice: Practice) -> None:
    assert practice(("start", 0), ("grade", 90)) is None


def test_work_that_was_not_started_here_has_no_time(practice: Practice) -> None:
    assert practice(("grade", 0), ("grade", 5)) is None


def test_only_what_belongs_to_the_last_start_counts(practice: Practice) -> None:
    day = practice(("start", 0), ("grade", 9), ("start", 1), ("grade", 4))
    assert day == Active(seconds=240, paused=False)
