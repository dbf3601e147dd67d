"""`kata demo`: the tour, with the judge's part played by a stand-in."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from grader.practice.demo import FOLDER_PREFIX

Terminal = Any  # tests/cli/conftest.py


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def honest(grader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that sees whether the root is there."""
    made = grader.make_grade
    monkeypatch.setattr(
        grader,
        "make_grade",
        lambda *words, source, **more: made(
            *words, source=source, **more | {"missed": () if "math.sqrt" in source else ("scale",)}
        ),
    )


@pytest.mark.usefixtures("honest")
def test_the_tour_finds_a_mistake_then_passes_the_mended_answer(kata: Terminal, grader: Any) -> None:
    result = kata("demo")
    assert result.exit_code == 0
    wrong, right = (submission.source.decode() for submission, _, _ in grader.asked)
    assert "scores / self.hidden_dim" in wrong
    assert "scores / math.sqrt(self.hidden_dim)" in right
    assert result.stdout.index("A typical mistake") < result.stdout.index("The mended answer")
    pages = [Path(page) for page in re.findall(r"page for the browser: (\S+)", result.stdout)]
    assert [page.name for page in pages] == ["failed.html", "passed.html"]
    assert all(page.is_file() for page in pages)


@pytest.mark.usefixtures("honest")
def test_the_tour_touches_nothing_of_the_users(kata: Terminal, home: Path) -> None:
    kata("demo")
    assert list(kata.folder.iterdir()) == []
    assert list(home.iterdir()) == []


@pytest.mark.usefixtures("honest")
def test_it_says_where_its_files_stay_and_takes_those_of_earlier_tours_away(
    kata: Terminal, temporary_folder: Path
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    earlier = temporary_folder / f"{FOLDER_PREFIX}{ended.pid}-left"
    another = temporary_folder / f"{FOLDER_PREFIX}{os.getpid()}-now"  # a tour that goes on beside this one
    for folder in (earlier, another):
        (folder / "home").mkdir(parents=True)
    result = kata("demo")
    [made] = [folder for folder in temporary_folder.iterdir() if folder != another]
    assert f"The tour's files stay in {made} until the next tour." in result.stdout
    assert (made / "passed.html").is_file()
    assert another.is_dir()


def test_a_grader_that_gets_the_tour_wrong_is_at_fault(kata: Terminal) -> None:
    result = kata("demo")  # the stand-in passes everything
    assert result.exit_code == 3
    assert "The tour's answer should be 'failed', but it is 'passed'" in result.stderr
