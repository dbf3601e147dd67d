"""On a machine that lacks a mechanism: strict refuses, and never passes anything; standard says so once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog
from tests import patience
from tests.trust.run import KATA, Ground

WITHOUT = Path(__file__).with_name("without.py")


def without(
    ground: Ground, lacking: str, command: Sequence[str], *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(WITHOUT), lacking, *command, *words],
        capture_output=True,
        text=True,
        env=ground.environment | {"HOME": str(ground.folder)},
        cwd=ground.folder,
        check=False,
        timeout=patience.SECONDS,
    )


def grade(ground: Ground, catalog: Catalog, lacking: str, *words: str) -> subprocess.CompletedProcess[str]:
    return without(ground, lacking, KATA, "grade", str(catalog.get("v1").solution), "v1", *words)


@pytest.mark.parametrize("lacking", ["landlock", "seccomp"])
def test_strict_refuses_a_right_answer(cold: Ground, catalog: Catalog, lacking: str) -> None:
    done = grade(cold, catalog, lacking, "--isolation", "strict", "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, document["verdict"], document["points"]) == (3, "grader_error", 0)
    assert f"needs {lacking}" in document["reason"]
    assert {concept["status"] for concept in document["concepts"]} == {"not_reached"}
    assert cold.temporary() == []
    assert b"Nothing" in cold.kata("history").out or b"no attempt" in cold.kata("history").out.lower()


@pytest.mark.slow
def test_standard_takes_what_there_is_and_says_once_what_is_not(cold: Ground, catalog: Catalog) -> None:
    first, second = (grade(cold, catalog, "landlock,seccomp") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0)
    assert "this machine has no landlock and no seccomp" in first.stderr
    assert second.stderr == ""


ENGINE = """
from grader.catalog import load_catalog
from grader.engine.private import private_engine
from grader.errors import ConfinementUnavailable
from grader.records import Options
from grader.records import Submission

catalog = load_catalog()
kata = catalog.get("v1")
answer = Submission(name=kata.file_name, source=kata.solution.read_bytes(), sha256="")
with private_engine(catalog) as engine:
    try:
        engine.grade(answer, kata, catalog, Options(isolation="strict"))
    except ConfinementUnavailable as refusal:
        print(refusal.missing)
    print(engine.grade(answer, kata, catalog, Options(isolation="standard")).environment.isolation)
"""


def test_an_engine_refuses_too_and_goes_on(cold: Ground) -> None:
    done = without(cold, "landlock,seccomp", (sys.executable, "-P", "-c"), ENGINE)
    refused, confined = done.stdout.splitlines()
    assert refused == "('landlock', 'seccomp')"
    assert confined.startswith("standard: ")
    assert confined.endswith("; not there: landlock, seccomp")


def test_doctor_says_which_levels_there_are(cold: Ground) -> None:
    there = cold.kata("doctor").text
    lacking = without(cold, "landlock", KATA, "doctor").stdout
    assert "levels: all" in there
    assert "levels: standard and process: strict needs landlock" in lacking
    assert "landlock: no" in lacking
