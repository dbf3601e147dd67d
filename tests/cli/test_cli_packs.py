"""Packs at the command line: named, graded, remembered, and said to be left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.records import Grade
from tests.packs.making import edit, make_pack

Terminal = Any  # tests/cli/conftest.py


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return make_pack(tmp_path / "pack", "first", "second")


@pytest.fixture
def grades_anything(grader: Any, make_grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch) -> None:
    def made(kata: str, **more: Any) -> Grade:
        return msgspec.structs.replace(make_grade("v1", **more), kata=kata)

    monkeypatch.setattr(grader, "make_grade", made)


@pytest.mark.usefixtures("grades_anything")
def test_a_packs_kata_is_started_graded_and_remembered_under_its_full_name(
    kata: Terminal, pack: Path
) -> None:
    assert "first.py" in kata("--katas", pack, "start", "first").stdout
    assert kata("grade").exit_code == 0
    [attempt] = json.loads(kata("history", "--json").stdout)["attempts"]
    assert attempt["kata"] == "demo.first"
    listed = json.loads(kata("list", "--json", "--passed").stdout)["katas"]
    assert [(one["id"], one["track"]) for one in listed] == [("demo.first", "demo")]
    assert "Demo, level 1." in kata("show", "demo.first").stdout
    assert "Hint" in kata("hint", "first").stdout or "hint" in kata("hint", "first").stdout
    assert "class First" in kata("solution", "first").stdout


@pytest.mark.usefixtures("grades_anything")
def test_what_a_pack_left_in_the_history_is_not_another_packs(
    kata: Terminal, pack: Path, tmp_path: Path
) -> None:
    kata("--katas", pack, "start", "first")
    kata("grade")
    kata.app.katas = (make_pack(tmp_path / "other", "first", name="other"),)
    del kata.app.__dict__["catalog"]
    assert json.loads(kata("list", "--json", "--passed").stdout)["katas"] == []
    assert kata("show", "first").exit_code == 0


def test_a_path_in_the_environment_is_read(
    kata: Terminal, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PATH", str(pack))
    assert "demo.second" in kata("list").stdout


def test_what_is_left_out_is_said_beside_the_list(kata: Terminal, pack: Path) -> None:
    edit(pack / "katas" / "second" / "kata.toml", 'id = "second"', 'id = "abort"')
    result = kata("--katas", pack, "list")
    assert result.exit_code == 0
    assert "demo.first" in result.stdout
    assert "Left out: " in result.stderr
    assert "no kata can be called 'abort'" in result.stderr
    asked = kata("start", "second")
    assert asked.exit_code == 2
    assert "no kata can be called 'abort'" in asked.stderr
    assert "demo.first" in kata().stdout


def test_a_folder_that_is_no_pack_is_wrong_usage(kata: Terminal, tmp_path: Path) -> None:
    result = kata("--katas", tmp_path, "list")
    assert result.exit_code == 2
    assert "is no pack of katas" in result.stderr
    assert "Traceback" not in result.output


def test_doctor_lists_packs_and_what_is_left_out(kata: Terminal, pack: Path) -> None:
    edit(pack / "katas" / "second" / "kata.toml", 'id = "second"', 'id = "v1"')
    shown = kata("--katas", pack, "doctor").stdout
    assert "ok pack demo: 0.3, katas: 1, in " in shown
    assert "!! left out: " in shown
    assert "the id 'v1' is taken" in shown


def test_new_writes_a_kata_and_says_what_comes_next(kata: Terminal) -> None:
    result = kata("new", "rolling", "mine", "--like", "v1")
    assert "kata lint mine" in result.stdout
    assert (kata.folder / "mine" / "katas" / "rolling" / "kata.toml").is_file()
    del kata.app.__dict__["catalog"]
    assert "mine.rolling" in kata("--katas", kata.folder / "mine", "list").stdout
    again = kata("new", "rolling", "mine", "--like", "v1")
    assert again.exit_code == 2
