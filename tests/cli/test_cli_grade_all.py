"""`kata grade-all`, as a command, with a real engine; its parts are tested beside their modules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog

Terminal = Any  # tests/cli/conftest.py


@pytest.fixture
def answers(kata: Terminal, catalog: Catalog) -> Path:
    folder: Path = kata.folder / "in"
    folder.mkdir()
    right = catalog.get("v3").solution.read_text(encoding="utf-8")
    (folder / "ada.py").write_text(right, encoding="utf-8")
    (folder / "bob.py").write_text(
        right.replace("math.sqrt(self.hidden_dim)", "self.hidden_dim"), encoding="utf-8"
    )
    (folder / "notes.py").write_text("x = 1\n", encoding="utf-8")
    return folder


@pytest.mark.usefixtures("answers")
def test_every_answer_gets_its_verdict(kata: Terminal) -> None:
    result = kata("grade-all", "in", "--jobs", "2", "--isolation", "standard", "--output", "out")
    assert result.exit_code == 1, result.stderr  # not every entry has a verdict
    assert "✓ ada.py  v3  17/17" in result.stdout
    assert "✕ bob.py  v3  15/17  scale_by_d" in result.stdout
    assert "· notes.py  -" in result.stdout
    assert "1 of 2 passed. 1 not graded." in result.stdout
    lines = (kata.folder / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["name"] for line in lines} == {"ada.py", "bob.py", "notes.py"}

    again = kata("grade-all", "in", "--isolation", "standard", "--output", "out", "--open")
    assert "2 of 3 are graded already." in again.stdout
    assert kata.browsed == [kata.folder / "out" / "index.html"]


def test_a_path_that_holds_nothing_is_wrong_usage(kata: Terminal) -> None:
    (kata.folder / "empty").mkdir()
    result = kata("grade-all", "empty", "--isolation", "process")
    assert result.exit_code == 2
    assert "no answers in empty" in result.stderr


@pytest.mark.parametrize("setting", ["", "process", "standard", "nonsense"])
def test_without_strict_isolation_nothing_is_graded(
    kata: Terminal, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    from grader.cli import grade_all

    monkeypatch.setenv("KATA_ISOLATION", setting)  # it is for one's own files
    monkeypatch.setattr(grade_all, "missing_for_strict", lambda: ("landlock",))
    result = kata("grade-all", "nowhere")
    assert result.exit_code == 3
    assert "strict isolation needs landlock" in result.stderr
    assert not (kata.folder / "kata-results").exists()


@pytest.mark.usefixtures("answers")
def test_a_scheduler_that_is_not_there_is_wrong_usage(
    kata: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.cohort import cluster

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    result = kata("grade-all", "in", "--scheduler", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in result.stderr
