"""Faults of our own side, caused for real: a verdict or a clear message, nothing lost, and it goes on."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalog import Catalog
from tests import patience
from tests.engine.cleared import children
from tests.patience import until
from tests.trust.run import KATA, Ground, open_ground

HANG = "import time\nopen('here', 'w').close()\ntime.sleep(600)\nclass SelfAttentionV1: ...\n"
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # Python cuts a .pyc short when the disk is full, and keeps it
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def right(catalog: Catalog) -> Path:
    return catalog.get("v1").solution


@pytest.fixture
def hanging(cold: Ground) -> Path:
    path = cold.folder / "hanging.py"
    path.write_text(HANG, encoding="utf-8")
    return path


def passes(ground: Ground, right: Path) -> bool:
    done = ground.kata("grade", right, "v1", "--json")
    return done.code == 0 and json.loads(done.out)["verdict"] == "passed" and done.err == b""


def attempts(ground: Ground) -> int:
    with sqlite3.connect(ground.home / "history.db") as database:
        return int(database.execute("SELECT count(*) FROM attempts").fetchone()[0])


def until_it_hangs(ground: Ground) -> None:
    """The file has been begun: it has written to its scratch folder."""
    until(lambda: list((ground.folder / "tmp").glob("*/worker-*/here")))


def test_a_killed_grade_takes_its_worker_with_it(cold: Ground, hanging: Path, right: Path) -> None:
    running = cold.start("grade", hanging, "v1")
    until_it_hangs(cold)
    running.kill()
    running.communicate()
    until(lambda: not cold.processes())
    assert passes(cold, right)
    assert cold.temporary() == []
    assert attempts(cold) == 1


@pytest.mark.slow
def test_a_judge_killed_in_the_middle_costs_no_verdict(right: Path) -> None:
    with open_ground("standard", engine=True) as ground:
        file = ground.folder / "hanging.py"
        file.write_text(HANG, encoding="utf-8")
        [host] = [pid for pid, command in ground.processes().items() if "engine.host" in command][:1]
        [template] = children(host)
        running = ground.start("grade", file, "v1", "--json")
        until_it_hangs(ground)
        [judge] = children(template)
        os.kill(judge, signal.SIGKILL)
        out, err = running.communicate(timeout=patience.SECONDS)
        assert (running.returncode, json.loads(out)["verdict"], err) == (1, "unrunnable", b"")
        assert "did not finish within" in json.loads(out)["reason"]
        assert passes(ground, right)
        until(lambda: children(host) == [template])


def limited(ground: Ground, size: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """`kata WORDS` where no file can grow over `size` bytes, as on a disk that is full."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *KATA, *map(str, words)],
        capture_output=True,
        text=True,
        # Python itself leaves half a file of bytecode behind when the disk is full, and then trips over it.
        env=ground.environment | {"HOME": str(ground.folder), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ground.folder,
        check=False,
        timeout=patience.SECONDS,
    )


def test_a_full_disk_costs_the_history_but_not_the_verdict(fresh: Ground, right: Path) -> None:
    assert passes(fresh, right)
    done = limited(fresh, 2000, "grade", right, "v1")
    assert done.returncode == 0
    assert "PASSED" in done.stdout
    assert "history" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert passes(fresh, right)
    assert attempts(fresh) == 2


def test_a_report_that_does_not_fit_is_said(fresh: Ground, right: Path, tmp_path: Path) -> None:
    done = limited(fresh, 2000, "grade", right, "v1", "--report", tmp_path / "page.html")
    assert done.returncode == 2
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_space_for_the_worker(cold: Ground, right: Path) -> None:
    done = limited(cold, 0, "grade", right, "v1", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "No folder for the worker can be made in the folder for temporary files" in done.stderr
    assert "TMPDIR=" in done.stderr
    assert passes(cold, right)


def test_a_locked_history_costs_the_attempt_but_not_the_verdict(fresh: Ground, right: Path) -> None:
    assert passes(fresh, right)
    holder = sqlite3.connect(fresh.home / "history.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    done = fresh.kata("grade", right, "v1")
    holder.execute("ROLLBACK")
    holder.close()
    assert done.code == 0
    assert b"history" in done.err.lower()
    assert passes(fresh, right)
    assert attempts(fresh) == 2


def test_a_corrupt_history_is_left_as_it_is(fresh: Ground, right: Path) -> None:
    fresh.home.mkdir()
    database = fresh.home / "history.db"
    database.write_bytes(b"no database at all\n" * 300)
    done = fresh.kata("grade", right, "v1")
    assert done.code == 0
    assert b"is damaged" in done.err
    assert database.read_bytes() == b"no database at all\n" * 300


def test_a_home_that_cannot_be_written(fresh: Ground, right: Path) -> None:
    environment = {**fresh.environment, "HOME": str(fresh.folder), "KATA_HOME": "/proc/kata"}
    for _ in range(2):
        done = subprocess.run(
            [*KATA, "grade", str(right), "v1"],
            capture_output=True,
            text=True,
            env=environment,
            cwd=fresh.folder,
            check=False,
            timeout=patience.SECONDS,
        )
        assert done.returncode == 0
        assert "/proc/kata" in done.stderr
        assert "Traceback" not in done.stderr
