"""Starting workers: what binds them, who is told, and what is left when they end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.confine import landlock
from grader.confine.policy import Level
from grader.engine import launch
from grader.engine.launch import Launcher, spawn_worker, temporary_folder
from grader.errors import ConfinementUnavailable, GraderFault
from grader.handles import WorkerHandle
from grader.judge.channel import Channel

SHARED = ("rlimits", "descriptors", "pdeathsig", "no_new_privs")
FULL = (*SHARED, "capabilities", f"landlock (ABI {landlock.abi()})", "seccomp")


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    made = Launcher(tmp_path)
    yield made
    made.close()


def open_descriptors() -> int:
    return len([*Path("/dev/fd").iterdir()])


def greeted(handle: WorkerHandle) -> tuple[Level | str, tuple[str, ...], tuple[str, ...], bool]:
    channel = Channel(handle, 10.0)
    try:
        said = channel.greeting()
    finally:
        channel.close()
    return said.level, said.mechanisms, said.missing, said.refused


@pytest.mark.parametrize(("level", "mechanisms"), [("strict", FULL), ("standard", FULL), ("process", SHARED)])
class TestLevels:
    def test_a_fork_says_what_binds_it(
        self, launcher: Launcher, level: Level, mechanisms: tuple[str, ...]
    ) -> None:
        assert greeted(launcher.fork(level)) == (level, mechanisms, (), False)

    def test_a_fresh_interpreter_does_too(
        self, tmp_path: Path, level: Level, mechanisms: tuple[str, ...]
    ) -> None:
        assert greeted(spawn_worker(tmp_path, level)) == (level, mechanisms, (), False)


def test_a_level_is_prepared_once(launcher: Launcher) -> None:
    assert launcher.prepare("strict") is launcher.prepare("strict")
    descriptors = open_descriptors()
    for _ in range(5):
        greeted(launcher.fork("strict"))
    assert open_descriptors() == descriptors


def test_strict_is_refused_before_a_worker_is_started(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(ConfinementUnavailable, match="needs landlock"):
        launcher.fork("strict")
    assert list(tmp_path.iterdir()) == []


def refuse(*_: object) -> None:
    raise PermissionError(1, "switched off")


def test_a_worker_that_cannot_bind_itself_says_so_and_hears_of_no_file(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "restrict_self", refuse)
    handle = launcher.fork("strict")
    channel = Channel(handle, 10.0)
    said = channel.greeting()
    assert (said.refused, said.missing) == (True, ("landlock (switched off)",))
    assert handle.process.status(5.0) == launch.ExitStatus(code=0)
    channel.close()


def test_at_standard_it_works_with_what_is_left(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "restrict_self", refuse)
    level, mechanisms, missing, refused = greeted(launcher.fork("standard"))
    assert (level, missing, refused) == ("standard", ("landlock (switched off)",), False)
    assert "seccomp" in mechanisms


def test_a_worker_dies_with_the_process_that_forked_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    host = os.fork()
    if host == 0:
        try:
            handle = Launcher(tmp_path).fork("strict")
            assert isinstance(handle.process, launch.ChildProcess)
            os.write(writing, str(handle.process.pid).encode())
            signal.pause()
        finally:
            os._exit(1)
    worker = os.pidfd_open(int(os.read(reading, 16)))
    os.kill(host, signal.SIGKILL)
    os.waitpid(host, 0)
    assert select.select([worker], [], [], 5.0)[0]
    for descriptor in (reading, writing, worker):
        os.close(descriptor)


def test_no_room_for_a_worker_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        GraderFault, match=r"No folder for the worker can be made in .*: No such file"
    ) as told:
        Launcher(tmp_path / "gone").fork("process")
    assert "TMPDIR" in told.value.fix


class TestTemporaryFolder:
    def test_it_is_gone_with_all_that_is_in_it(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(launch.tempfile, "tempdir", str(tmp_path))
        with temporary_folder() as folder:
            (folder / "worker-1").mkdir()
        assert list(tmp_path.iterdir()) == []

    def test_what_a_killed_process_left_goes_with_the_next(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(launch.tempfile, "tempdir", str(tmp_path))
        killed = os.fork()
        if killed == 0:
            try:
                with temporary_folder():
                    os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(1)
        os.waitpid(killed, 0)
        [left] = tmp_path.iterdir()
        with temporary_folder() as own, temporary_folder():
            assert own.is_dir()
            assert not left.exists()

    def test_a_folder_for_temporary_files_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(launch.tempfile, "tempdir", "/nowhere")
        with pytest.raises(GraderFault, match="No folder for the worker"), temporary_folder():
            pass


def test_its_time_begins_when_it_is_there(launcher: Launcher) -> None:
    """A slow start is not the candidate's."""
    handle = launcher.fork("process")
    channel = Channel(handle, 0.05)
    time.sleep(0.1)
    channel.greeting()
    assert channel.lost is None
    channel.close()
