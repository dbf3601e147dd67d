"""The files for those who carry this on say the same as the project itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packaging.project import ROOT
from tools import check, pythons

GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEMPLATES = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
VERSIONS = [f"3.{minor}" for minor in pythons.MINORS]


def document(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: str) -> list[dict[str, Any]]:
    jobs = document(GITHUB / "workflows" / workflow)["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def test_the_pythons_that_are_promised_are_those_that_a_workflow_tries() -> None:
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"]]
    assert [version for version in named if version.startswith("3.")] == VERSIONS
    matrix = document(GITHUB / "workflows" / "checks.yml")["jobs"]["installed"]["strategy"]["matrix"]
    assert matrix == {"os": ["ubuntu-latest", "macos-latest"], "python": VERSIONS}


@pytest.mark.parametrize("workflow", ["checks.yml", "audit.yml"])
def test_what_a_workflow_runs_is_there(workflow: str) -> None:
    files = re.findall(
        r"[\w./]*\.(?:py|txt)\b|\.ci/run", " ".join(step.get("run", "") for step in steps(workflow))
    )
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_the_citation_is_of_this_version_and_licence() -> None:
    citation = document(ROOT / "CITATION.cff")
    assert (citation["title"], citation["version"], citation["license"]) == (
        PROJECT["name"],
        PROJECT["version"],
        PROJECT["license"],
    )
    assert citation["keywords"] == PROJECT["keywords"]


def test_there_is_a_form_for_each_kind_of_report() -> None:
    names = {document(path)["name"] for path in TEMPLATES}
    assert names == {"A right answer was rejected", "Propose a mistake"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_form_asks_each_thing_once_and_says_what_it_wants(path: Path) -> None:
    form = document(path)
    assert form["description"]
    asked = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in asked} <= {"input", "textarea"}
    assert len({field["id"] for field in asked}) == len(asked)
    assert all(field["attributes"]["label"] and field["validations"]["required"] for field in asked)


def test_the_updates_cover_the_pins_and_the_workflows() -> None:
    updates = document(GITHUB / "dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"pip", "github-actions"}


def test_a_commit_is_checked_by_steps_that_exist() -> None:
    [repo] = document(ROOT / ".pre-commit-config.yaml")["repos"]
    [hook] = repo["hooks"]
    program, tool, *named = hook["entry"].split()
    assert (program, tool) == (".venv/bin/python", "tools/check.py")
    assert set(named) <= {step.name for step in check.STEPS}
