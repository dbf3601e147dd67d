"""Grading a file and keeping the attempt, with all that a report tells about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from grader import workspace
from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.history import History
from grader.practice.attempts import LONG, Graded, Shown, grade_target, recall
from grader.practice.hints import hint_texts, next_hint
from grader.practice.targets import Target
from grader.records import Grade, Options, Submission

Grading = Callable[..., Graded]


@pytest.fixture
def grade_it(tmp_path: Path, catalog: Catalog, history: History, make_grade: Callable[..., Grade]) -> Grading:
    def grade_it(missed: tuple[str, ...] = (), path: Path | None = None, **options: Any) -> Graded:
        def grade(submission: Submission, kata: Kata, _: Catalog, options: Options | None = None) -> Grade:
            assert options is not None
            return make_grade(kata.id, missed=missed, source=submission.source.decode())

        file = path or tmp_path / "self_attention_v3.py"
        if path is None:
            file.write_text("class SelfAttentionV3: ...\n")
        target = Target(path=file, kata=catalog.get("v3"))
        return grade_target(target, Options(seed=7), catalog, history, grade, folder=tmp_path, **options)

    return grade_it


def test_an_attempt_is_kept_with_its_source_and_path(
    grade_it: Grading, history: History, tmp_path: Path
) -> None:
    graded = grade_it(("scale",))
    assert history.attempts() == [graded.attempt]
    assert graded.attempt is not None
    assert graded.attempt.path == tmp_path / "self_attention_v3.py"
    assert history.source(graded.attempt) == b"class SelfAttentionV3: ...\n"
    assert history.grade(graded.attempt) == graded.grade


def test_what_was_read_to_find_the_kata_is_what_is_graded(
    catalog: Catalog, history: History, tmp_path: Path, make_grade: Callable[..., Grade]
) -> None:
    seen = []

    def grade(submission: Submission, *_: object) -> Grade:
        seen.append(submission)
        return make_grade()

    read = Submission(name="a.py", source=b"as it was", sha256="c" * 64)
    (tmp_path / "a.py").write_text("as it is now")
    target = Target(path=tmp_path / "a.py", kata=catalog.get("v3"), submission=read)
    grade_target(target, Options(), catalog, history, grade, folder=tmp_path)
    assert seen == [read]


def test_a_report_says_how_to_see_the_grade_again(grade_it: Grading, tmp_path: Path) -> None:
    context = grade_it(path=_odd(tmp_path)).context
    assert context.file == "my answer.py"
    assert context.command == "kata grade 'my answer.py' v3 --seed 20481"


def _odd(folder: Path) -> Path:
    path = folder / "my answer.py"
    path.write_text("class SelfAttentionV3: ...\n")
    return path


def test_a_report_counts_attempts_and_names_the_points_before(grade_it: Grading) -> None:
    first, second = grade_it(("scale",)), grade_it()
    assert (first.context.attempt, first.context.previous_points) == (1, None)
    assert (second.context.attempt, second.context.previous_points) == (2, first.grade.points)


def test_a_report_has_the_hints_and_the_time_since_the_start(
    grade_it: Grading, catalog: Catalog, history: History, tmp_path: Path
) -> None:
    v3 = catalog.get("v3")
    workspace.start(v3, tmp_path, history)  # 10:15
    next_hint(v3, history)  # 10:16
    context = grade_it(("mask",)).context  # 10:17
    assert context.hints == hint_texts(v3)[:1]
    assert context.seconds_taken == 120
    assert context.when == "2026-11-30T10:17:00+00:00"


def test_work_of_several_days_has_no_time(
    grade_it: Grading, catalog: Catalog, history: History, tmp_path: Path, clock: Any
) -> None:
    workspace.start(catalog.get("v3"), tmp_path, history)
    clock.now += timedelta(days=2)
    assert grade_it().context.seconds_taken is None


def test_a_pass_is_followed_by_questions_and_the_next_kata(grade_it: Grading, catalog: Catalog) -> None:
    passed, failed = grade_it().context, grade_it(("mask",)).context
    assert len(passed.questions) == 3
    ids = [kata.id for kata in catalog.katas]
    assert passed.next_kata == ids[ids.index("v3") + 1]
    assert (failed.questions, failed.next_kata) == ((), None)


def test_what_was_printed_is_shown_on_request_or_when_it_may_explain(
    grade_it: Grading, tmp_path: Path
) -> None:
    assert not grade_it(("mask",)).context.show_printed
    assert grade_it(shown=Shown(verbose=True)).context.show_printed
    broken = tmp_path / "broken.py"
    broken.write_bytes(b"\0")
    assert grade_it(path=broken).context.show_printed


def test_an_unreadable_file_is_an_attempt_that_could_not_run(grade_it: Grading, tmp_path: Path) -> None:
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"# caf\xe9")
    graded = grade_it(path=latin)
    assert graded.grade.verdict == "unrunnable"
    assert graded.grade.seed == 7
    assert (
        graded.grade.reason
        == "latin.py is not UTF-8 text (byte 0xe9 on line 1). Save it again with the encoding UTF-8."
    )
    assert graded.attempt is not None
    assert graded.attempt.sha256 is None


def test_what_is_no_answer_is_no_attempt(grade_it: Grading, history: History, tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "empty.py").touch()
    for name in ("nowhere.py", "folder.py", "empty.py"):
        with pytest.raises(UsageError):
            grade_it(path=tmp_path / name)
    assert history.attempts() == []


def test_a_grade_that_cannot_be_kept_is_still_a_grade(grade_it: Grading, home: Path) -> None:
    (home / "kata").write_text("a file where the folder should be")
    graded = grade_it()
    assert graded.grade.verdict == "passed"
    assert graded.attempt is None
    assert graded.warning is not None
    assert graded.context.command


def test_the_last_attempt_can_be_recalled(
    grade_it: Grading, catalog: Catalog, history: History, tmp_path: Path
) -> None:
    graded = grade_it(("scale",), shown=LONG)
    assert recall(None, catalog, history, folder=tmp_path) == graded
    assert recall(catalog.get("v3"), catalog, history, folder=tmp_path) == graded


def test_an_older_attempt_is_counted_as_it_was(
    grade_it: Grading, catalog: Catalog, history: History, tmp_path: Path, make_grade: Callable[..., Grade]
) -> None:
    grade_it()
    history.record_attempt(make_grade("v1"), None, None)
    recalled = recall(catalog.get("v3"), catalog, history, folder=tmp_path)
    assert recalled.context.attempt == 1
    unplaced = recall(catalog.get("v1"), catalog, history, folder=tmp_path)
    assert (unplaced.context.file, unplaced.context.command) == ("", "")
