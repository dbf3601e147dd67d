"""An engine of one's own, for as long as a `with` block: tests, `kata lint`, whole cohorts, benchmarks.

    with private_engine(catalog) as engine:
        grade = engine.grade(submission, kata, catalog, Options(seed=1))

Threads may share it; each grade has a worker and a judge of its own. A grade that was lost with its host is
asked of the next one. Where forking is not to be had, or that is lost as well, it takes a fresh interpreter
instead: slower, with the same outcome.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from grader.catalog import Catalog, Kata, load_catalog
from grader.confine.process import clean_environment
from grader.engine.client import EngineLost, Pending, expect_life
from grader.engine.launch import kept_from_workers, user_site
from grader.engine.messages import Request, encoded
from grader.engine.subprocess_grade import grade_in_subprocess
from grader.records import Grade, Options, Submission

READY = b"ready"
ASKED = 2  # hosts, for one grade
PING = "ping"  # in place of an isolation: see `grader.engine.host`
FOLDER_PREFIX = "kata-engine-"
START_SECONDS = 120.0


class Engine(Protocol):
    """Whatever grades."""

    def grade(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade: ...


@dataclass(frozen=True)
class HostProcess:
    """A running host: its control socket, its process, and the folder for its workers' scratch folders."""

    control: socket.socket
    process: subprocess.Popen[bytes]
    folder: Path

    @classmethod
    def start(cls, roots: Sequence[Path]) -> HostProcess:
        """Start one for the katas of these roots; `wait_until_ready` before it is used."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        debug = None if os.environ.get("KATA_DEBUG") else subprocess.DEVNULL
        with theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "grader.engine.host",
                    str(theirs.fileno()),
                    encoded(roots),
                    *kept_from_workers(),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=debug,
                cwd=folder,
                env={**clean_environment(folder), **user_site()},
                start_new_session=True,
            )
        return cls(control, process, folder)

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Raises `EngineLost` when it does not come up."""
        ready, _, _ = select.select([self.control], [], [], seconds)
        try:
            word = self.control.recv(16) if ready else b""
        except ConnectionResetError:
            word = b""
        if word != READY:
            raise EngineLost("it did not start")

    def begin(self, request: Request) -> Pending:
        """Hand one end of a new connection to the host."""
        return Pending(self._pass_on_an_end(request.options.isolation), request, self.ask)

    def ask(self) -> socket.socket:
        """A connection on which the host and its judges' template show a sign of life."""
        return self._pass_on_an_end(PING)

    def _pass_on_an_end(self, note: str) -> socket.socket:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self.pass_on(note, [theirs.fileno()])
        except EngineLost:
            ours.close()
            raise
        return ours

    def pass_on(self, note: str, descriptors: list[int]) -> None:
        """Let the host grade over the connection that is the first descriptor.

        `note` is the isolation, or `PING` for a sign of life and no grade. The rest is closed once nothing of
        the grade is left: no process, no folder, no descriptor.
        """
        try:
            socket.send_fds(self.control, [note.encode()], descriptors)
        except OSError as error:
            raise EngineLost(str(error)) from error

    def close(self, seconds: float = 5.0) -> None:
        """The host ends its workers when it is left alone; when it does not, it is ended."""
        self.control.close()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class PrivateEngine:
    """Grades through a host; a lost one is replaced, and its grades are made by the new one."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._lock = threading.Lock()
        self._host: HostProcess | None = None
        self._ready = False
        self._heard = 0.0  # when the host last answered anybody

    def start(self) -> None:
        """Begin to start the host; the first grade waits for it."""
        if sys.platform == "linux":
            self._host = HostProcess.start(self._roots)

    @property
    def pid(self) -> int | None:
        """The host's process; None where grades are cold."""
        return None if self._host is None else self._host.process.pid

    def grade(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade:
        """`grader.grading.grade`, warm."""
        began = time.perf_counter()
        request = Request.of(submission, kata, catalog, options or Options())
        grade = self._warm(request) or grade_in_subprocess(submission, kata, catalog, request.options)
        total = {"total": round(time.perf_counter() - began, 4)}
        return msgspec.structs.replace(grade, seconds={**grade.seconds, **total})

    def _warm(self, request: Request) -> Grade | None:
        """From the host, or the one in its place, so that not all that a lost one held starts cold."""
        for _ in range(ASKED):
            host = self._usable()
            if host is None:
                return None
            try:
                grade = host.begin(request).result()
            except EngineLost:
                self._replace_if_lost(host)
            else:
                self._heard = time.monotonic()
                return grade
        return None

    def begin(self, request: Request) -> Pending:
        """A grading that can be cancelled; raises `EngineLost`, as its result does."""
        host = self._usable()
        if host is None:
            raise EngineLost("there is none")
        return host.begin(request)

    def close(self) -> None:
        """End the host and whatever it runs."""
        with self._lock:
            if self._host is not None:
                self._host.close()
                self._host = None

    def _usable(self) -> HostProcess | None:
        with self._lock:
            if self._host is not None and not self._ready:
                try:
                    self._host.wait_until_ready()
                except EngineLost:
                    self._host.close()
                    self._host = None
                self._ready = True
            return self._host

    def _replace_if_lost(self, host: HostProcess) -> None:
        """A new host, unless this one still answers, if only others, or was replaced."""
        began = time.monotonic()
        with contextlib.suppress(EngineLost, OSError):
            expect_life(host.ask)
            return
        with self._lock:
            answers = self._heard > began and host.process.poll() is None
            if self._host is not host or answers:
                return
            host.close(0.0)
            self._host = HostProcess.start(self._roots)
            self._ready = False


@contextlib.contextmanager
def private_engine(catalog: Catalog | None = None) -> Iterator[PrivateEngine]:
    """An engine for the katas of `catalog` (default: those of this program), ended with the block."""
    engine = PrivateEngine((catalog or load_catalog()).roots)
    engine.start()
    try:
        yield engine
    finally:
        engine.close()
