"""Grades that are waited for until nothing of them is left, and what an engine holds then."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.catalog import Catalog
from grader.engine.client import Pending
from grader.engine.messages import Request
from grader.engine.private import HostProcess
from grader.records import Grade
from tests import patience


@contextmanager
def host_process(catalog: Catalog) -> Iterator[HostProcess]:
    """A host of one's own: it is not replaced when it is lost."""
    host = HostProcess.start(catalog.roots)
    try:
        host.wait_until_ready()
        yield host
    finally:
        host.close()


def grade_and_clear(host: HostProcess, request: Request) -> Grade:
    """The grade, once the host and its template have cleared all of it away.

    The template closes the connection last of all; the host closes last what came beside it.
    """
    ours, theirs = socket.socketpair()
    cleared, held = os.pipe()
    with os.fdopen(cleared, "rb") as pipe, ours.dup() as connection:
        try:
            with theirs:
                host.pass_on(request.options.isolation, [theirs.fileno(), held])
        finally:
            os.close(held)
        grade = Pending(ours, request, host.ask).result()
        for end in (connection, pipe):
            assert select.select([end], [], [], patience.SECONDS)[0], "it is not cleared away"
        assert (connection.recv(1), pipe.read()) == (b"", b"")
    return grade


def children(pid: int) -> list[int]:
    """The processes that this one has started and not yet collected."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in listed.split()]


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
