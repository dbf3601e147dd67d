"""The judges' template: forked from the host, holds the judge's code and all katas, forks a judge per grade.

A judge reads one request from its client, judges the worker whose ends came with it, answers, and ends. When
its client goes away first (Ctrl-C, a newer save), it is ended; when it has ended, however it did, the host
sees its lifeline break and ends the worker. One that missed its own deadline is answered for by the template.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.catalog import Catalog, Kata
from grader.confine import process as own
from grader.confine.scratch import is_over
from grader.engine import deadline
from grader.engine.descriptors import END, FAULT, PING, WARM_UP, close_all, one_of, receive
from grader.engine.launch import times_of
from grader.engine.messages import STARTED, Answer, Fault, Garbled, Request, pack, read_request
from grader.errors import GraderFault, KataError
from grader.handles import ExitStatus, Times, WorkerHandle
from grader.judge.content import KataContent, load_content
from grader.judge.session import judge
from grader.judge.trial import try_out
from grader.packs import load_roots
from grader.records import Submission, Told

REQUEST_SECONDS = 30.0  # a client that has connected sends its request at once, and reads its answer


@dataclass
class RemoteProcess:
    """A worker that the host started: the judge may end it, and is told how it ended."""

    pidfd: int
    status_fd: int
    scratch: Path
    _status: ExitStatus | None = None

    def kill(self) -> None:
        """SIGKILL; the rest of its group, and its folder, are the host's to clear when the judge has gone."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def times(self) -> Times | None:
        return times_of(_pid_of(self.pidfd))

    def overflows(self) -> bool:
        return is_over(self.scratch)

    def status(self, seconds: float) -> ExitStatus | None:
        if self._status is None and select.select([self.status_fd], [], [], seconds)[0]:
            words = os.read(self.status_fd, 64).decode().split()
            code, number = (None if word == "None" else int(word) for word in words)
            self._status = ExitStatus(code=code, signal=number)
        return self._status


def _pid_of(pidfd: int) -> int:
    """The process behind the descriptor; -1 when it has ended."""
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), -1)


@dataclass
class Judging:
    """A judge at work, and its client's end, watched for the client's leaving."""

    pid: int
    pidfd: int
    client: int


@dataclass(frozen=True)
class Preloaded:
    """The content of all katas below some roots, as the template has it. What does not load is not there:
    who wants it graded is told why.
    """

    roots: tuple[Path, ...]
    contents: Sequence[KataContent]

    def of(self, catalog: Catalog) -> Sequence[KataContent]:
        """What serves that catalog; nothing where its katas lie elsewhere."""
        return self.contents if catalog.roots == self.roots else ()


class Template:
    """Forks judges, and ends those whose client has gone."""

    def __init__(self, host: socket.socket, loaded: Preloaded) -> None:
        self._host = host
        self._loaded = loaded
        self._poll = select.epoll()
        self._judging: dict[int, Judging] = {}  # by either descriptor that is watched

    def serve(self) -> None:
        """Until the host has gone."""
        self._poll.register(self._host, select.EPOLLIN)
        while True:
            for descriptor in one_of(self._poll):
                if descriptor in self._judging:
                    self._attend(descriptor)
                elif descriptor == self._host.fileno():
                    note, descriptors = receive(self._host)
                    if not note:
                        return
                    self._start(note, descriptors)

    def _start(self, note: bytes, descriptors: list[int]) -> None:
        if note == PING:
            _tell(descriptors, STARTED)
            return
        if note.startswith(FAULT):
            fault = Answer(fault=msgspec.json.decode(note.removeprefix(FAULT), type=Fault))
            _tell(descriptors, STARTED + pack(fault))
            return
        pid = os.fork()
        if pid == 0:
            _become_judge(note, descriptors, self._loaded)
        client, *others = descriptors
        close_all(others)
        judging = Judging(pid, os.pidfd_open(pid), client)
        for descriptor, event in ((judging.pidfd, select.EPOLLIN), (client, select.EPOLLRDHUP)):
            self._judging[descriptor] = judging
            self._poll.register(descriptor, event)

    def _attend(self, descriptor: int) -> None:
        judging = self._judging[descriptor]
        if descriptor == judging.client:
            signal.pidfd_send_signal(judging.pidfd, signal.SIGKILL)
        ended_by = -os.waitstatus_to_exitcode(os.waitpid(judging.pid, 0)[1])
        if ended_by in deadline.SIGNALS:  # it had said that it started, and had nothing else to say
            _tell([os.dup(judging.client)], pack(Answer(fault=Fault.of(deadline.missed()))))
        for watched in (judging.pidfd, judging.client):
            self._poll.unregister(watched)
            del self._judging[watched]
            os.close(watched)


