"""Other versions and other Pythons: which they are, and what an installation must do with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.project import ROOT
from tools.lowest import bound, lowest
from tools.pythons import pythons

PROJECT = """\
[project]
dependencies = ["click>=8.4", "rich>=14.2,<20", "torch>=2.6"]
[project.optional-dependencies]
cluster = ["distributed>=2025.1"]
dev = ["ruff"]
"""


def test_the_lowest_versions_are_those_of_a_users_direct_requirements(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(PROJECT, encoding="utf-8")
    assert list(lowest(path)) == ["click==8.4", "rich==14.2", "distributed==2025.1"]


@pytest.mark.parametrize("text", ["click", "click<9", "click>8"])
def test_a_requirement_without_a_lower_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="has no lower bound"):
        bound(Requirement(text))


def test_every_requirement_of_the_project_has_a_lower_bound() -> None:
    assert len(list(lowest(ROOT / "pyproject.toml"))) > 10


def interpreter(path: Path, says: str, code: int = 0) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_each_version_is_found_once_and_a_shim_that_does_not_start_is_none(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    real = "/usr/local/python 3/bin/python3.12"
    interpreter(first / "python3.12", f"cpython 3 12 1 {real}")
    interpreter(second / "python3.12", "cpython 3 12 1 /elsewhere/python3.12")
    interpreter(second / "python3.11", "cpython 3 11 2 /elsewhere/python3.11")
    interpreter(second / "python3.13", "shim: python3.13 is not chosen", code=127)
    interpreter(second / "python3.14", "pypy 3 14 0 /elsewhere/pypy")
    interpreter(second / "python3.10", "cpython 3 10 0 /elsewhere/python3.10")
    assert pythons([first, second, tmp_path / "nowhere"]) == {
        (3, 11, 2): Path("/elsewhere/python3.11"),
        (3, 12, 1): Path(real),
    }


def test_the_running_python_would_be_found_by_its_own_words(tmp_path: Path) -> None:
    name = f"python3.{sys.version_info.minor}"
    (tmp_path / name).symlink_to(sys.executable)
    assert list(pythons([tmp_path])) == [tuple(sys.version_info[:3])]


def test_the_smoke_test_is_for_an_installation_and_refuses_a_checkout() -> None:
    command = [sys.executable, "-P", str(ROOT / "tools" / "smoke.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install the wheel there" in done.stderr
