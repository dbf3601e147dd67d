"""A check passes only when pytest ran it and it returned; nothing of the user's pytest has a say."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from grader.errors import GraderFault
from grader.judge.checks import CheckFailed, NotReached
from grader.judge.plugin import JudgePlugin, Outcome, run_checks, sealed_environment
from grader.judge.scoring import check_records, verdict
from tests.judge.stage import bench, content

HEAD = "import pytest\nfrom grader.judge.checks import NotReached, check, fail, require\n\n"


@pytest.fixture
def checks(tmp_path: Path) -> object:
    """A module of checks from text."""

    def make(body: str, name: str = "made_checks") -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(HEAD + body, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def outcomes(module: ModuleType) -> dict[str, Outcome]:
    return {outcome.id: outcome for outcome in run_checks(module, bench("v1"))}


BODY = """
@check("scale")
def one_that_holds(candidate, steps, xray, blame, gradients, variations, dropout, labels):
    assert candidate.kata.id == "v1"

@check("scale")
def one_that_fails():
    fail("no", expected="a", actual="b", mistake="no_scale", line=3)

@check("mix")
def one_that_is_out_of_reach():
    raise NotReached("far away")

def test_not_a_check():
    raise AssertionError

def helper():
    raise AssertionError
"""


def test_outcomes_are_records_of_every_check_and_of_nothing_else(checks) -> None:  # type: ignore[no-untyped-def]
    found = outcomes(checks(BODY))
    assert list(found) == ["one_that_holds", "one_that_fails", "one_that_is_out_of_reach"]
    assert found["one_that_holds"].raised is None
    failed = found["one_that_fails"].raised
    assert isinstance(failed, CheckFailed)
    assert (failed.expected, failed.actual, failed.mistake, failed.line) == ("a", "b", "no_scale", 3)
    assert isinstance(found["one_that_is_out_of_reach"].raised, NotReached)


@pytest.mark.parametrize(
    "line",
    [
        "pytest.skip('x')",
        "pytest.xfail('x')",
        "pytest.exit('x', 0)",
        "pytest.fail('x')",
        "raise SystemExit(0)",
        "assert False",
        "1 / 0",
    ],
)
def test_any_other_end_of_a_check_is_the_grader_s_fault_and_no_pass(checks, line: str) -> None:  # type: ignore[no-untyped-def]
    module = checks(f"@check('scale')\ndef one():\n    {line}\n")
    with pytest.raises((GraderFault, SystemExit, pytest.exit.Exception)):
        run_checks(module, bench("v1"))


def test_no_checks_are_no_pass(checks) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GraderFault, match="did not all run"):
        run_checks(checks(""), bench("v1"))
    assert verdict(()) == "failed"


@pytest.mark.parametrize("spoil", ["del items[1:]", "items.append(items[0])"], ids=["one less", "one twice"])
def test_exactly_the_checks_that_were_collected_have_to_run(checks, spoil: str) -> None:  # type: ignore[no-untyped-def]
    """All that ran has passed, and pytest is content."""
    body = f"""
@check("scale")
def one(request):
    items = request.session.items
    if len(items) == 2:
        {spoil}

@check("mix")
def two():
    pass
"""
    with pytest.raises(GraderFault, match="did not all run"):
        run_checks(checks(body), bench("v1"))


def test_an_unknown_fixture_is_the_grader_s_fault(checks) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GraderFault):
        run_checks(checks("@check('scale')\ndef one(tmp_path_of_nobody):\n    pass\n"), bench("v1"))


def test_the_caller_s_settings_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    with sealed_environment():
        assert "PYTEST_ADDOPTS" not in os.environ
        assert os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "1"
    assert os.environ["PYTEST_ADDOPTS"] == "--collect-only"


@pytest.mark.parametrize(
    "addopts", ["--collect-only", "-k nothing", "-n 2", "-p no:python", "--maxfail=0 -x"]
)
def test_addopts_have_no_say(monkeypatch: pytest.MonkeyPatch, addopts: str) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", addopts)
    found = run_checks(content("v1").checks, bench("v1"))
    assert len(found) > 15
    assert all(outcome.raised is None for outcome in found)


def test_a_hostile_conftest_and_settings_beside_the_answer_have_no_say(tmp_path: Path) -> None:
    """In a process of its own: pytest-xdist and pytest-randomly are installed, and stay out too."""
    (tmp_path / "conftest.py").write_text("raise SystemExit('conftest was read')\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('sitecustomize')\n", encoding="utf-8")
    script = "from tests.judge.test_plugin import all_passed; raise SystemExit(0 if all_passed() else 1)"
    root = Path(__file__).resolve().parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTEST_ADDOPTS": "--collect-only",
        "PYTEST_PLUGINS": "xdist",
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


def all_passed() -> bool:
    """For the process above."""
    found = run_checks(content("v1").checks, bench("v1"))
    return len(found) > 15 and all(outcome.raised is None for outcome in found)


def test_records_keep_the_order_of_the_concepts() -> None:
    stage = bench("v3")
    records = check_records(run_checks(content("v3").checks, stage), content("v3").kata, stage)
    order = [concept.id for concept in content("v3").kata.concepts] + ["end_to_end"]
    places = [order.index(record.concept) for record in records]
    assert places == sorted(places)


def test_the_plugin_is_hashable_for_every_pytest_keeps_its_plugins_in_sets() -> None:
    plugin = JudgePlugin(ModuleType("checks"), bench("v1"))
    assert {plugin: 1}[plugin] == 1
