"""Rooms in the history: found by their path, apart from all attempts, and taken along to another machine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from grader.debugging.desk import entered_at, latest_in, open_room
from grader.debugging.rooms import make_room
from grader.debugging.store import RoomStore
from grader.errors import UsageError
from grader.history import History
from grader.memory.transfer import export_history, import_history
from grader.records import Grade
from tests.debugging.stage import CATALOG, stock

V3 = CATALOG.get("v3")
ROOM = make_room(stock("v3"), 7)


def test_a_room_is_found_by_its_path_and_its_grades_are_no_attempts(
    tmp_path: Path, history: History, make_grade: Callable[..., Grade]
) -> None:
    opened = open_room(ROOM, V3, tmp_path, history)
    entered = entered_at(opened.path, history)
    assert entered is not None
    assert entered.room == ROOM
    assert latest_in(tmp_path, history) == entered
    assert entered_at(tmp_path / "other.py", history) is None
    grade = make_grade("v3")
    with RoomStore(history.path, history.clock) as store:
        store.record_grade(entered, grade, None)
        store.record_reveal(entered)
        assert [hunt.grade for hunt in store.hunts(entered)] == [grade]
        assert len(store.revealed(entered)) == 1
    assert history.attempts() == []
    assert history.starts() == []


def test_a_room_whose_file_is_gone_is_not_the_latest(tmp_path: Path, history: History) -> None:
    open_room(ROOM, V3, tmp_path, history).path.unlink()
    assert latest_in(tmp_path, history) is None


def test_another_room_of_the_same_name_is_refused(tmp_path: Path, history: History) -> None:
    opened = open_room(ROOM, V3, tmp_path, history)
    with pytest.raises(UsageError, match="not this room"):
        open_room(make_room(stock("v3"), 7, "hard"), V3, tmp_path, history)
    assert opened.path.read_text(encoding="utf-8") == ROOM.text


def test_an_exported_history_has_its_rooms(
    tmp_path: Path, history: History, clock: Callable[[], datetime], make_grade: Callable[..., Grade]
) -> None:
    opened = open_room(ROOM, V3, tmp_path, history)
    entered = entered_at(opened.path, history)
    assert entered is not None
    with RoomStore(history.path, clock) as store:
        store.record_grade(entered, make_grade("v3"), None)
        store.record_reveal(entered)
    document = export_history(history.path, clock())
    elsewhere = History(tmp_path / "other.db", clock)
    added = import_history(document, elsewhere.path, "history.json")
    assert (added.added, added.known) == (3, 0)
    assert import_history(document, elsewhere.path, "history.json").added == 0
    assert entered_at(opened.path, elsewhere) == entered
    with RoomStore(elsewhere.path, clock) as store:
        assert len(store.hunts(entered)) == len(store.revealed(entered)) == 1
