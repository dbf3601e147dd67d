"""What the history keeps, and what it says when it cannot."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import migrations
from grader.database import Database, HistoryUnavailable
from grader.history import History
from grader.records import Grade, Submission

MakeGrade = Callable[..., Grade]


def test_a_history_that_was_never_written_is_empty_and_makes_no_file(history: History) -> None:
    assert history.attempts() == []
    assert history.starts() == []
    assert history.best() == {}
    assert history.hints_taken("v3") == 0
    assert history.solutions_seen() == {}
    assert not history.path.parent.exists()


def test_an_attempt_comes_back_as_it_was_kept(
    history: History, make_grade: MakeGrade, submission: Submission, tmp_path: Path
) -> None:
    grade = make_grade(missed=("scale", "mask"))
    kept = history.record_attempt(grade, submission, tmp_path / "a.py")
    history.close()  # what comes back is read from the disk
    [attempt] = history.attempts()
    assert attempt == kept
    assert attempt.at == datetime(2026, 11, 30, 10, 15, tzinfo=UTC)
    assert (attempt.kata, attempt.verdict, attempt.origin) == ("v3", "failed", "grade")
    assert (attempt.points, attempt.max_points) == (grade.points, grade.max_points)
    assert (attempt.seconds, attempt.seed) == (0.25, 20481)
    assert attempt.missed == ("scale", "mask")
    assert history.grade(attempt) == grade
    assert history.source(attempt) == submission.source


def test_a_lost_optional_concept_is_not_missed(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    grade = make_grade(missed=("robustness",), verdict="passed")
    assert history.record_attempt(grade, submission, None).missed == ()


def test_a_file_that_could_not_be_read_leaves_an_attempt_without_source(
    history: History, make_grade: MakeGrade, tmp_path: Path
) -> None:
    history.record_attempt(make_grade(verdict="unrunnable"), None, tmp_path / "a.py")
    [attempt] = history.attempts()
    assert attempt.sha256 is None
    assert history.source(attempt) is None


def test_the_same_source_is_kept_once(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    for _ in range(3):
        history.record_attempt(make_grade(), submission, None)
    with sqlite3.connect(history.path) as connection:
        assert connection.execute("SELECT count(*) FROM sources").fetchone() == (1,)
    connection.close()
    assert len(history.attempts()) == 3


def test_attempts_come_latest_first_and_can_be_narrowed(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    kept = [history.record_attempt(make_grade(kata), submission, None) for kata in ("v1", "v2", "v1")]
    assert history.attempts() == kept[::-1]
    assert history.attempts("v1") == [kept[2], kept[0]]
    assert history.attempts(limit=1) == [kept[2]]


def test_the_best_attempt_is_a_pass_even_with_fewer_points(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    history.record_attempt(make_grade(missed=("scale", "mask")), submission, None)
    history.record_attempt(make_grade(missed=("robustness",), verdict="passed"), submission, None)
    history.record_attempt(make_grade(verdict="failed"), submission, None)  # all points, but a gate failed
    best = history.best()["v3"]
    assert (best.attempts, best.passed) == (3, True)
    assert best.points == best.max_points - 1


def test_an_attempt_knows_when_work_on_its_file_began(
    history: History, make_grade: MakeGrade, submission: Submission, tmp_path: Path
) -> None:
    history.record_start("v3", tmp_path / "a.py", "start")
    again = history.record_start("v3", tmp_path / "a.py", "reset")
    history.record_start("v1", tmp_path / "a.py", "start")
    history.record_start("v3", tmp_path / "b.py", "start")
    known = history.record_attempt(make_grade(), submission, tmp_path / "a.py")
    unknown = history.record_attempt(make_grade(), submission, tmp_path / "c.py")
    assert history.began(known) == again.at
    assert history.began(unknown) is None


def test_starts_are_found_by_kata_file_and_folder(history: History, tmp_path: Path) -> None:
    first = history.record_start("v1", tmp_path / "one" / "a.py", "start")
    second = history.record_start("v2", tmp_path / "one" / "b.py", "found")
    third = history.record_start("v1", tmp_path / "two" / "a.py", "start")
    assert history.starts() == [third, second, first]
    assert history.starts(kata="v1") == [third, first]
    assert history.starts(folder=tmp_path / "one") == [second, first]
    assert history.starts(path=tmp_path / "one" / "a.py", kata="v1") == [first]


def test_hints_come_one_by_one_and_the_last_stays(history: History) -> None:
    assert [history.take_hint("v3", 3) for _ in range(5)] == [1, 2, 3, 3, 3]
    assert history.take_hint("v1", 3) == 1
    assert history.hints_taken("v3") == 3


def test_a_new_start_begins_without_hints_but_finding_the_file_does_not(
    history: History, make_grade: MakeGrade, submission: Submission, tmp_path: Path
) -> None:
    history.record_start("v3", tmp_path / "a.py", "start")
    history.take_hint("v3", 3)
    history.take_hint("v3", 3)
    history.record_start("v3", tmp_path / "a.py", "found")
    assert history.hints_taken("v3") == 2
    assert history.record_attempt(make_grade(), submission, None).hints == 2
    history.record_start("v3", tmp_path / "a.py", "reset")
    assert history.hints_taken("v3") == 0
    assert history.take_hint("v3", 3) == 1


def test_the_first_sight_of_a_solution_is_what_counts(history: History) -> None:
    history.record_solution_seen("v3", gave_up=True)
    history.record_solution_seen("v3", gave_up=False)
    assert history.solutions_seen() == {"v3": datetime(2026, 11, 30, 10, 15, tzinfo=UTC)}


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")
def test_a_path_that_is_not_utf8_is_found_again(history: History) -> None:
    path = Path(os.fsdecode(b"/home/caf\xe9/a.py"))
    history.record_start("v3", path, "start")
    assert [start.kata for start in history.starts(path=path)] == ["v3"]


def test_a_failed_write_keeps_nothing(history: History, make_grade: MakeGrade) -> None:
    unfit = Submission(name="a.py", source=b"text", sha256="b" * 64)
    with pytest.raises(HistoryUnavailable, match="NOT NULL"):
        history.record_attempt(make_grade(), unfit, None, origin=None)  # type: ignore[arg-type]
    with sqlite3.connect(history.path) as connection:
        assert connection.execute("SELECT count(*) FROM sources").fetchone() == (0,)
    connection.close()


# Troubles


def test_a_damaged_file_is_named_and_left_alone(history: History) -> None:
    history.path.parent.mkdir()
    history.path.write_bytes(b"this is no database, but somebody's letter\n" * 40)
    for use in (history.attempts, lambda: history.take_hint("v3", 3)):
        with pytest.raises(HistoryUnavailable) as raised:
            use()
        assert f"{history.path} is damaged" in raised.value.message
        assert "Move the file away" in raised.value.fix
    assert history.path.read_bytes().startswith(b"this is no database")


def test_a_history_of_a_newer_program_is_named_and_left_alone(history: History) -> None:
    history.take_hint("v3", 3)
    history.close()
    with sqlite3.connect(history.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(HistoryUnavailable) as raised:
        history.hints_taken("v3")
    assert "written by a newer kata (schema 99" in raised.value.message
    with sqlite3.connect(history.path) as connection:
        assert connection.execute("SELECT count(*) FROM hints").fetchone() == (1,)
    connection.close()


def test_a_history_that_another_program_holds_says_so(history: History) -> None:
    history.take_hint("v3", 3)
    other = sqlite3.connect(history.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(HistoryUnavailable, match="is in use by another program"):
        history.take_hint("v3", 3)
    other.close()
    assert history.take_hint("v3", 3) == 2


def test_a_home_that_cannot_be_written_says_so(home: Path, history: History) -> None:
    (home / "kata").write_text("a file where the folder should be")
    with pytest.raises(HistoryUnavailable, match="may not be written to") as raised:
        history.take_hint("v3", 3)
    assert "KATA_HOME" in raised.value.fix


def test_a_folder_in_the_place_of_the_file_says_so(history: History) -> None:
    history.path.mkdir(parents=True)
    with pytest.raises(HistoryUnavailable, match="may not be written to"):
        history.attempts()


def test_a_full_disk_says_so_and_keeps_what_was_there(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    history.record_attempt(make_grade(), submission, None)
    history.close()
    program = f"""
