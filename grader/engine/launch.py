"""Starts and ends worker processes. The one module that owns them.

A `Launcher` forks workers from a process that holds torch and nothing of the judge; `spawn_worker` works
anywhere and pays for `import torch` again (macOS, where forking with torch is not safe). Either way the
worker confines itself before it hears of the candidate's file, and its first frame says what binds it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import select
import signal
import site
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader import paths
from grader.confine import process as own
from grader.confine.apply import Prepared, confine, prepare
from grader.confine.policy import Level, unnamed, worker_policy
from grader.confine.scratch import is_over, make_scratch, remove_scratch
from grader.errors import GraderFault
from grader.handles import ExitStatus, Times, WorkerHandle

POLL_SECONDS = 0.005  # only where the platform has no pidfd
FOLDER_PREFIX = "kata-workers-"


@dataclass
class ChildProcess:
    """A worker that this process started; leads a process group of its own."""

    pid: int
    scratch: Path
    _status: ExitStatus | None = field(default=None, init=False)
    _pidfd: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self.pid)

    def kill(self) -> None:
        """SIGKILL to the whole group, then collect the worker and remove its scratch folder."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._signal_itself()
            self._reap()
        remove_scratch(self.scratch)

    def times(self) -> Times | None:
        return times_of(self.pid)

    def overflows(self) -> bool:
        return is_over(self.scratch)

    def status(self, seconds: float) -> ExitStatus | None:
        if self._status is None and self._ended_within(seconds):
            self._reap()
        return self._status

    def _signal_itself(self) -> None:
        """Through the pidfd where there is one: the number could belong to somebody else by now."""
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            else:
                os.kill(self.pid, signal.SIGKILL)

    def _ended_within(self, seconds: float) -> bool:
        if self._pidfd is not None:
            return bool(select.select([self._pidfd], [], [], seconds)[0])
        ends_at = time.monotonic() + seconds
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > ends_at:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _reap(self) -> None:
        """Collect it; what it left in its group goes first, while the number is still its own."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._status = ExitStatus(code=code) if code >= 0 else ExitStatus(signal=-code)
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def times_of(pid: int) -> Times | None:
    """What that process has used so far; None where nobody counts it."""
    processor = own.processor_time(pid)
    return None if processor is None else Times(processor, own.starved(pid))


@dataclass(frozen=True)
class _Ends:
    """The four descriptors between judge and worker."""

    judge_channel: socket.socket
    worker_channel: socket.socket
    output_read: int
    output_write: int

    @classmethod
    def make(cls) -> _Ends:
        judge_channel, worker_channel = socket.socketpair()
        output_read, output_write = os.pipe()
        return cls(judge_channel, worker_channel, output_read, output_write)

    def keep_the_judges(self) -> None:
        self.worker_channel.close()
        os.close(self.output_write)


class Launcher:
    """Forks workers from this process, which must hold torch and nothing of the judge or of a kata.

    `folder` holds the scratch folders of all its workers; `deny` is what none of them may read beside the
    program itself, `unnamed`. What a level of confinement needs is built when the level is first asked for.
    """

    def __init__(self, folder: Path, deny: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._deny = deny
        self._prepared: dict[Level, Prepared] = {}

    def prepare(self, level: Level) -> Prepared:
        """Raises `ConfinementUnavailable` when the level is `strict` and this machine does not have it."""
        if level not in self._prepared:
            self._prepared[level] = prepare(worker_policy(self._folder, self._deny, level))
        return self._prepared[level]

    def fork(self, level: Level) -> WorkerHandle:
        """A worker of its own. Raises as `prepare` does, and `GraderFault` when there is no room for it."""
        prepared = self.prepare(level)
        scratch = _scratch_folder(self._folder)
        ends = _Ends.make()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                channel_fd, output_fd = ends.worker_channel.detach(), ends.output_write
                _settle(scratch)
                from grader.worker.main import enter

                bind = functools.partial(confine, prepared, scratch, (channel_fd, output_fd), parent)
                enter(channel_fd, output_fd, bind)
            finally:
                os._exit(0)
        ends.keep_the_judges()
        return _handle(ends, pid, scratch, level)

    def close(self) -> None:
        """Let go of what was prepared; workers that run are not touched."""
        for prepared in self._prepared.values():
            prepared.close()
        self._prepared.clear()


def kept_from_workers() -> tuple[str, ...]:
    """The user's home and that of this program, for a host that is not told where they are."""
    with contextlib.suppress(RuntimeError):  # a user without a home
        return tuple(unnamed(path) for path in (paths.home(), Path.home()) if path != Path("/"))
    return (unnamed(paths.home()),)


