"""`kata doctor` and `kata lint`, as commands; what they find is tested beside their modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader import __version__, doctor, linting
from grader.catalog import Catalog

Terminal = Any  # tests/cli/conftest.py


def finding(fine: bool) -> tuple[doctor.Section, ...]:
    found = doctor.Finding(
        name="import", value="fails: No module named 'torch'\x1b[2J" + "x" * 100, fine=fine
    )
    return (doctor.Section(title="PyTorch", findings=(found,)),)


def test_a_healthy_machine_ends_with_0(kata: Terminal) -> None:
    result = kata("doctor")
    assert result.exit_code == 0
    assert f"attention-kata: {__version__}" in result.stdout
    assert "All is well." in result.stdout


def test_what_is_wrong_stands_on_one_harmless_line_and_ends_with_3(
    kata: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.doctor.examine", lambda *_, **__: finding(fine=False))
    result = kata("doctor")
    assert result.exit_code == 3
    assert f"  !! import: fails: No module named 'torch'␛[2J{'x' * 100}\n" in result.stdout
    assert "Lines with !! need a look." in result.stdout


def test_lint_names_each_problem_with_its_place_and_says_what_it_tried(
    kata: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[linting.Aim, bool]] = []
    tally = linting.Tally(kata="v1", mistakes=90, rejected=90, named=89, blamed=1, rights=12, accepted=12)

    def lint(aim: linting.Aim, _: linting.Tell, *, quick: bool) -> linting.LintReport:
        asked.append((aim, quick))
        if aim.root is None:
            return linting.LintReport(tallies=(tally,))
        problem = linting.Problem(path=Path("/k/stub.py"), line=3, message="No TODO.", fix="Add one.")
        return linting.LintReport(problems=(problem,))

    monkeypatch.setattr(linting, "lint", lint)
    clean = kata("lint")
    assert clean.exit_code == 0
    header, row, end = clean.stdout.splitlines()
    assert header.split("  ")[0] == "kata"
    assert row.split() == ["v1", "90", "90", "89", "1", "12", "12"]
    assert end == "No problems."
    (kata.folder / "mine" / "katas" / "first").mkdir(parents=True)
    (kata.folder / "mine" / "katas" / "first" / "kata.toml").touch()
    found = kata("lint", "mine")
    assert found.exit_code == 1
    assert found.stdout == "/k/stub.py:3: No TODO.\n  → Add one.\n1 problem.\n"
    mine = kata.folder / "mine"
    assert asked == [(linting.Aim(), False), (linting.Aim(root=mine), False)]
    kata("lint", "v3")
    kata("lint", "mine/katas/first", "--quick")
    first = linting.Aim(root=mine.resolve(), only="first")
    assert asked[2:] == [(linting.Aim(only="v3"), False), (first, True)]


def test_lint_of_a_kata_that_is_not_there_names_those_that_are(kata: Terminal, catalog: Catalog) -> None:
    found = kata("lint", "v33")
    assert found.exit_code == 2
    assert "There is no kata 'v33'. Did you mean v3" in found.stderr
    assert ", ".join(one.id for one in catalog.katas) in found.stderr
