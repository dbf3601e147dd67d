"""Running the candidate's file, with real processes."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from grader.interview.running import Run, Running, run_file
from tests import patience
from tests.patience import until
from tests.processes import naming


def run(tmp_path: Path, text: str, seconds: float = patience.SECONDS, running: Running | None = None) -> Run:
    path = tmp_path / "answer.py"
    path.write_text(text, encoding="utf-8")
    return run_file(path, seconds, running)


def stopped(tmp_path: Path, text: str) -> Run:
    """A run that does not end, with time enough for it to have printed something."""
    seconds = 0.5
    while not (found := run(tmp_path, text, seconds)).output:
        seconds *= 2
        assert seconds < patience.SECONDS
    return found


def test_its_own_main_runs_in_its_folder(tmp_path: Path) -> None:
    text = "import os\nif __name__ == '__main__':\n    print('in', os.path.basename(os.getcwd()))\n"
    found = run(tmp_path, text)
    assert (found.outcome, found.code, found.output) == ("ran to its end", 0, f"in {tmp_path.name}")


def test_an_error_shows_the_traceback(tmp_path: Path) -> None:
    found = run(tmp_path, "1 / 0\n")
    assert found.outcome == "ended with code 1"
    assert "ZeroDivisionError" in found.output


def test_a_signal_is_named(tmp_path: Path) -> None:
    assert run(tmp_path, "import os\nos.kill(os.getpid(), 11)\n").outcome == "ended by signal 11"


def test_a_file_that_hangs_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    text = (
        "import subprocess, sys\nprint('begun', flush=True)\n"
        "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    found = stopped(tmp_path, text)
    assert (found.code, found.output) == (None, "begun")
    assert re.fullmatch(r"was stopped after \d+ s", found.outcome)


def test_what_it_leaves_behind_does_not_hold_the_output_open(tmp_path: Path) -> None:
    text = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\nprint('done')\n"
    )
    found = run(tmp_path, text)
    assert (found.outcome, found.output) == ("ran to its end", "done")
    until(lambda: not naming(tmp_path))  # it would sleep for longer than we wait


def test_a_flood_is_cut_and_stopped(tmp_path: Path) -> None:
    found = stopped(tmp_path, "while True: print('x' * 1000)\n")
    assert found.code is None
    assert len(found.output) <= 64 * 1024 + 100


def test_it_cannot_read_the_terminal_and_its_output_is_harmless(tmp_path: Path) -> None:
    found = run(tmp_path, "import sys\nprint(repr(sys.stdin.read()), '\\x1b[2J')\n")
    assert found.output == "'' ␛[2J"


@pytest.mark.parametrize("before", [True, False])
def test_a_room_that_is_left_stops_it(tmp_path: Path, before: bool) -> None:
    running = Running()
    if before:
        running.stop()
    else:
        threading.Timer(0.3, running.stop).start()
    found = run(tmp_path, "import time\ntime.sleep(600)\n", running=running)
    assert found.outcome == "ended by signal 9"
    running.stop()
