"""The user's engine as seen from a command: use it if it is there, start it for the next time if it is not.

Whatever is wrong with it (crashed, hung, stale, somebody else's) costs one cold grade and never a verdict.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader import paths
from grader.confine.process import clean_environment
from grader.engine.client import ANSWER_SECONDS, EngineLost, Pending
from grader.engine.endpoint import NoPlace, Place, place
from grader.engine.launch import user_site
from grader.engine.messages import Command, Request, encoded
from grader.records import Grade, Record, Told

STOP_SECONDS = 25.0
CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group


class Status(Record):
    """What an engine says about itself. `bytes` is what its host holds in memory; most of it all share."""

    pid: int
    host: int
    seconds: float  # since it was started
    grades: int
    running: int
    idle_seconds: float  # after which it leaves
    bytes: int


@dataclass(frozen=True)
class SharedEngine:
    """The engine at one place, running or not."""

    where: Place

    @classmethod
    def of(cls, environ: Mapping[str, str], roots: Sequence[Path] = ()) -> SharedEngine | None:
        """The caller's engine for the katas of these roots; None where there cannot be one."""
        if sys.platform != "linux":
            return None
        try:
            return cls(place(environ, roots))
        except NoPlace:
            return None

    def others(self) -> list[SharedEngine]:
        """Engines that run with other code, as from before a reinstall: no grade asks them any more."""
        engines = [SharedEngine(other) for other in self.where.others()]
        return [engine for engine in engines if engine.is_running()]

    def begin(self, request: Request, told: Told | None = None) -> Pending:
        """Start a grading; raises `EngineLost` when no engine is there."""
        connection = self._command(Command.GRADE.head(request.options.isolation))
        return Pending(connection, request, self._ask, told)

    def grade(self, request: Request) -> Grade:
        """A grade from the running engine; raises `EngineLost`."""
        return self.finish(self.begin(request))

    def finish(self, pending: Pending, meanwhile: Callable[[], None] | None = None) -> Grade:
        """The outcome of what `begin` gave; raises `EngineLost`. An engine that answers nobody is ended."""
        engine = peer(pending.connection)[0]
        try:
            return pending.result(meanwhile)
        except EngineLost as error:
            if isinstance(error.__cause__, TimeoutError):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(engine, signal.SIGKILL)
            raise

    def start(self) -> None:
        """Start the engine in the background, unless one runs; of two that start at once one stays."""
        if self.is_running():
            return
        temporary = Path(tempfile.gettempdir())
        kept = {"KATA_HOME": str(paths.home())}
        if "XDG_RUNTIME_DIR" in os.environ:
            kept["XDG_RUNTIME_DIR"] = os.environ["XDG_RUNTIME_DIR"]
        try:
            started = subprocess.Popen(
                [sys.executable, "-P", "-m", "grader.engine.daemon", "--roots", encoded(self.where.roots)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=temporary,
                env={**clean_environment(temporary), **user_site(), **kept},
                start_new_session=True,
            )
        except OSError:  # no process to be had: the next grade is cold as well
            return
        started.returncode = 0  # it outlives this process; nobody is to wait for it

    def is_running(self) -> bool:
        """Whether somebody listens."""
        try:
            self._connect().close()
        except EngineLost:
            return False
        return True

    def status(self) -> Status | None:
        """What the engine says about itself; None when there is none."""
        try:
            with self._connect() as connection:
                connection.sendall(Command.STATUS.head())
                return msgspec.json.decode(connection.recv(4096), type=Status)
        except (EngineLost, OSError, msgspec.DecodeError):
            return None

    def stop(self) -> bool:
        """Let it end its grades and leave, and wait for that; False when there was none."""
        try:
            connection = self._connect()
        except EngineLost:
            return False
        with connection:
            connection.settimeout(STOP_SECONDS)
            engine = peer(connection)[0]
            try:
                connection.sendall(Command.STOP.head())
                connection.recv(1)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(engine, signal.SIGKILL)
            except OSError:
                return True  # it left before it heard of it
        return True

    def _ask(self) -> socket.socket:
        """A connection on which the engine shows a sign of life, through all its processes."""
        return self._command(Command.PING.head())

    def _command(self, head: bytes) -> socket.socket:
        connection = self._connect()
        try:
            connection.sendall(head)
        except OSError as error:
            connection.close()
            raise EngineLost(str(error)) from error
        return connection

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(ANSWER_SECONDS)
        try:
            connection.connect(str(self.where.socket))
            if peer(connection)[1] != os.geteuid():
                raise EngineLost("it is somebody else's")
        except OSError as error:
            connection.close()
            raise EngineLost(str(error)) from error
        except EngineLost:
            connection.close()
            raise
        return connection


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process and user at the other end, as the kernel knows them."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process, user, _ = CREDENTIALS.unpack(found)
    return process, user
