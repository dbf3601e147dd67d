"""The client's end of one grading: request out, sign of life, answer in; or `EngineLost`, in bounded time.

A grade that takes long says nothing about the engine, which may grade for others at this moment. So when one
is late, the engine is asked over another connection, and only one that does not answer there either is lost.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.engine import deadline
from grader.engine.messages import STARTED, Answer, Garbled, Request, pack, read_answer
from grader.records import Grade, Told

ANSWER_SECONDS = 5.0  # for the sign of life, and beyond the judge's own deadline
PING_SECONDS = 15.0  # for an engine that is asked whether it lives, on a busy machine


class EngineLost(Exception):
    """No verdict will come from this engine, which says nothing about the answer: grade it elsewhere."""


@dataclass
class Pending:
    """A grading under way on `connection`; closing the connection ends it.

    `ask` gives another connection to the same engine, on which it will show a sign of life. `told` hears of
    every check, where the request asks for that.
    """

    connection: socket.socket
    request: Request
    ask: Callable[[], socket.socket]
    told: Told | None = None
    _began: float = field(default_factory=time.monotonic, init=False)

    def result(self, meanwhile: Callable[[], None] | None = None) -> Grade:
        """The grade; raises as `answer` does."""
        grade = self.answer(meanwhile).grade
        if grade is None:
            raise EngineLost("the answer is empty")
        return grade

    def answer(self, meanwhile: Callable[[], None] | None = None) -> Answer:
        """What came of it; raises the judge's `KataError`, or `EngineLost` soon after the deadline.

        `meanwhile` is called once the request is on its way.
        """
        try:
            with self.connection:
                self.connection.settimeout(ANSWER_SECONDS)
                self.connection.sendall(pack(self.request))
                if meanwhile is not None:
                    meanwhile()
                if self._sign_of_life() != STARTED:
                    raise EngineLost("it closed the connection")
                answer = read_answer(self._read)
                while answer.checks is not None:
                    if self.told is not None:
                        self.told(*answer.checks)
                    answer = read_answer(self._read)
        except (OSError, Garbled) as error:
            raise EngineLost(str(error)) from error
        if answer.fault is not None:
            raise answer.fault.error()
        return answer

    def cancel(self) -> None:
        """From another thread: end the grading; its `result` raises `EngineLost`."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _sign_of_life(self) -> bytes:
        try:
            return self.connection.recv(1)
        except TimeoutError:
            expect_life(self.ask)
            return self._read(1)  # it lives, and will come to this one

    def _read(self, count: int) -> bytes:
        """Some bytes of the answer. A judge that is later than its own deadline will not answer any more."""
        deadlines = self.request.kata.deadlines
        total = self.request.total_seconds
        ends_at = self._began + deadline.seconds(deadlines, total) + ANSWER_SECONDS
        try:
            self.connection.settimeout(max(ends_at - time.monotonic(), ANSWER_SECONDS))
            return self.connection.recv(count)
        except TimeoutError:
            expect_life(self.ask)
            raise deadline.missed() from None


def expect_life(ask: Callable[[], socket.socket]) -> None:
    """Return when the engine shows a sign of life; raises `EngineLost` or `OSError` when it does not."""
    with ask() as connection:
        connection.settimeout(PING_SECONDS)
        if connection.recv(1) != STARTED:
            raise EngineLost("it has ended")