import datetime, pathlib, resource, sys
from grader.database import HistoryUnavailable
from grader.history import History
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
history = History(pathlib.Path({str(history.path)!r}), lambda: datetime.datetime.now(datetime.UTC))
try:
    for number in range(10_000):
        history.record_start("v3", pathlib.Path("/home/somebody/" + "long" * 100), "start")
except HistoryUnavailable as error:
    print(error.message)
"""
    run = subprocess.run(
        [sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert "cannot be read or written" in run.stdout
    assert len(history.attempts()) == 1


def test_a_grade_that_cannot_be_read_says_which(
    history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    attempt = history.record_attempt(make_grade(), submission, None)
    with sqlite3.connect(history.path) as connection:
        connection.execute("UPDATE attempts SET grade = '{\"kata\": 3}'")
    connection.close()
    with pytest.raises(HistoryUnavailable, match="The grade that v3 got at 2026-11-30T10:15"):
        history.grade(attempt)


# Several processes

WRITER = """
import datetime, pathlib, sys
from grader.history import History
path, name, count = sys.argv[1:]
sys.stdin.readline()  # both begin at once
with History(pathlib.Path(path), lambda: datetime.datetime.now(datetime.UTC)) as history:
    for number in range(int(count)):
        history.record_start(name, pathlib.Path(f"/home/{name}/{number}.py"), "start")