def _tell(client: list[int], words: bytes) -> None:
    """Say so to a client, who may have gone, and close the connection."""
    with socket.socket(fileno=client[0]) as connection, contextlib.suppress(OSError):
        connection.send(words, socket.MSG_DONTWAIT)


def enter(host: socket.socket, roots: tuple[Path, ...]) -> None:
    """Become the template in this process, freshly forked from the host; never returns."""
    try:
        own.close_descriptors({host.fileno(), 1, 2})
        own.die_with_parent(os.getppid())
        catalog = load_roots(roots)
        loaded = Preloaded(catalog.roots, list(_loadable(catalog)))
        _warm_up(host, [content.kata for content in loaded.contents if not content.kata.pack][-1], catalog)
        gc.collect()
        gc.freeze()
        host.send(END)
        Template(host, loaded).serve()
    finally:
        _leave()


def _loadable(catalog: Catalog) -> Iterator[KataContent]:
    """A kata whose code does not load is told to whoever has it graded; it costs the others nothing."""
    for kata in catalog.katas:
        with contextlib.suppress(GraderFault):
            yield load_content(kata, catalog)


def _warm_up(host: socket.socket, kata: Kata, catalog: Catalog) -> None:
    """Grade the kata's solution, here: pytest's first session, the oracle's first products."""
    note, descriptors = receive(host)
    if not note.startswith(WARM_UP):
        raise ConnectionError(note.decode())
    handle, lifeline = _handle(note, descriptors)
    submission = Submission(name=kata.file_name, source=kata.solution.read_bytes(), sha256="")
    deadline.begin(kata, kata.deadlines.total)
    judge(submission, kata, catalog, handle, seed=1, total_seconds=kata.deadlines.total)
    deadline.end()
    close_all([lifeline])


def _handle(note: bytes, descriptors: list[int]) -> tuple[WorkerHandle, int]:
    """The worker's handle, and the lifeline to the host. `note` is "kind:level:scratch folder"."""
    _, level, scratch = note.split(b":", 2)
    channel, output, pidfd, status, lifeline = descriptors[-5:]
    process = RemoteProcess(pidfd, status, Path(os.fsdecode(scratch)))
    return WorkerHandle(socket.socket(fileno=channel), output, process, level.decode()), lifeline


def _become_judge(note: bytes, descriptors: list[int], loaded: Preloaded) -> None:
    """In a freshly forked judge; never returns."""
    try:
        own.die_with_parent(os.getppid())
        own.close_descriptors({*descriptors, 1, 2})
        random.seed()
        gc.enable()
        handle, _ = _handle(note, descriptors)
        with socket.socket(fileno=descriptors[0]) as client:
            _answer(client, handle, loaded)
    except (OSError, Garbled):
        pass  # the client went away or is none of ours: nobody is left to tell
    finally:
        _leave()


def _answer(client: socket.socket, handle: WorkerHandle, loaded: Preloaded) -> None:
    """One request in, one answer out. Any exception but a `KataError` ends the judge without an answer."""
    client.settimeout(REQUEST_SECONDS)
    client.sendall(STARTED)
    request = read_request(client.recv)
    deadline.begin(request.kata, request.total_seconds)

    def told(done: int, of_all: int) -> None:
        client.sendall(pack(Answer(checks=(done, of_all))))

    try:
        progress = told if request.progress else None
        answer = _judged(request, handle, loaded, progress)
    except KataError as error:
        answer = Answer(fault=Fault.of(error))
    deadline.end()
    client.settimeout(REQUEST_SECONDS)
    client.sendall(pack(answer))


def _judged(request: Request, handle: WorkerHandle, loaded: Preloaded, told: Told | None) -> Answer:
    """What the request asks for; raises the judge's `KataError`."""
    known, total = loaded.of(request.catalog), request.total_seconds
    work = (request.submission, request.kata, request.catalog, handle)
    if request.trial:
        return Answer(trial=try_out(*work, total_seconds=total, loaded=known, measure=request.measured))
    began = time.perf_counter()
    grade = judge(
        *work, seed=request.seed(), total_seconds=total, extra=request.extra(), loaded=known, told=told
    )
    taken = round(time.perf_counter() - began, 4)
    return Answer(grade=msgspec.structs.replace(grade, seconds={"total": taken, **grade.seconds}))


def _leave() -> None:
    """End a forked process at once; a fault of ours is told to who debugs."""
    if sys.exc_info()[0] is not None:
        traceback.print_exc()
    os._exit(0)
