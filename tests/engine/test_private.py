"""An engine of one's own: right verdicts, one after another and at once; what is lost is graded elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from grader.catalog import Catalog, load_catalog
from grader.engine import private
from grader.engine.client import EngineLost, Pending, expect_life
from grader.engine.messages import Request
from grader.engine.private import PrivateEngine, private_engine
from grader.engine.subprocess_grade import grade_in_subprocess
from grader.errors import GraderFault
from grader.records import Grade, Options
from tests.engine.answers import HANGS, solution, submission, timeless, wrong
from tests.engine.cleared import grade_and_clear, host_process
from tests.engine.test_daemon import until
from tests.engine.test_nothing_left import children
from tests.sampling import some


@pytest.mark.parametrize("kata", some(4, [kata.id for kata in load_catalog().katas]))
def test_a_solution_passes(engine: PrivateEngine, catalog: Catalog, kata: str) -> None:
    grade = engine.grade(solution(catalog, kata), catalog.get(kata), catalog)
    assert (grade.verdict, grade.points) == ("passed", catalog.get(kata).max_points)


def test_the_seed_decides_everything(engine: PrivateEngine, catalog: Catalog) -> None:
    first, second = (
        engine.grade(wrong(catalog), catalog.get("v3"), catalog, Options(seed=7)) for _ in range(2)
    )
    assert first.verdict == "failed"
    assert first.diagnosis
    assert timeless(first) == timeless(second)


def test_without_a_seed_each_grade_draws_its_own(engine: PrivateEngine, catalog: Catalog) -> None:
    seeds = {engine.grade(solution(catalog, "v1"), catalog.get("v1"), catalog).seed for _ in range(3)}
    assert len(seeds) == 3


def test_threads_share_it(engine: PrivateEngine, catalog: Catalog) -> None:
    answers = [(solution(catalog, "v3"), "passed"), (wrong(catalog), "failed")] * 4
    with ThreadPoolExecutor(4) as threads:
        grades = threads.map(lambda pair: engine.grade(pair[0], catalog.get("v3"), catalog), answers)
    assert [grade.verdict for grade in grades] == [verdict for _, verdict in answers]


def test_a_hanging_answer_is_a_time_out_and_holds_nobody_else_up(
    engine: PrivateEngine, catalog: Catalog
) -> None:
    kata = catalog.get("v1")
    hanging = submission(HANGS)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(engine.grade, hanging, kata, catalog, Options(total_seconds=2.0))
        quick = engine.grade(solution(catalog, "v1"), kata, catalog)
        assert not slow.done()
        assert quick.verdict == "passed"
        assert slow.result().verdict == "unrunnable"


def test_a_fault_of_the_content_is_told_as_one(
    engine: PrivateEngine, catalog: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "katas" / "v1"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "family.py").write_text("raise ImportError('half-written')\n", encoding="utf-8")
    broken = msgspec.structs.replace(catalog, root=tmp_path)
    with pytest.raises(GraderFault, match=r"kata v1.*half-written"):
        engine.grade(solution(catalog, "v1"), catalog.get("v1"), broken)


def test_a_kata_whose_code_does_not_load_costs_the_others_nothing(catalog: Catalog, tmp_path: Path) -> None:
    """The template is there, and forks their judges."""
    for name in ("katas", "solutions"):
        shutil.copytree(catalog.root / name, tmp_path / name)
    (tmp_path / "katas" / "v4" / "mistakes.py").write_text("raise ImportError('half-written')\n")
    broken = load_catalog(tmp_path)
    with host_process(broken) as host:
        right, missed = (
            Request.of(solution(catalog, kata), broken.get(kata), broken, Options()) for kata in ("v1", "v4")
        )
        assert grade_and_clear(host, right).verdict == "passed"
        with pytest.raises(GraderFault, match=r"kata v4.*half-written"):
            grade_and_clear(host, missed)


def test_a_cancelled_grade_ends_and_the_next_one_is_right(engine: PrivateEngine, catalog: Catalog) -> None:
    kata = catalog.get("v1")
    hanging = submission(HANGS)
    pending = engine.begin(Request.of(hanging, kata, catalog, Options()))
    threading.Timer(0.2, pending.cancel).start()
    with pytest.raises(EngineLost):
        pending.result()
    assert engine.grade(solution(catalog, "v1"), kata, catalog).verdict == "passed"


@pytest.mark.slow
def test_a_killed_host_costs_no_verdict_and_is_replaced(catalog: Catalog) -> None:
    with private_engine(catalog) as engine:
        before = engine.grade(wrong(catalog), catalog.get("v3"), catalog, Options(seed=3))
        first = engine.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        lost = engine.grade(wrong(catalog), catalog.get("v3"), catalog, Options(seed=3))
        assert engine.pid not in (None, first)  # another is there for the next
        again = engine.grade(wrong(catalog), catalog.get("v3"), catalog, Options(seed=3))
    assert timeless(before) == timeless(lost) == timeless(again)


def test_the_grades_of_a_killed_host_are_made_by_the_next_one(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them at once in fresh interpreters would be the overload that lost the host."""

    def cold(*_: object) -> Grade:
        raise AssertionError("it started cold")

    monkeypatch.setattr(private, "grade_in_subprocess", cold)
    kata = catalog.get("v1")
    with private_engine(catalog) as engine, ThreadPoolExecutor(4) as threads:
        assert engine.grade(solution(catalog, "v1"), kata, catalog).verdict == "passed"
        host = engine.pid
        assert host is not None
        until(lambda: len(children(host)) == 1)
        hanging = submission(HANGS)
        under_way = [
            threads.submit(engine.grade, hanging, kata, catalog, Options(total_seconds=1.0)) for _ in range(4)
        ]
        until(lambda: len(children(host)) == 5)
        os.kill(host, signal.SIGKILL)
        assert {grade.result().verdict for grade in under_way} == {"unrunnable"}
        assert engine.pid != host


