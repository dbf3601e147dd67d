"""`python -m grader.engine.daemon`: the user's engine. It listens, and hands connections on to a host.

One runs per user, environment and code: a lock decides between two that start at once. A connection begins
with a head, the command and the isolation that is asked for; what follows is for the judge, and is not read
here.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import msgspec

from grader.engine.client import EngineLost
from grader.engine.endpoint import NoPlace, Place, place
from grader.engine.messages import HEAD_BYTES, Command, decoded
from grader.engine.private import FOLDER_PREFIX, PING, HostProcess
from grader.engine.shared import Status, peer
from grader.exit_codes import ExitCode

IDLE_SECONDS = 30 * 60.0
HEAD_SECONDS = 5.0  # for the head of a connection
DRAIN_SECONDS = 15.0  # for the grades under way when the engine is told to stop


@dataclass
class Daemon:
    """Listens until it was idle for long, was told to stop, or has lost its host."""

    where: Place
    host: HostProcess
    idle_seconds: float
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector, init=False)
    _waiting: dict[socket.socket, float] = field(default_factory=dict, init=False)  # until when
    _running: set[int] = field(default_factory=set, init=False)  # pipes that break when nothing is left
    _stoppers: list[socket.socket] = field(default_factory=list, init=False)
    _grades: int = field(default=0, init=False)
    _over: bool = field(default=False, init=False)

    def run(self) -> None:
        """Listen as soon as the host is ready, serve, and clear everything away at the end."""
        self._started = self._used = time.monotonic()
        try:
            self.host.wait_until_ready()
            with self._listen() as self._listener:
                self._tell_others_to_stop()
                self._serve()
        except EngineLost:
            return
        finally:
            self._unlink()
            self.host.close()
            for connection in (*self._waiting, *self._stoppers):
                connection.close()
            self._selector.close()

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        unready = self.where.socket.with_suffix(f".{os.getpid()}")
        listener.bind(str(unready))
        listener.listen(64)
        listener.setblocking(False)
        unready.rename(self.where.socket)  # whoever finds it can connect
        return listener

    def _unlink(self) -> None:
        self.where.socket.unlink(missing_ok=True)

    def _tell_others_to_stop(self) -> None:
        """Engines of this environment with other code: nobody will find them again."""
        for other in self.where.others():
            with socket.socket(socket.AF_UNIX) as connection:
                try:
                    connection.connect(str(other.socket))
                    connection.sendall(Command.STOP.head())
                except OSError:
                    other.socket.unlink(missing_ok=True)

    def _serve(self) -> None:
        self._watch(self._listener, self._accept)
        self._watch(self.host.control, self._end)
        while not self._over:
            now = time.monotonic()
            for late in [connection for connection, until in self._waiting.items() if until <= now]:
                self._drop(late)
            left = self._leaves_at() - now
            if left <= 0 or (self._stoppers and not self._running):
                return
            # One at a time: what the first does may close what the second is about.
            for key, _ in self._selector.select(min(left, HEAD_SECONDS))[:1]:
                key.data()

    def _leaves_at(self) -> float:
        if self._stoppers:
            return self._used + DRAIN_SECONDS
        return self._used + self.idle_seconds if not self._running else float("inf")

    def _watch(self, source: socket.socket | int, act: Callable[[], None]) -> None:
        self._selector.register(source, selectors.EVENT_READ, act)

    def _end(self) -> None:
        self._over = True

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if peer(connection)[1] != os.geteuid():
            connection.close()
            return
        connection.setblocking(False)
        self._waiting[connection] = time.monotonic() + HEAD_SECONDS
        self._watch(connection, lambda: self._read_head(connection))

    def _read_head(self, connection: socket.socket) -> None:
        try:
            command, isolation = Command.of(connection.recv(HEAD_BYTES))
        except (OSError, ValueError):
            self._drop(connection)
            return
        if command is Command.GRADE and not self._stoppers:
            self._grade(connection, isolation)
        elif command is Command.PING:
            self._pass_on(PING, [connection.fileno()])
        elif command is Command.STATUS:
            with contextlib.suppress(OSError):
                connection.send(msgspec.json.encode(self._status()))
        elif command is Command.STOP:
            self._stop(connection)
            return
        self._drop(connection)

    def _grade(self, connection: socket.socket, isolation: str) -> None:
        """Hand the connection on; the host holds the other end of a pipe until the grade is cleared away."""
        self._used = time.monotonic()
        self._grades += 1
        connection.setblocking(True)  # for the judge: the descriptions are shared
        read, write = os.pipe()
        if self._pass_on(isolation, [connection.fileno(), write]):
            self._running.add(read)
            self._watch(read, lambda: self._ended(read))
        else:
            os.close(read)
        os.close(write)

    def _pass_on(self, note: str, descriptors: list[int]) -> bool:
        """Whether the host got it; without a host it is over."""
        try:
            self.host.pass_on(note, descriptors)
        except EngineLost:
            self._over = True
        return not self._over

    def _ended(self, read: int) -> None:
        self._used = time.monotonic()
        self._running.discard(read)
        self._selector.unregister(read)
        os.close(read)

    def _stop(self, connection: socket.socket) -> None:
        """No new grades; those under way may end. The connection is closed when the engine has gone."""
        self._unlink()
        if not self._stoppers:
            self._selector.unregister(self._listener)
            self._used = time.monotonic()
        self._selector.unregister(connection)
        del self._waiting[connection]
        self._stoppers.append(connection)

    def _drop(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        del self._waiting[connection]
        connection.close()

    def _status(self) -> Status:
        return Status(
            pid=os.getpid(),
            host=self.host.process.pid,
            seconds=round(time.monotonic() - self._started, 1),
            grades=self._grades,
            running=len(self._running),
            idle_seconds=self.idle_seconds,
            bytes=_resident_bytes(self.host.process.pid),
        )


def run(where: Place, idle_seconds: float = IDLE_SECONDS) -> bool:
    """Be the engine of that place until it ends; False when there is one, or one is starting."""
    with where.lock.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        lock.seek(0)
        _clear_up(lock.read())
        host = HostProcess.start(where.roots)
        _note(lock, f"{host.process.pid} {host.folder}")
        Daemon(where, host, idle_seconds).run()
        _note(lock, "")
        return True


def _note(lock: TextIO, text: str) -> None:
    """Written while the host runs, for whoever comes after an engine that was killed."""
    lock.seek(0)
    lock.truncate()
    lock.write(text)
    lock.flush()


def _clear_up(left: str) -> None:
    """End the host of an engine that was killed, should it hang, and remove its folder."""
    pid, _, folder = left.partition(" ")
    if not folder:
        return
    with contextlib.suppress(OSError):
        if b"grader.engine.host" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), signal.SIGKILL)
    if Path(folder).name.startswith(FOLDER_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf(
            "SC_PAGESIZE"
        )
    except OSError:
        return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Started in the background by `grader.engine.shared`; its standard streams are closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS)
    parser.add_argument("--roots", type=decoded, default=())
    wanted = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.PASSED))  # clears up on its way out
    try:
        run(place(os.environ, wanted.roots), wanted.idle)
    except (NoPlace, OSError):
        return ExitCode.GRADER_FAULT
    return ExitCode.PASSED


if __name__ == "__main__":
    sys.exit(main())