"""


def test_two_processes_that_begin_a_history_at_once_lose_no_row(history: History) -> None:
    command = [sys.executable, "-c", WRITER, str(history.path)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name, "60"], **pipes) for name in ("one", "two")]  # type: ignore[call-overload]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert (writer.returncode, errors) == (0, "")
    assert len(history.starts(kata="one")) == len(history.starts(kata="two")) == 60


def test_a_writer_has_the_file_from_its_first_word_on(history: History) -> None:
    """Not from its first write: what it read before that would be out of date, and its write refused."""
    history.take_hint("v3", 3)
    with closing(Database(history.path, 0.1)) as one, closing(Database(history.path, 0.1)) as other:
        with one.writing() as connection:
            connection.execute("SELECT count(*) FROM hints").fetchone()
            with pytest.raises(HistoryUnavailable, match="in use by another program"), other.writing():
                pass
            connection.execute("UPDATE hints SET number = 2")
        assert [row[0] for row in other.rows("SELECT number FROM hints")] == [2]


def test_the_history_uses_a_write_ahead_log(history: History) -> None:
    history.take_hint("v3", 3)
    with sqlite3.connect(history.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


# Migrations


def test_a_database_gets_only_the_steps_it_lacks(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    first, second = ("CREATE TABLE a (x)",), ("CREATE TABLE b (x)", "INSERT INTO b VALUES (1)")
    migrations.migrate(connection, (first,))
    migrations.migrate(connection, (first, second))
    migrations.migrate(connection, (first, second))
    assert migrations.version(connection) == 2
    assert connection.execute("SELECT count(*) FROM b").fetchone() == (1,)
    connection.close()


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        migrations.migrate(connection, (("CREATE TABLE a (x)", "CREATE TABLE a (x)"),))
    assert migrations.version(connection) == 0
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


class Overtaken(sqlite3.Connection):
    """While it waits for the lock, a newer program brings the file to a schema of its own."""

    def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
        if sql == "BEGIN IMMEDIATE":
            super().execute("PRAGMA user_version = 9")
        return super().execute(sql, *more)


def test_a_database_that_a_newer_program_brought_on_meanwhile_stays_the_newer_one_s(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None, factory=Overtaken)
    migrations.migrate(connection, (("CREATE TABLE a (x)",), ("CREATE TABLE b (x)",)))
    assert migrations.version(connection) == 9
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


def test_every_row_has_an_id_that_is_the_same_everywhere(history: History) -> None:
    history.take_hint("v3", 3)
    with sqlite3.connect(history.path) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    assert {name for name, sql in tables if "uuid        TEXT NOT NULL UNIQUE" not in sql} == {"sources"}
