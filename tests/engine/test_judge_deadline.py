"""A judge that cannot finish: a fault of the grader in bounded time, and everybody else has a grade."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import grading
from grader.catalog import Catalog, load_catalog
from grader.cohort.run import fault
from grader.engine.messages import Request
from grader.engine.private import PrivateEngine, private_engine
from grader.engine.shared import SharedEngine
from grader.errors import GraderFault
from grader.exit_codes import OF_VERDICT, ExitCode
from grader.records import Options, Submission
from tests.engine.answers import solution, submission, wrong
from tests.engine.test_daemon import until
from tests.sampling import one_in

STUCK_CHECK = """
from grader.authoring import Candidate, check

@check("interface")
def the_judge_is_stuck_for_some_answers(candidate: Candidate) -> None:
    import re
    import time

    name = candidate.file_name
    while name == "spins.py":
        pass
    while name == "waits.py":
        time.sleep(60)
    if name == "backtracks.py":
        re.match("(1+)+$", "1" * 60 + "x")
    assert candidate.rig()
"""
WAYS = ["backtracks.py", "spins.py", "waits.py"]
OPTIONS = Options(total_seconds=1.0, seed=3)
MISSED = "The grader could not finish: its hidden checks did not end in time"


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The katas, with a check in v3 that never ends for answers of some names."""
    source = load_catalog().root
    root = tmp_path_factory.mktemp("content")
    for name in ("katas", "solutions", "templates"):
        shutil.copytree(source / name, root / name)
    checks = root / "katas" / "v3" / "checks.py"
    checks.write_text(checks.read_text(encoding="utf-8") + STUCK_CHECK, encoding="utf-8")
    settings = root / "katas" / "v3" / "kata.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("[deadlines]", "[deadlines]\njudge = 2.0"), encoding="utf-8")
    return load_catalog(root)


@pytest.fixture(scope="module")
def own_engine(stuck: Catalog) -> Iterator[PrivateEngine]:
    with private_engine(stuck) as engine:
        yield engine


def named(catalog: Catalog, name: str) -> Submission:
    return submission(solution(catalog, "v3").source, name)


# What waits is ended by the clock alone, which in a fresh interpreter allows for a cold disk: two minutes.
@pytest.mark.parametrize("name", one_in(3, WAYS))
def test_cold(stuck: Catalog, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(GraderFault, match=MISSED) as missed:
        grading.grade(named(stuck, name), stuck.get("v3"), stuck, OPTIONS)
    assert "says nothing about the answer" in missed.value.fix
    assert list(tmp_path.iterdir()) == []
    assert OF_VERDICT[fault(stuck.get("v3"), missed.value, OPTIONS).verdict] is ExitCode.GRADER_FAULT


def test_among_others_in_one_engine(stuck: Catalog, own_engine: PrivateEngine) -> None:
    before = own_engine.grade(wrong(stuck), stuck.get("v3"), stuck, Options(total_seconds=60.0))
    host = own_engine.pid

    def outcome(answer: Submission) -> str:
        try:
            return own_engine.grade(answer, stuck.get("v3"), stuck, Options(total_seconds=60.0)).verdict
        except GraderFault as missed:
            return missed.message

    answers = [*(named(stuck, name) for name in WAYS[:2]), *[solution(stuck, "v3"), wrong(stuck)] * 3]
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(outcome, answers))
    assert before.verdict == "failed"
    assert all(text.startswith(MISSED) for text in found[:2])
    assert found[2:] == ["passed", "failed"] * 3
    assert own_engine.pid == host


@pytest.mark.slow
def test_one_that_waits_is_ended_by_the_clock(stuck: Catalog, own_engine: PrivateEngine) -> None:
    with pytest.raises(GraderFault, match=MISSED):
        own_engine.grade(named(stuck, "waits.py"), stuck.get("v3"), stuck, OPTIONS)
    assert (
        own_engine.grade(wrong(stuck), stuck.get("v3"), stuck, Options(total_seconds=60.0)).verdict
        == "failed"
    )


@pytest.mark.usefixtures("runtime")
def test_through_the_user_s_engine_nobody_grades_it_again(stuck: Catalog) -> None:
    shared = SharedEngine.of(os.environ, stuck.roots)
    assert shared is not None
    shared.start()
    until(shared.is_running)
    try:
        status = shared.status()
        with pytest.raises(GraderFault, match=MISSED):
            shared.grade(Request.of(named(stuck, "backtracks.py"), stuck.get("v3"), stuck, OPTIONS))
        with pytest.raises(GraderFault, match=MISSED):
            grading.grade(named(stuck, "backtracks.py"), stuck.get("v3"), stuck, OPTIONS)
        patient = Options(total_seconds=60.0)
        assert grading.grade(wrong(stuck), stuck.get("v3"), stuck, patient).verdict == "failed"
        after = shared.status()
        assert status is not None
        assert after is not None
        assert (after.pid, after.host, after.grades) == (status.pid, status.host, 3)
    finally:
        shared.stop()
