"""What the host and the judges' template say to each other: notes, and descriptors beside them."""

from __future__ import annotations

import array
import os
import select
import socket
from collections.abc import Iterable, Iterator

MAX_NOTE = 2048  # bytes of a message beside its descriptors
MAX_DESCRIPTORS = 8
READY = b"ready"
WARM_UP = b"warm-up"
FAULT = b"fault:"
GRADE = b"grade"
PING = b"ping"  # nothing is to be graded: whoever asks wants a sign of life
END = b"end"  # of the template's own warm-up


def one_of(poll: select.epoll) -> Iterator[int]:
    """The next descriptor that is ready, one at a time: what is closed for one may get its number again."""
    for descriptor, _ in poll.poll(maxevents=1):
        yield descriptor


def receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    """One message and its descriptors; both empty when the other side has gone."""
    try:
        note, ancillary, _, _ = channel.recvmsg(
            MAX_NOTE, socket.CMSG_SPACE(MAX_DESCRIPTORS * array.array("i").itemsize), socket.MSG_CMSG_CLOEXEC
        )
    except ConnectionResetError:
        return b"", []
    found = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return note, list(found)


def close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