def user_site() -> dict[str, str]:
    """Packages that were installed for the user alone: found by the home, which the host does not get."""
    base = site.getuserbase() if site.ENABLE_USER_SITE else None
    return {} if base is None else {"PYTHONUSERBASE": base}


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for scratch folders, removed with all that is in it."""
    try:
        folder = make_named_folder(FOLDER_PREFIX)
    except OSError as error:
        raise no_room("the folder for temporary files", error) from error
    try:
        yield folder
    finally:
        remove_scratch(folder)


def make_named_folder(prefix: str) -> Path:
    """A new temporary folder, named after this process; those of processes that have gone are removed."""
    remove_left(prefix)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))


def remove_left(prefix: str = FOLDER_PREFIX) -> None:
    """Folders of this user's processes that have ended: their name says whose they were."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        owner = folder.name.removeprefix(prefix).partition("-")[0]
        try:
            is_own = owner.isdigit() and folder.lstat().st_uid == os.geteuid()
        except OSError:  # just gone
            continue
        if is_own and own.has_ended(int(owner)):
            remove_scratch(folder)


def spawn_worker(folder: Path, level: Level, deny: tuple[str, ...] = ()) -> WorkerHandle:
    """A worker in a fresh interpreter, its scratch folder in `folder`.

    It finds out itself whether the machine has what `level` needs, and its first frame says so.
    """
    scratch = _scratch_folder(folder)
    ends = _Ends.make()
    channel_fd, output_fd = ends.worker_channel.fileno(), ends.output_write
    child = subprocess.Popen(
        [
            *(sys.executable, "-I", "-m", "grader.worker", str(channel_fd), str(output_fd)),
            *(level, str(scratch), *deny),
        ],
        pass_fds=(channel_fd, output_fd),
        stdin=subprocess.DEVNULL,
        stdout=output_fd,
        stderr=output_fd,
        cwd=scratch,
        env=own.clean_environment(scratch),
        start_new_session=True,
    )
    child.returncode = 0  # `ChildProcess` collects it; Popen must not warn that nobody did
    ends.keep_the_judges()
    return _handle(ends, child.pid, scratch, level)


def _handle(ends: _Ends, pid: int, scratch: Path, level: Level) -> WorkerHandle:
    return WorkerHandle(
        channel=ends.judge_channel,
        output_fd=ends.output_read,
        process=ChildProcess(pid, scratch),
        isolation=level,
    )


def _scratch_folder(folder: Path) -> Path:
    try:
        return make_scratch(folder)
    except OSError as error:
        raise no_room(str(folder), error) from error


def no_room(where: str, error: OSError) -> GraderFault:
    return GraderFault(
        f"No folder for the worker can be made in {where}: {error.strerror}.",
        "Make room there, or name another folder: TMPDIR=/path kata grade …",
    )


def _settle(scratch: Path) -> None:
    """In the forked child: an environment and a search path of its own, and no handler of its parent's."""
    own.scrub_environment(own.clean_environment(scratch))
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    sys.argv = ["candidate"]
    sys.orig_argv = []
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).is_absolute()]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    gc.enable()
