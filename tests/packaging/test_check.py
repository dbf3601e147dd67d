"""The one command behind all checks: in order, stopping at the first failure, and saying how to go on."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tools.check import STEPS, Step, main


def says(name: str, text: str, code: int = 0) -> Step:
    """A step that prints and exits, with a real process."""
    program = f"import os, sys; print({text!r}, flush=True); sys.exit({code})"
    return Step(name, f"title of {name}", ("python", "-c", program))


def test_the_steps_run_in_order_and_the_last_line_is_the_last_steps_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main([], (says("first", "one"), says("second", "2 passed in 0.01s"))) == 0
    lines = capfd.readouterr().out.split("\n")
    assert lines == [
        "",
        "=== title of first",
        "one",
        "",
        "=== title of second",
        "2 passed in 0.01s",
        "",
    ]


def test_the_first_failure_ends_it_with_its_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([], (says("first", "one"), says("second", "two", code=5), says("third", "three"))) == 5
    printed = capfd.readouterr().out
    assert "three" not in printed
    assert re.search(r"^=== FAILED after \d+ s: title of second$", printed, re.MULTILINE)
    assert "tools/check.py second" in printed


def waits(name: str, made: Path, awaited: Path, code: int = 0) -> Step:
    """A step that makes one file and waits for another, unless that is its own."""
    program = (
        "import os, pathlib, sys, threading\n"
        f"new = pathlib.Path({str(made)!r} + '.new'); new.write_text(str(os.getpid()))\n"
        f"new.rename({str(made)!r})\n"
        f"while not os.path.exists({str(awaited)!r}): threading.Event().wait(0.02)\n"
        f"print('end of {name}'); sys.exit({code})"
    )
    return Step(name, f"title of {name}", ("python", "-c", program))


def test_steps_before_the_last_run_beside_one_another_and_are_shown_in_turn(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert main([], (waits("first", one, two), waits("second", two, one), says("third", "three"))) == 0
    titles = [line for line in capfd.readouterr().out.splitlines() if line]
    assert titles == [
        "=== title of first",
        "end of first",
        "=== title of second",
        "end of second",
        "=== title of third",
        "three",
    ]


def test_a_failure_ends_the_steps_beside_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, two, never = tmp_path / "one", tmp_path / "two", tmp_path / "never"
    steps = (waits("first", one, two, code=5), waits("second", two, never), says("third", "three"))
    assert main([], steps) == 5
    assert "title of second" not in capfd.readouterr().out
    with pytest.raises(ProcessLookupError):
        os.kill(int(two.read_text()), 0)


def test_only_the_steps_that_were_named_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["second"], (says("first", "one"), says("second", "two"))) == 0
    assert "one" not in capfd.readouterr().out


def test_an_unknown_step_is_a_usage_error_that_names_the_steps(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["typos"])
    assert stopped.value.code == 2
    printed = capfd.readouterr().err
    assert "no step 'typos'" in printed
    assert all(step.name in printed for step in STEPS)


def test_a_tool_that_is_not_installed_is_named_with_the_way_to_get_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main([], (Step("odd", "a tool of nobody", ("no-such-tool-of-ours",)),)) == 2
    assert "no-such-tool-of-ours is not installed" in capfd.readouterr().out


def test_no_step_sees_the_real_history_or_a_running_engine(capfd: pytest.CaptureFixture[str]) -> None:
    program = (
        "import os; print(os.environ['KATA_ENGINE'], 'attention-kata-check-' in os.environ['KATA_HOME'])"
    )
    assert main([], (Step("look", "look", ("python", "-c", program)),)) == 0
    assert "off True" in capfd.readouterr().out
