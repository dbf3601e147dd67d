"""Kata content sees the program through one door: `grader.authoring`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.packaging.project import ROOT

CONTENT = sorted(path for path in (ROOT / "katas").rglob("*.py") if path.name not in {"stub.py", "blank.py"})
PAPER = sorted([*(ROOT / "katas").rglob("stub.py"), *(ROOT / "katas").rglob("blank.py")])
SOLUTIONS = sorted((ROOT / "solutions").glob("*.py"))


def imported(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            names.add(node.module)
    return names


def strangers(path: Path, allowed: set[str]) -> set[str]:
    return {
        name
        for name in imported(path)
        if name not in allowed
        and name.split(".")[0] not in allowed
        and name.split(".")[0] not in sys.stdlib_module_names
    }


@pytest.mark.parametrize("path", CONTENT, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_checks_and_mistakes_import_the_authors_api_and_torch_only(path: Path) -> None:
    assert strangers(path, {"grader.authoring", "kata_content", "torch", "pytest"}) == set()


@pytest.mark.parametrize("path", [*PAPER, *SOLUTIONS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_candidate_reads_imports_torch_only(path: Path) -> None:
    assert strangers(path, {"torch"}) == set()
