"""Starts and ends worker processes. The one module that owns them.

`fork_worker` needs a process that holds torch and nothing of the judge; `spawn_worker` works anywhere and
pays for `import torch` again (macOS, where forking with torch is not safe).
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from grader.handles import ExitStatus, WorkerHandle

KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
POLL_SECONDS = 0.005  # only where the platform has no pidfd


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
        shutil.rmtree(self.scratch, ignore_errors=True)

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


def fork_worker() -> WorkerHandle:
    """A worker forked from this process, which must hold torch and nothing of the judge or of a kata."""
    ends = _Ends.make()
    scratch = _scratch_folder()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            channel_fd = ends.worker_channel.detach()
            _close_all_but({channel_fd, ends.output_write})
            _settle(scratch)
            gc.enable()
            from grader.worker.main import enter

            enter(channel_fd, ends.output_write)
        finally:
            os._exit(0)
    ends.keep_the_judges()
    return _handle(ends, pid, scratch)


def spawn_worker() -> WorkerHandle:
    """A worker in a fresh interpreter."""
    ends = _Ends.make()
    scratch = _scratch_folder()
    child = subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-m",
            "grader.worker",
            str(ends.worker_channel.fileno()),
            str(ends.output_write),
        ],
        pass_fds=(ends.worker_channel.fileno(), ends.output_write),
        stdin=subprocess.DEVNULL,
        stdout=ends.output_write,
        stderr=ends.output_write,
        cwd=scratch,
        env=_environment(scratch),
        start_new_session=True,
    )
    child.returncode = 0  # `ChildProcess` collects it; Popen must not warn that nobody did
    ends.keep_the_judges()
    return _handle(ends, child.pid, scratch)


def _handle(ends: _Ends, pid: int, scratch: Path) -> WorkerHandle:
    return WorkerHandle(
        channel=ends.judge_channel,
        output_fd=ends.output_read,
        process=ChildProcess(pid, scratch),
        isolation="own process",
    )


def _scratch_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="kata-worker-"))


def _environment(scratch: Path) -> dict[str, str]:
    """Nothing of the caller's but the language: no tokens, no paths, no settings that change Python."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {
        **kept,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch),
        "PATH": os.defpath,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _settle(scratch: Path) -> None:
    """In the forked child: a folder, an environment and a search path of its own."""
    os.chdir(scratch)
    os.umask(0o077)
    environment = _environment(scratch)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    sys.argv = ["candidate"]
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).is_absolute()]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _close_all_but(kept: set[int]) -> None:
    """Every descriptor from 3 up is closed, but those."""
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 4096)
