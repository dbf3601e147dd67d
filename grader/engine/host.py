"""`python -m grader.engine.host FD ROOTS DENY`: torch imported once, a fresh worker forked for each grade.

The host holds nothing of the judge and of no kata, and it never reads a request: whoever wants a grade sends
one end of a connection, and the host hands that on to the judges' template (`grader.engine.judges`), together
with the trusted ends of a new worker. So no worker can inherit a check, a reference or an earlier submission.

It lives as long as the other end of its control socket is open.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from grader.confine import process as own
from grader.confine.policy import Level, unnamed
from grader.engine.descriptors import (
    END,
    FAULT,
    GRADE,
    MAX_NOTE,
    PING,
    READY,
    WARM_UP,
    close_all,
    one_of,
    receive,
)
from grader.engine.launch import ChildProcess, Launcher
from grader.errors import ConfinementUnavailable, KataError

LEVELS: dict[bytes, Level] = {level.encode(): level for level in get_args(Level)}
STRICTEST: Level = "strict"
USUAL: Level = "standard"


@dataclass(frozen=True)
class Running:
    """A worker. `lifeline` breaks when its judge has gone; `status_fd` tells the judge how it ended.

    `kept` is what came beside the connection: whoever watches the other ends sees them break when nothing of
    the grade is left.
    """

    process: ChildProcess
    worker_fd: int
    lifeline: int
    status_fd: int
    kept: tuple[int, ...]


class Host:
    """Forks workers, gives them to the judges, and clears up behind them."""

    def __init__(
        self, control: socket.socket, judges: socket.socket, template: int, launcher: Launcher
    ) -> None:
        self._launcher = launcher
        self._control = control
        self._judges = judges
        self._template = template
        self._running: dict[int, Running] = {}  # by either descriptor that is watched
        self._poll = select.epoll()

    def serve(self) -> None:
        """Until the client has gone, or the judges' template has."""
        self._poll.register(self._control, select.EPOLLIN)
        self._poll.register(self._judges, select.EPOLLIN)
        while True:
            for descriptor in one_of(self._poll):
                if descriptor == self._judges.fileno():
                    return
                if descriptor == self._control.fileno():
                    note, descriptors = receive(self._control)
                    if not note and not descriptors:
                        return
                    if note == PING:
                        self._send(PING, descriptors)
                        close_all(descriptors)
                    else:
                        self._start(GRADE, descriptors, LEVELS.get(note, STRICTEST))
                elif descriptor in self._running:
                    self._attend(descriptor)

    def warm_up(self) -> None:
        """Let the template grade an answer of its own, with a real worker."""
        self._start(WARM_UP, [], USUAL)
        self._poll.register(self._judges, select.EPOLLIN)
        ended = False
        while self._running or not ended:
            for descriptor in one_of(self._poll):
                if descriptor == self._judges.fileno():
                    note, _ = receive(self._judges)
                    if note != END:
                        raise ConnectionError("the judges' template ended during its warm-up")
                    ended = True
                elif descriptor in self._running:
                    self._attend(descriptor)
        self._poll.unregister(self._judges)

    def close(self) -> None:
        """End every worker, and the template."""
        for running in {id(running): running for running in self._running.values()}.values():
            self._finish(running)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._template, signal.SIGKILL)
        own.sweep()

    def _start(self, kind: bytes, request: list[int], level: Level) -> None:
        """A worker, and a judge for it; what goes wrong is told to the client by the template."""
        try:
            handle = self._launcher.fork(level)
        except (KataError, OSError) as error:
            self._send(FAULT + fault_note(error), request)
            close_all(request)
            return
        assert isinstance(handle.process, ChildProcess)
        worker_fd = os.pidfd_open(handle.process.pid)
        status_read, status_write = os.pipe()
        lifeline_read, lifeline_write = os.pipe()
        ends = [
            *request,
            handle.channel.detach(),
            handle.output_fd,
            os.dup(worker_fd),
            status_read,
            lifeline_write,
        ]
        self._send(b":".join((kind, level.encode(), os.fsencode(handle.process.scratch))), ends)
        kept = request[1:]
        close_all([end for end in ends if end not in kept])
        running = Running(handle.process, worker_fd, lifeline_read, status_write, tuple(kept))
        for descriptor, event in ((worker_fd, select.EPOLLIN), (lifeline_read, 0)):
            self._running[descriptor] = running
            self._poll.register(descriptor, event)

    def _send(self, note: bytes, descriptors: list[int]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `serve` sees that it has gone
            socket.send_fds(self._judges, [note], descriptors)

    def _attend(self, descriptor: int) -> None:
        """The worker ended, or its judge did."""
        running = self._running[descriptor]
        if descriptor == running.lifeline:
            self._finish(running)
            return
        status = running.process.status(0)
        if status is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(running.status_fd, f"{status.code} {status.signal}".encode())
            self._poll.unregister(running.worker_fd)
            del self._running[running.worker_fd]

    def _finish(self, running: Running) -> None:
        """Nothing of this worker stays: no process of its group, no orphan, no folder, no descriptor."""
        running.process.kill()
        for descriptor in (running.worker_fd, running.lifeline):
            if self._running.pop(descriptor, None) is not None:
                self._poll.unregister(descriptor)
        close_all([running.worker_fd, running.lifeline, running.status_fd])
        own.sweep(keep=frozenset({self._template, *self._pids()}))
        close_all(running.kept)

    def _pids(self) -> set[int]:
        return {running.process.pid for running in self._running.values()}


def fault_note(error: KataError | OSError) -> bytes:
    """What went wrong, for the template to pass on to the client."""
    fault: dict[str, str | tuple[str, ...]] = {"message": str(error)[:500]}
    if isinstance(error, KataError):
        fault["fix"] = error.fix[:500]
    if isinstance(error, ConfinementUnavailable):
        fault["missing"] = error.missing
    return json.dumps(fault).encode()[: MAX_NOTE - len(FAULT)]


def main(control_fd: int, roots: tuple[Path, ...], *deny: str) -> None:
    """Become the host: import, warm up, fork the judges' template, serve. No worker may read `deny`."""
    gc.disable()
    import pytest  # noqa: F401
    import safetensors.torch  # noqa: F401
    import torch

    torch.set_num_threads(1)
    from grader.engine.warmup import warm_worker

    warm_worker()
    own.harden_judge()
    own.adopt_orphans()
    gc.collect()
    gc.freeze()
    judges, template_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    template = os.fork()
    if template == 0:
        from grader.engine.judges import enter

        enter(template_end, roots)
    template_end.close()
    with socket.socket(fileno=control_fd) as control, judges:
        host = Host(control, judges, template, Launcher(Path.cwd(), (*map(unnamed, roots), *deny)))
        try:
            host.warm_up()
            control.send(READY)
            host.serve()
        finally:
            host.close()
            shutil.rmtree(Path.cwd(), ignore_errors=True)  # the folder it was given, with all scratch folders


if __name__ == "__main__":
    main(int(sys.argv[1]), tuple(map(Path, json.loads(sys.argv[2]))), *sys.argv[3:])
