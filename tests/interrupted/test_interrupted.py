"""Runs of pytest that are ended from outside, or by their time limit: nothing of them is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.guardian import PREFIX, ROOT
from tests.patience import until
from tests.processes import naming

FILE = Path(__file__).with_name("for_ever.py")
# Whoever is started in the background of a script ignores Ctrl-C, and so would all that it starts.
PYTEST = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Another folder for temporary files; beside our own, as the addresses of sockets must be short."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=os.environ["PYTEST_DEBUG_TEMPROOT"]))
    yield folder
    shutil.rmtree(folder)


def begin(temporary: Path, test: str, *options: str, **environ: str) -> subprocess.Popen[str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    folders = {"TMPDIR": str(temporary), "PYTEST_DEBUG_TEMPROOT": str(temporary)}
    return subprocess.Popen(
        [sys.executable, "-c", PYTEST, *options, f"{FILE}{test}"],
        cwd=ROOT,
        env={**outer, **folders, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def left(temporary: Path) -> list[str]:
    """Processes, and files of ours: what pytest keeps of a run is in a folder of its own."""
    files = [path.name for path in temporary.iterdir() if not path.name.startswith("pytest-of-")]
    return [*naming(temporary).values(), *files]


def ways() -> Iterator[ParameterSet]:
    """By which signal, and with how many processes beside pytest's own; some of them in the slow run only."""
    for number, processes in product((signal.SIGINT, signal.SIGTERM, signal.SIGKILL), (0, 1)):
        often = number is signal.SIGINT and processes == 0
        yield pytest.param(
            number, processes, id=f"{number.name}-{processes}", marks=() if often else pytest.mark.slow
        )


@pytest.mark.parametrize(("number", "processes"), [*ways()])
def test_a_run_that_is_ended_leaves_nothing(temporary: Path, number: signal.Signals, processes: int) -> None:
    begun = temporary / "pytest-of-nobody"
    run = begin(temporary, "::test_with_an_engine", "-n", str(processes), BEGUN=str(begun))
    until(lambda: begun.exists() or run.poll() is not None)
    assert run.poll() is None, run.communicate()
    assert any("grader.engine.host" in command for command in left(temporary))
    run.send_signal(number)
    run.communicate()
    assert run.returncode != 0
    until(lambda: not left(temporary))


def test_a_test_over_its_limit_is_ended_and_named_and_the_others_run(temporary: Path) -> None:
    run = begin(
        temporary, "", "-n", "1", "-k", "alone or ends", "-p", "no:randomly", KATA_TEST_PATIENCE="0.5"
    )
    out, _ = run.communicate()
    assert "Timeout (0:00:01.5" in out
    assert re.search(rf'File "{re.escape(str(FILE))}", line \d+ in test_alone', out)
    assert "crashed while running 'tests/interrupted/for_ever.py::test_alone'" in out
    assert "1 failed, 1 passed" in out
    assert left(temporary) == []
