"""The client's end of one grading: request out, sign of life, answer in; or `EngineLost`, in bounded time."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.engine.messages import STARTED, Garbled, Request, pack, read_answer
from grader.records import Grade

ANSWER_SECONDS = 5.0  # for the sign of life, and beyond the grade's own deadline


class EngineLost(Exception):
    """No verdict will come from this engine, which says nothing about the answer: grade it elsewhere."""


@dataclass
class Pending:
    """A grading under way on `connection`; closing the connection ends it."""

    connection: socket.socket
    request: Request
    _began: float = field(default_factory=time.monotonic, init=False)

    def result(self, meanwhile: Callable[[], None] | None = None) -> Grade:
        """The grade; raises the judge's `KataError`, or `EngineLost` soon after the deadline.

        `meanwhile` is called once the request is on its way.
        """
        try:
            with self.connection:
                self.connection.settimeout(ANSWER_SECONDS)
                self.connection.sendall(pack(self.request))
                if meanwhile is not None:
                    meanwhile()
                if self.connection.recv(1) != STARTED:
                    raise EngineLost("it closed the connection")
                answer = read_answer(self._read)
        except (OSError, Garbled) as error:
            raise EngineLost(str(error)) from error
        if answer.fault is not None:
            raise answer.fault.error()
        if answer.grade is None:
            raise EngineLost("the answer is empty")
        return answer.grade

    def cancel(self) -> None:
        """From another thread: end the grading; its `result` raises `EngineLost`."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _read(self, count: int) -> bytes:
        total = self.request.options.total_seconds or self.request.kata.deadlines.total
        left = self._began + total + ANSWER_SECONDS - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not answer in time")
        self.connection.settimeout(left)
        return self.connection.recv(count)
