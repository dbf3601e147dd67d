"""The `only` contract of import-linter, on a small program: what is not allowed is forbidden, by any way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.project import ROOT

CONFIGURATION = """
[tool.importlinter]
root_package = "house"
include_external_packages = true
contract_types = ["only: tools.contracts.OnlyContract"]

[[tool.importlinter.contracts]]
name = "The kitchen"
type = "only"
room = "house.kitchen"
allowed_modules = ["house.cellar"]
"""

MODULES = {
    "__init__.py": "",
    "kitchen/__init__.py": "",
    "kitchen/oven.py": "import json\n\nimport house\nfrom house.kitchen import pan\n",
    "kitchen/pan.py": "from house.cellar import shelf\n",
    "cellar/__init__.py": "",
    "cellar/shelf.py": "",
    "attic.py": "",
}


def lint(folder: Path, changed: dict[str, str | None]) -> subprocess.CompletedProcess[str]:
    """import-linter's word on the small program, with some modules changed, or taken away (`None`)."""
    for name, text in {**MODULES, **changed}.items():
        if text is not None:
            path = folder / "house" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (folder / "pyproject.toml").write_text(CONFIGURATION, encoding="utf-8")
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_room_that_keeps_to_what_it_may_import_is_kept(tmp_path: Path) -> None:
    done = lint(tmp_path, {})
    assert (done.returncode, "The kitchen KEPT" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("changed", "way"),
    [
        ({"kitchen/pan.py": "from house import attic\n"}, "house.kitchen.pan -> house.attic"),
        (
            {"cellar/shelf.py": "def up():\n    import house.attic\n"},
            "house.kitchen.pan -> house.cellar.shelf -> house.attic",
        ),
    ],
    ids=["directly", "by way of an allowed one, inside a function"],
)
def test_a_module_that_is_not_allowed_is_named_with_the_way_to_it(
    tmp_path: Path, changed: dict[str, str], way: str
) -> None:
    done = lint(tmp_path, changed)
    assert done.returncode != 0
    assert "The kitchen BROKEN" in done.stdout
    assert f"- {way}\n" in done.stdout


def test_a_name_that_only_begins_like_an_allowed_one_is_not_allowed(tmp_path: Path) -> None:
    done = lint(tmp_path, {"cellar_door.py": "", "kitchen/pan.py": "from house import cellar_door\n"})
    assert "- house.kitchen.pan -> house.cellar_door\n" in done.stdout


def test_a_contract_about_a_room_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    gone = {"cellar/__init__.py": None, "cellar/shelf.py": None, "kitchen/pan.py": ""}
    done = lint(tmp_path, gone)
    assert done.returncode != 0
    assert "Module 'house.cellar' does not exist." in done.stdout + done.stderr
