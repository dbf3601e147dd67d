"""The `only` contract of import-linter, on a small program: what is not allowed is forbidden, by any way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.packaging.project import ROOT

CONFIGURATION = """
[tool.importlinter]
root_package = "house"
include_external_packages = true
contract_types = [
    "only: tools.contracts.OnlyContract",
    "directly: tools.contracts.DirectlyContract",
    "acyclic: tools.contracts.AcyclicContract",
]

[[tool.importlinter.contracts]]
name = "The kitchen"
type = "only"
room = "house.kitchen"
allowed_modules = ["house.cellar"]

[[tool.importlinter.contracts]]
name = "The kitchen's own"
type = "directly"
room = "house.kitchen"
allowed_modules = ["house.cellar"]

[[tool.importlinter.contracts]]
name = "No circle"
type = "acyclic"
root = "house"
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


def test_what_an_allowed_room_imports_is_its_own_affair_where_only_statements_count(tmp_path: Path) -> None:
    done = lint(tmp_path, {"cellar/shelf.py": "import house.attic\n"})
    assert "The kitchen BROKEN" in done.stdout
    assert "The kitchen's own KEPT" in done.stdout
    done = lint(tmp_path, {"kitchen/pan.py": "from house import attic\n"})
    assert "The kitchen's own BROKEN" in done.stdout


@pytest.mark.parametrize(
    ("changed", "circle"),
    [
        ({"kitchen/pan.py": "from house.kitchen import oven\n"}, ("kitchen.oven", "kitchen.pan")),
        (
            {
                "cellar/shelf.py": "def up():\n    import house.attic\n",
                "attic.py": "import house.kitchen.pan\n",
            },
            ("attic", "cellar", "kitchen"),
        ),
    ],
    ids=["two modules", "three rooms, of which no module imports in a circle"],
)
def test_a_circle_is_named(tmp_path: Path, changed: dict[str, str], circle: tuple[str, ...]) -> None:
    if "attic" in circle:  # the room whose module imports is not the module that is imported
        changed = {**changed, "kitchen/oven.py": "from house.cellar import shelf\n", "kitchen/pan.py": ""}
    done = lint(tmp_path, changed)
    assert "No circle BROKEN" in done.stdout
    [way] = [
        line for line in done.stdout.splitlines() if " -> " in line and line.count("house") == len(circle) + 1
    ]
    assert {name.removeprefix("house.") for name in way.removeprefix("- ").split(" -> ")} == set(circle)


def test_every_room_of_the_table_has_a_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    held = {
        name
        for contract in contracts["contracts"]
        for key in ("room", "source_modules", "protected_modules")
        for name in ([contract[key]] if key == "room" and key in contract else contract.get(key, []))
    }
    table = (
        (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## The rooms")[2].partition("##")[0]
    )
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `grader/")]
    rooms = {
        name.removesuffix("/").removesuffix(".py").replace("/", ".")
        for row in rows
        for name in re.findall(r"`([^`]+)`", row)
    }
    assert len(rooms) > 20
    assert rooms - held == set()
