"""Faults injected into the program: what is spoiled, who should notice, and a sample that is noticed."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults import (
    MODULE,
    ROOT,
    STRING,
    Fault,
    drawn,
    faults,
    faults_of,
    found,
    judged,
    load_known,
    mirrored,
    named,
)

SAMPLE = 6  # of some twenty thousand
SOURCE = '''\
"""Of everything something."""
__all__ = ["f", "g"]
LIMIT: int = 64
SIGNS = "=+-@"


class A:
    """What it is."""

    def f(self, x: int | None, *, low: float = 0.5) -> int:
        """What it does."""
        if x is None or x < LIMIT:
            raise ValueError("too low by far")
        try:
            self.kept = min(x, LIMIT) + x
            forget(x, soon=True)
        except (KeyError, OSError):
            return 1
        return 2 if x in (3, 4) else 5
'''


def changes(source: str = SOURCE) -> set[tuple[str, str, str]]:
    return {fault.key[1:] for fault in faults_of(source, "made.py")}


@pytest.mark.parametrize(
    ("function", "node", "change"),
    [
        ("<module>", "64", "64 -> 640"),
        ("<module>", "64", "64 -> 32"),
        ("<module>", "'=+-@'", f"{STRING}no '+'"),
        ("A.f", "0.5", "0.5 -> 5.0"),
        ("A.f", "x is None or x < LIMIT", "without x is None"),
        ("A.f", "x < LIMIT", "Lt -> LtE"),
        ("A.f", "x is None", "Is -> IsNot"),
        ("A.f", "raise ValueError('too low by far')", "dropped"),
        ("A.f", "'too low by far'", f"{STRING}no last word"),
        ("A.f", "if x is None or x < LIMIT: raise ValueError('too low by far')", "negated"),
        ("A.f", "if x is None or x < LIMIT: raise ValueError('too low by far')", "never"),
        ("A.f", "self.kept = min(x, LIMIT) + x", "dropped"),
        ("A.f", "min(x, LIMIT)", "only LIMIT"),
        ("A.f", "min(x, LIMIT) + x", "Add -> Sub"),
        ("A.f", "forget(x, soon=True)", "dropped"),
        ("A.f", "forget(x, soon=True)", "without soon="),
        ("A.f", "True", "True -> False"),
        ("A.f", "(KeyError, OSError)", "without OSError"),
        ("A.f", "except (KeyError, OSError): return 1", "swallowed"),
        ("A.f", "return 1", "returns None"),
        ("A.f", "2 if x in (3, 4) else 5", "negated"),
        ("A.f", "x in (3, 4)", "In -> NotIn"),
    ],
)
def test_every_kind_of_fault_is_made(function: str, node: str, change: str) -> None:
    assert (function, node, change) in changes()


def test_what_only_says_something_is_left_alone() -> None:
    nodes = {node for _, node, _ in changes()}
    assert not [node for node in nodes if node.startswith(("'What", "'Of every", "['f', 'g']", "int | None"))]


def test_each_fault_is_python_and_another_program() -> None:
    made = [fault.text() for fault in faults_of(SOURCE, "made.py")]
    assert len(set(made)) == len(made) > 40
    for text in made:
        assert ast.unparse(ast.parse(text)) == text != ast.unparse(ast.parse(SOURCE))


def test_a_seed_draws_the_same_faults_each_of_another_function() -> None:
    everything = faults(modules={"grader/database.py", "grader/workspace.py"})
    one, other = drawn(everything, 12, 5), drawn(everything, 12, 5)
    assert one == other != drawn(everything, 12, 6)
    assert len({(fault.module, fault.function) for fault in one}) == 12
    assert not any(fault.change.startswith(STRING) for fault in one)


def test_what_is_known_of_single_faults_is_still_true() -> None:
    """A place that is gone is to be taken out of `faults.toml`, or followed to where it went."""
    known = load_known()
    assert len(named(known)) == len(known.named) > 20
    found(known.equivalent)
    for key in known.named:
        path, *_, function = key.test.split("::")
        assert f" {function}" in (ROOT / path).read_text(encoding="utf-8")
        assert key.why
    assert all(len(key.why.split()) > 3 for key in known.equivalent)


@pytest.mark.parametrize(
    ("module", "nearest"),
    [
        ("grader/judge/plugin.py", "tests/judge/test_plugin.py"),
        ("grader/history.py", "tests/test_history.py"),
        ("grader/cli/grade.py", "tests/cli/test_cli_grade.py"),
        ("grader/cli/interview.py", "tests/interview/test_cli_interview.py"),
        ("grader/interview/room/app.py", "tests/interview/test_room.py"),
        ("grader/judge/oracle_caller.py", "tests/judge/test_oracle_caller.py"),
    ],
)
def test_the_nearest_tests_come_first(module: str, nearest: str) -> None:
    assert mirrored(faults_of("x = 1", module)[0])[0] == nearest


def test_every_module_has_tests_that_mirror_it() -> None:
    nearest = {fault.module: fault for fault in faults() if fault.function != MODULE}
    assert [module for module, fault in nearest.items() if not mirrored(fault)] == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small one with a program, a test that knows half of it, and one that always fails."""
    files = {
        "grader/__init__.py": "",
        "grader/box.py": "LIMIT = 64\n\ndef over(x):\n    return x > LIMIT\n\n"
        "def far(x):\n    return x + 1\n",
        "tests/test_box.py": "from grader.box import over\n\ndef test_over():\n"
        "    assert over(65)\n    assert not over(64)\n",
        "tests/test_broken.py": "def test_it():\n    assert False\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


@pytest.mark.slow
def test_what_becomes_of_a_fault(project: Path) -> None:
    made = {fault.key[2:]: fault for fault in faults(project)}
    missed = made["x > LIMIT", "Gt -> GtE"]
    some = [missed, made["x + 1", "Add -> Sub"], replace(missed, test="tests/test_broken.py")]
    became = {outcome.fault: (outcome.noticed_by, outcome.says) for outcome in judged(some, 1, root=project)}
    noticed, survivor, broken = (became[fault] for fault in some)
    assert noticed == ("tests/test_box.py::test_over", "")
    assert survivor[0] is None
    assert "1 passed" in survivor[1]
    assert broken == (None, "its test fails without the fault as well")
    assert (project / "grader" / "box.py").read_text(encoding="utf-8").startswith("LIMIT = 64")


@pytest.mark.slow
def test_a_sample_of_faults_is_noticed_or_explained() -> None:
    known = {key.place for key in load_known().equivalent}
    some = [fault for fault in drawn(faults(), 2 * SAMPLE, seed=3) if fault.key not in known][:SAMPLE]
    survivors = [str(outcome.fault) for outcome in judged(some) if outcome.noticed_by is None]
    assert survivors == []


@pytest.mark.slow
def test_every_fault_that_was_missed_once_is_noticed() -> None:
    survivors: list[Fault] = [one.fault for one in judged(named(load_known())) if one.noticed_by is None]
    assert [str(fault) for fault in survivors] == []