def test_a_host_that_still_answers_others_is_not_ended(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was late with its sign of life, as on a machine that has much else to do."""
    kata = catalog.get("v1")
    right = solution(catalog, "v1")
    with private_engine(catalog) as engine:
        assert engine.grade(right, kata, catalog).verdict == "passed"
        host = engine.pid

        def late(_: object) -> None:
            monkeypatch.setattr(private, "expect_life", expect_life)
            assert engine.grade(right, kata, catalog).verdict == "passed"
            raise TimeoutError

        def lost(_: object) -> Grade:
            monkeypatch.setattr(Pending, "result", result)
            raise EngineLost("no sign of life")

        result = Pending.result
        monkeypatch.setattr(private, "expect_life", late)
        monkeypatch.setattr(Pending, "result", lost)
        assert engine.grade(right, kata, catalog).verdict == "passed"
        assert engine.pid == host


def test_a_killed_judge_costs_nobody_else_the_host(engine: PrivateEngine, catalog: Catalog) -> None:
    kata = catalog.get("v1")
    assert engine.grade(solution(catalog, "v1"), kata, catalog).verdict == "passed"  # so it is ready
    host = engine.pid
    assert host is not None
    until(lambda: len(children(host)) == 1)  # the worker of that grade has gone
    [template] = children(host)
    with ThreadPoolExecutor(2) as threads:
        hanging = threads.submit(engine.grade, submission(HANGS), kata, catalog, Options(total_seconds=1.0))
        until(lambda: children(template))
        os.kill(children(template)[0], signal.SIGKILL)
        assert engine.grade(solution(catalog, "v1"), kata, catalog).verdict == "passed"
        assert hanging.result().verdict == "unrunnable"
    assert engine.pid == host


def test_one_grade_in_a_process_of_its_own(catalog: Catalog) -> None:
    grade = grade_in_subprocess(wrong(catalog), catalog.get("v3"), catalog, Options(seed=3))
    assert grade.verdict == "failed"
