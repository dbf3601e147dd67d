"""What `kata doctor` finds out."""

from __future__ import annotations

import importlib.metadata
import os
import shlex
import sys
from pathlib import Path

import pytest

from grader import doctor
from grader.catalog import Catalog
from grader.doctor import Section, examine
from grader.history import History


def program(folder: Path, body: str) -> str:
    """An executable that stands for the interpreter in which PyTorch is imported."""
    path = folder / "python"
    # A line #! takes no interpreter whose path has a space.
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(body)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def section(sections: tuple[Section, ...], title: str) -> dict[str, str]:
    [found] = [section for section in sections if section.title == title]
    return {finding.name: finding.value for finding in found.findings}


@pytest.fixture
def python(tmp_path: Path) -> str:
    return program(tmp_path, "print('2.13.0 2 False')")


def test_a_healthy_machine(home: Path, history: History, python: str, catalog: Catalog) -> None:
    found = examine(home / "kata", history, python=python)
    assert all(section.healthy for section in found)
    assert section(found, "kata")["Python"].startswith("3.")
    assert section(found, "PyTorch")["import"].startswith("2.13.0 in ")
    assert section(found, "PyTorch")["CUDA"] == "none"
    assert section(found, "katas")["katas"].startswith(", ".join(kata.id for kata in catalog.katas))
    assert section(found, "history")["file"] == "none yet: the first attempt makes it"
    assert "rlimits" in section(found, "isolation")
    assert not history.path.exists()


def test_the_users_name_is_not_in_it(home: Path, history: History, python: str) -> None:
    history.take_hint("v1", 3)
    found = examine(home / "kata", history, python=python)
    assert section(found, "history")["home"] == str(Path("~") / "kata")
    assert section(found, "history")["file"].startswith("0 attempts, ")
    assert all(str(home) not in finding.value for section in found for finding in section.findings)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import no_such_torch", "fails: ModuleNotFoundError: No module named 'no_such_torch'"),
        ("import os; os._exit(9)", "fails: exit code 9"),
        ("import time; time.sleep(60)", "took longer than 0 s"),
    ],
)
def test_a_torch_that_does_not_import_is_not_fine(
    home: Path, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    if "sleep" in body:
        monkeypatch.setattr(doctor, "_TORCH_SECONDS", 0.3)
    found = examine(home, history, python=program(tmp_path, body))
    assert section(found, "PyTorch") == {"import": said}
    assert [section.title for section in found if not section.healthy] == ["PyTorch"]


def test_an_interpreter_that_does_not_start_is_not_fine(home: Path, history: History, tmp_path: Path) -> None:
    found = examine(home, history, python=str(tmp_path / "nowhere"))
    assert "does not start" in section(found, "PyTorch")["import"]


def test_a_damaged_history_is_not_fine(home: Path, history: History, python: str) -> None:
    history.path.parent.mkdir()
    history.path.write_bytes(b"no database" * 100)
    found = examine(home, history, python=python)
    assert "is damaged" in section(found, "history")["file"]


def test_missing_katas_are_not_fine(
    home: Path, history: History, tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.catalog.content_root", lambda: tmp_path)
    found = examine(home, history, python=python)
    assert section(found, "katas")["katas"].startswith("No katas in")


def test_a_missing_package_is_not_fine(
    home: Path, history: History, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = ["no-such-package>=1", "click>=8.2", "also-missing; extra == 'dev'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: needs)
    found = section(examine(home, history, python=python), "packages")
    assert found["no-such-package"] == "is not installed"
    assert list(found) == ["no-such-package", "click"]


def test_a_checkout_that_is_not_installed_says_so(
    home: Path, history: History, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", unknown)
    found = section(examine(home, history, python=python), "packages")
    assert found == {"attention-kata": "runs from a checkout, not installed"}


def test_a_home_of_ones_own_is_mentioned(home: Path, history: History, python: str) -> None:
    assert os.environ["KATA_HOME"]
    assert section(examine(home, history, python=python), "history")["KATA_HOME"] == "set"
