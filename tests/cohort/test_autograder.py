"""Autograders in the tree of their platform: unpacked, started as the platform does, and read as it reads."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog
from grader.cohort.autograder import Outcome, github, gradescope, outcome, prairielearn
from grader.cohort.upload import autograder, requirements

PLATFORMS = ("gradescope", "prairielearn", "github-action")


def unpacked(platform: str, catalog: Catalog, folder: Path, kata: str = "v1") -> Path:
    with zipfile.ZipFile(io.BytesIO(autograder(platform, catalog.get(kata), catalog))) as archive:
        archive.extractall(folder)
        for info in archive.infolist():
            (folder / info.filename).chmod(info.external_attr >> 16 & 0o777)
    return folder


def started(command: list[str | Path], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    told = {**kept, "TMPDIR": str(folder), "KATA_PYTHON": sys.executable, **environ}
    return subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_archive_has_all_that_is_named_in_it(platform: str, catalog: Catalog, tmp_path: Path) -> None:
    folder = unpacked(platform, catalog, tmp_path)
    assert "torch==" in (folder / "requirements.txt").read_text(encoding="utf-8")
    for path in folder.iterdir():
        if path.is_file():
            assert "@" not in re.sub(r"actions/checkout@v\d", "", path.read_text(encoding="utf-8"))
    assert (folder / "program" / "grader" / "_content" / "katas" / "v1" / "kata.toml").is_file()
    assert not list(folder.rglob("*.pyc"))
    for script in (path for path in folder.iterdir() if path.is_file() and path.read_bytes()[:2] == b"#!"):
        assert os.access(script, os.X_OK)
        subprocess.run(["bash", "-n", script], check=True)


def test_the_same_program_makes_the_same_archive(catalog: Catalog) -> None:
    first, second = (autograder("gradescope", catalog.get("v1"), catalog) for _ in range(2))
    assert first == second


def test_every_package_is_pinned() -> None:
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in requirements().splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="the platforms start it with bash")
@pytest.mark.parametrize(
    ("file", "score"), [("answer.py", True), ("notes.pdf", False), ("empty.py", False), (None, False)]
)
def test_gradescope_gets_a_document_for_whatever_was_handed_in(
    catalog: Catalog, tmp_path: Path, file: str | None, score: bool
) -> None:
    root = tmp_path / "autograder"
    unpacked("gradescope", catalog, root / "source")
    (root / "submission").mkdir()
    (root / "results").mkdir()
    if file is not None:
        content = catalog.get("v1").solution.read_bytes() if score else b"" if file == "empty.py" else b"%PDF"
        (root / "submission" / file).write_bytes(content)
    done = started([root / "source" / "run_autograder"], tmp_path, AUTOGRADER_ROOT=str(root))
    assert done.returncode == 0, done.stderr
    document = json.loads((root / "results" / "results.json").read_bytes())
    assert document["score"] == (catalog.get("v1").max_points if score else 0)
    assert document["output"]
    [hidden] = [test for test in document["tests"] if test.get("visibility") == "hidden"]
    assert hidden["output"].startswith("Isolation: ")


@pytest.mark.skipif(sys.platform == "win32", reason="the platforms start it with bash")
def test_prairielearn_gets_a_score_between_none_and_all(catalog: Catalog, tmp_path: Path) -> None:
    folder = unpacked("prairielearn", catalog, tmp_path / "kata")
    root = tmp_path / "grade"
    (root / "student").mkdir(parents=True)
    right = catalog.get("v1").solution.read_text(encoding="utf-8")
    (root / "student" / "answer.py").write_text(
        right.replace("math.sqrt(self.hidden_dim)", "1.0"), encoding="utf-8"
    )
    done = started([folder / "run.sh"], tmp_path, GRADE_ROOT=str(root), KATA_PROGRAM=str(folder / "program"))
    assert done.returncode == 0, done.stderr
    document = json.loads((root / "results" / "results.json").read_bytes())
    assert document["gradable"] is True
    assert 0 < document["score"] < 1
    assert sum(test["points"] for test in document["tests"]) == round(
        document["score"] * sum(test["max_points"] for test in document["tests"])
    )
    question = json.loads((folder / "info.json").read_bytes())
    assert question["externalGradingOptions"]["entrypoint"] == "/kata/run.sh"


def test_without_landlock_the_instructor_is_told(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.cohort import autograder as module

    monkeypatch.setattr(module, "missing_for_strict", lambda: ("landlock",))
    told = outcome(tmp_path, catalog.get("v1"), catalog)
    assert "Isolation: standard. Strict isolation needs landlock" in told.aside
    document: Any = json.loads(gradescope(told))
    assert document["output"] == "Not graded: Nothing was handed in."
    assert "landlock" in document["tests"][-1]["output"]
    assert json.loads(prairielearn(told))["gradable"] is False
    assert github(told).startswith("### v1: not graded")


def test_a_students_text_cannot_break_the_summary(catalog: Catalog) -> None:
    told = Outcome(kata=catalog.get("v1"), grade=None, reason="<b>`x`\n# heading", aside="")
    assert "<b>" not in github(told)
    assert "\n# heading" not in github(told)
