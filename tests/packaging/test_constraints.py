"""The pins are complete: what the project asks for is pinned, to one version, within its range."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [Requirement(text) for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"])]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(name): version
        for name, version in (line.split("==") for line in lines if line and not line.startswith("#"))
    }


def test_a_pin_is_a_name_and_a_plain_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\d.]+(?:\.?post\d+)?", line)] == []
    assert lines == sorted(lines, key=str.lower)


@pytest.mark.parametrize("requirement", ASKED, ids=lambda requirement: requirement.name)
def test_every_requirement_is_pinned_within_its_range(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_torch_is_pinned_to_the_version_that_is_tested() -> None:
    assert pins()["torch"] == "2.13.0"
