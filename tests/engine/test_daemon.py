"""The user's engine: started once, used by all, replaced when it is lost, gone when it is not needed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from grader import grading
from grader.catalog import Catalog, load_catalog
from grader.engine import client
from grader.engine.client import EngineLost
from grader.engine.endpoint import Place
from grader.engine.messages import Request
from grader.engine.shared import SharedEngine, Status
from grader.records import Options
from tests import patience
from tests.engine.answers import HANGS, solution, submission, timeless, wrong
from tests.patience import until

RUN = """
import sys
from pathlib import Path
from grader.engine.daemon import run
from grader.engine.endpoint import Place
folder, environment, code, idle = sys.argv[1:]
sys.exit(0 if run(Place(Path(folder), environment, code), float(idle)) else 7)
"""


def begin(where: Place, idle: float = 60.0) -> subprocess.Popen[bytes]:
    words = [str(where.folder), where.environment, where.code, str(idle)]
    return subprocess.Popen([sys.executable, "-c", RUN, *words], stderr=subprocess.DEVNULL)


def running(engine: SharedEngine) -> Status:
    engine.start()
    until(engine.is_running)
    status = engine.status()
    assert status is not None
    return status


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][:3]
    except OSError:
        return False


@pytest.mark.slow
def test_the_first_grade_is_cold_and_starts_it_for_the_next(shared: SharedEngine, catalog: Catalog) -> None:
    kata, answer = catalog.get("v3"), wrong(catalog)
    environment = {**os.environ}
    program = "import sys; from grader.cli.main import main; main()"
    file = Path(os.environ["HOME"]) / answer.name
    file.write_bytes(answer.source)
    command = [sys.executable, "-c", program, "grade", str(file), "v3", "--seed", "5", "--json"]
    cold = subprocess.run(command, env=environment, capture_output=True, check=False).stdout
    until(shared.is_running)
    assert shared.status().grades == 0  # type: ignore[union-attr]
    warm = subprocess.run(command, env=environment, capture_output=True, check=False).stdout
    assert shared.status().grades == 1  # type: ignore[union-attr]
    first, second = (msgspec.json.decode(document) for document in (cold, warm))
    assert first.pop("seconds")["total"] > second.pop("seconds")["total"]
    assert first == second
    assert first["verdict"] == "failed"
    assert kata.id == "v3"


def test_it_can_be_refused(shared: SharedEngine, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_ENGINE", "off")
    grading.warm_up(load_catalog())
    monkeypatch.delenv("KATA_ENGINE")
    grading.grade(solution(catalog, "v1"), catalog.get("v1"), catalog, Options(engine=False))
    assert not list(shared.where.folder.iterdir())


def test_it_is_warmed_up_on_demand(shared: SharedEngine) -> None:
    grading.warm_up(load_catalog())
    until(shared.is_running)


def test_two_that_start_at_once_end_as_one(shared: SharedEngine) -> None:
    first, second = begin(shared.where), begin(shared.where)
    until(lambda: first.poll() is not None or second.poll() is not None)
    loser, winner = (first, second) if first.poll() is not None else (second, first)
    assert loser.wait() == 7
    until(shared.is_running)
    assert shared.status().pid == winner.pid  # type: ignore[union-attr]
    assert shared.stop()
    assert winner.wait(patience.SECONDS) == 0


def test_it_leaves_when_idle_and_leaves_nothing_behind(shared: SharedEngine) -> None:
    process = begin(shared.where, idle=0.0)
    assert process.wait(patience.SECONDS) == 0
    assert not shared.where.socket.exists()
    assert shared.where.lock.read_text(encoding="utf-8") == ""


@pytest.mark.slow
def test_it_is_stopped_by_its_successor(shared: SharedEngine) -> None:
    old = Place(shared.where.folder, shared.where.environment, "old")
    process = begin(old)
    until(SharedEngine(old).is_running)
    running(shared)
    assert process.wait(patience.SECONDS) == 0
    assert not old.socket.exists()


def test_an_engine_that_stops_ends_its_grades_first(shared: SharedEngine, catalog: Catalog) -> None:
    running(shared)
    hanging = Request.of(submission(HANGS), catalog.get("v1"), catalog, Options(total_seconds=2.0))
    pending = shared.begin(hanging)
    until(lambda: shared.status().running == 1)  # type: ignore[union-attr]
    stopper = threading.Thread(target=shared.stop)
    stopper.start()
    assert pending.result().verdict == "unrunnable"
    stopper.join()
    assert not shared.is_running()


def test_a_kill_in_the_middle_costs_one_cold_grade(shared: SharedEngine, catalog: Catalog) -> None:
    status = running(shared)
    folder = Path(shared.where.lock.read_text(encoding="utf-8").partition(" ")[2])
    pending = shared.begin(Request.of(submission(HANGS), catalog.get("v1"), catalog, Options()))
    until(lambda: list(folder.iterdir()))  # a worker is at work
    os.kill(status.pid, signal.SIGKILL)
    with pytest.raises(EngineLost):
        pending.result()
    until(lambda: not is_alive(status.host))
    assert not folder.exists()
    answer = wrong(catalog)
    cold = grading.grade(answer, catalog.get("v3"), catalog, Options(seed=5))
    until(shared.is_running)
    warm = grading.grade(answer, catalog.get("v3"), catalog, Options(seed=5))
    assert shared.status().grades == 1  # type: ignore[union-attr]
    assert timeless(cold) == timeless(warm)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["host", "pid"])
def test_one_that_hangs_is_ended_and_replaced(
    shared: SharedEngine, catalog: Catalog, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(client, "PING_SECONDS", 0.5)
    status = running(shared)
    os.kill(getattr(status, part), signal.SIGSTOP)
    grade = grading.grade(solution(catalog, "v1"), catalog.get("v1"), catalog)
    assert grade.verdict == "passed"
    until(lambda: not is_alive(status.pid))
    until(shared.is_running)
    until(lambda: not is_alive(status.host))


def test_what_is_no_command_is_dropped_and_the_next_one_is_served(
    shared: SharedEngine, catalog: Catalog
) -> None:
    running(shared)
    for head in (b"", b"x" * 4, b"gxxx", b"s"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(shared.where.socket))
            stranger.sendall(head)
    request = Request.of(solution(catalog, "v1"), catalog.get("v1"), catalog, Options())
    assert shared.grade(request).verdict == "passed"


def test_a_socket_that_nobody_listens_on_is_no_engine(shared: SharedEngine) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(shared.where.socket))
    assert not shared.is_running()
    assert shared.status() is None
    assert not shared.stop()
