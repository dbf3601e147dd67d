"""`kata engine`, as a command; the engine itself is tested beside its modules."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.engine.endpoint import Place
from grader.engine.shared import SharedEngine, Status
from tests.patience import until

Terminal = Any  # tests/cli/conftest.py
RUN = """
import sys
from pathlib import Path
from grader.engine import daemon
from grader.engine.endpoint import Place
daemon.run(Place(Path(sys.argv[1]), *sys.argv[2:4], tuple(map(Path, sys.argv[4:]))))
"""


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kata-rt-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def test_without_an_engine(kata: Terminal) -> None:
    status = kata("engine", "status")
    assert (status.exit_code, status.stdout) == (1, "No engine is running. The next grade starts one.\n")
    stop = kata("engine", "stop")
    assert (stop.exit_code, stop.stdout) == (0, "No engine was running.\n")


def test_what_it_says_about_itself(kata: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    status = Status(
        pid=11, host=12, seconds=125.2, grades=7, running=1, idle_seconds=1800.0, bytes=300 * 2**20
    )
    monkeypatch.setattr(SharedEngine, "status", lambda _: status)
    shown = kata("engine", "status")
    assert shown.exit_code == 0
    for words in ("11, its host 12", "2 min 5 s", "30 idle minutes", "7, 1 of them", "300 MB"):
        assert words in shown.stdout


def test_one_from_before_a_reinstall_is_found_and_stopped(kata: Terminal) -> None:
    engine = SharedEngine.of(os.environ)
    assert engine is not None
    before = Place(engine.where.folder, engine.where.environment, "0" * 16, engine.where.roots)
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            RUN,
            *(str(before.folder), before.environment, before.code),
            *map(str, before.roots),
        ]
    )
    with process:
        until(SharedEngine(before).is_running)
        status = kata("engine", "status")
        assert (status.exit_code, f"{process.pid} is an engine from before" in status.stdout) == (1, True)
        assert kata("engine", "stop").stdout == "The engine has stopped.\n"
        assert process.wait() == 0
    assert kata("engine", "stop").stdout == "No engine was running.\n"


def test_where_there_can_be_none(kata: Terminal, monkeypatch: pytest.MonkeyPatch, runtime: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / ("d" * 90)))
    (runtime / ("d" * 90)).mkdir()
    result = kata("engine", "status")
    assert result.exit_code == 2
    assert "There is no engine here" in result.stderr


def test_a_second_one_is_refused(kata: Terminal, runtime: Path) -> None:
    import fcntl

    engine = SharedEngine.of(os.environ)
    assert engine is not None
    assert engine.where.folder.parent == runtime
    with engine.where.lock.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = kata("engine", "run")
    assert result.exit_code == 2
    assert "An engine runs already" in result.stderr
