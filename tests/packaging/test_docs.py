"""The papers keep up with the program: every promise they make is held against it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalog import load_catalog
from grader.exit_codes import ExitCode
from tests.packaging.project import ROOT, readme_command
from tools.check import STEPS

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPERS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def paper(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_command_is_in_the_readme(tmp_path: Path) -> None:
    kata = shutil.which("kata", path=str(Path(sys.executable).parent))
    assert kata is not None
    environment = {**os.environ, "KATA_HOME": str(tmp_path), "COLUMNS": "100", "NO_COLOR": "1"}
    shown = subprocess.run(
        [kata, "--help"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    commands = re.findall(r"^  ([a-z][a-z-]*)(?:  |$)", shown, re.MULTILINE)
    assert {"list", "start", "grade", "demo"} <= set(commands)
    assert [name for name in commands if not re.search(rf"`?kata {name}\b", README)] == []


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_in_the_readme(code: ExitCode) -> None:
    assert re.search(rf"^\| {code.value} \| \S", README, re.MULTILINE)


def test_every_concept_of_the_readmes_promise_has_a_kata() -> None:
    ids = {kata.id for kata in load_catalog().katas}
    assert set(re.findall(r"\bkata (?:show|start|hint) (v\d)", README)) <= ids


@pytest.mark.parametrize("name", ["demo", "test"])
def test_each_of_the_readmes_two_commands_sets_up_an_environment_of_its_own(name: str) -> None:
    command = readme_command(name)
    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e ")


def test_the_readmes_test_command_runs_every_check() -> None:
    assert readme_command("test").endswith("&& .venv/bin/python tools/check.py")
    assert [step.name for step in STEPS] == ["lint", "format", "imports", "types", "katas", "tests"]


def test_ci_runs_the_readmes_commands_and_what_depends_on_the_python() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"^run_readme_command (\w+)$", script, re.MULTILINE) == ["demo", "test"]
    assert "tools/check.py" not in script
    own = re.findall(r"-m pytest ([^-\\]+)", script)
    assert [tests.split() for tests in own] == [
        ["tests/worker", "tests/judge", "tests/cli", "tests/packaging"]  # again, with other Pythons
    ]


@pytest.mark.parametrize("name", ["demo", "test"])
def test_ci_reads_the_command_out_of_the_readme_as_a_reader_would(name: str) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = script[script.index("readme_command() {") : script.index("run_readme_command() {")]
    asked = ["bash", "-c", f"{function}\nreadme_command {name}"]
    printed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == readme_command(name)


def test_everything_named_in_the_architecture_exists() -> None:
    named = re.findall(r"`([\w./-]+(?:/|\.(?:py|md|toml|txt)))`", paper("ARCHITECTURE.md"))
    inside = [name for name in named if "/" in name]
    assert len(inside) > 10
    assert [name for name in inside if not (ROOT / name).exists()] == []


def test_every_room_of_the_program_is_in_the_architecture() -> None:
    text = paper("ARCHITECTURE.md")
    rooms = [f"grader/{path.parent.name}/" for path in (ROOT / "grader").glob("*/__init__.py")]
    modules = [f"grader/{path.name}" for path in (ROOT / "grader").glob("[!_]*.py")]
    assert [name for name in sorted(rooms + modules) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", PAPERS)
def test_links_inside_the_project_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", paper(name))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_contributing_explains_every_file_of_a_kata() -> None:
    text = paper("CONTRIBUTING.md")
    files = {path.name for kata in load_catalog().katas for path in kata.folder.iterdir() if path.is_file()}
    assert [name for name in sorted(files) if f"| `{name}` |" not in text] == []


def test_contributing_explains_every_step_of_the_checks() -> None:
    text = paper("CONTRIBUTING.md")
    assert [step.name for step in STEPS if f"`{step.name}`" not in text] == []


def test_the_changelog_begins_with_the_version_that_is_built_or_with_what_is_to_come() -> None:
    version = re.search(r'^version = "(.+)"$', paper("pyproject.toml"), re.MULTILINE)
    assert version is not None
    versions = re.findall(r"^## (\S+)$", paper("CHANGELOG.md"), re.MULTILINE)
    assert version[1] in versions[:2]
    assert versions[0] in (version[1], "Unreleased")
