"""The judge's end of the channel: one deadline for a whole exchange, never a blocking read.

Whatever the worker does — trickle, hang, die, lie about lengths, ignore signals — an exchange ends by its
deadline with a reply or with `WorkerLost`. Time that the worker waited for a processor is not its own: the
deadline moves by that much, and at most to the double.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from grader.handles import ExitStatus, WorkerHandle
from grader.protocol import (
    PREFIX,
    Build,
    Built,
    Call,
    Called,
    Confined,
    Describe,
    Failure,
    Load,
    Loaded,
    ProtocolError,
    Reply,
    Request,
    decode_reply,
    decode_tensors,
    encode,
    frame_lengths,
)
from grader.records import Printed

SHOWN_OUTPUT = 64 * 1024
GRACE = 0.5  # seconds to learn how a worker ended, after it closed the channel
START_SECONDS = 120.0  # until a worker is there: a fresh interpreter may read torch from a cold disk
LOOK_SECONDS = 0.2  # between looks at the worker's scratch folder


Why = Literal["hang", "total", "ended", "garbage", "files"]
Stage = Literal["load", "build", "forward"]
STAGES: dict[type[Request], Stage] = {Load: "load", Build: "build", Describe: "build", Call: "forward"}
REPLIES: dict[type[Request], type[Reply]] = {Load: Loaded, Build: Built, Describe: Built, Call: Called}


class Overflow(Exception):
    """The worker's scratch folder holds more than it may."""


class WorkerLost(Exception):
    """No reply will come any more: why, after how many seconds, and what was being done."""

    def __init__(
        self,
        why: Why,
        seconds: float,
        status: ExitStatus | None,
        stage: Stage = "forward",
        detail: str = "",
    ) -> None:
        super().__init__(f"{why} {detail}".strip())
        self.why = why
        self.stage = stage
        self.seconds = seconds
        self.status = status
        self.detail = detail


@dataclass
class Channel:
    """Requests out, replies in, and what the candidate printed along the way."""

    handle: WorkerHandle
    total_seconds: float
    clock: Callable[[], float] = time.monotonic
    _printed: bytearray = field(default_factory=bytearray, init=False)
    _dropped: int = field(default=0, init=False)
    _output_open: bool = field(default=True, init=False)
    lost: WorkerLost | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._ends_at = self.clock() + self.total_seconds
        self._looked_at = self.clock()
        self._patience = self._starved_before = 0.0
        self.handle.channel.setblocking(False)
        os.set_blocking(self.handle.output_fd, False)

    @property
    def printed(self) -> Printed:
        text = bytes(self._printed).decode("utf-8", errors="replace")
        return Printed(text=text, dropped_bytes=self._dropped)

    def greeting(self, seconds: float = START_SECONDS) -> Confined:
        """What the worker says of itself before it hears of any file; the time for the grade begins now.

        Raises `WorkerLost`, which at this point says nothing about the candidate.
        """
        started = self.clock()
        self._patience, self._starved_before = 0.0, 0.0
        try:
            reply, _ = self._reply(started + seconds)
            if not isinstance(reply, Confined):
                raise ProtocolError(f"a {type(reply).__name__} is no greeting")
        except ProtocolError as error:
            self._lose("garbage", started, "load", str(error))
        except TimeoutError:
            self._lose("hang", started, "load")
        except OSError as error:
            self._lose("ended", started, "load", str(error))
        else:
            self._ends_at = self.clock() + self.total_seconds
            return reply
        assert self.lost is not None
        raise self.lost

    def exchange(
        self, request: Request, tensors: dict[str, Tensor] | None, seconds: float
    ) -> tuple[Reply, dict[str, Tensor]]:
        """Send a request and return its reply; raises `WorkerLost`, then and ever after."""
        if self.lost is not None:
            raise self.lost
        started = self.clock()
        self._patience, self._starved_before = seconds, self.handle.process.starved()
        stage = STAGES[type(request)]
        ends_at = min(started + seconds, self._ends_at)
        try:
            self._send(encode(request, tensors), ends_at)
            reply, back = self._reply(ends_at)
            if not isinstance(reply, REPLIES[type(request)] | Failure):
                raise ProtocolError(f"a {type(reply).__name__} is no answer to a {type(request).__name__}")
            return reply, back
        except ProtocolError as error:
            self._lose("garbage", started, stage, str(error))
        except TimeoutError:
            total = self._ends_at < started + seconds
            self._lose("total" if total else "hang", started, stage)
        except OSError as error:
            self._lose("ended", started, stage, str(error))
        except Overflow:
            self._lose("files", started, stage)
        assert self.lost is not None
        raise self.lost

    def close(self) -> None:
        """End the worker, whatever it is doing."""
        self.handle.process.kill()
        self._drain()
        self.handle.channel.close()
        os.close(self.handle.output_fd)

    def _lose(self, why: Why, started: float, stage: Stage, detail: str = "") -> None:
        status = self.handle.process.status(GRACE) if why == "ended" else None
        self.handle.process.kill()
        self._drain()
        self.lost = WorkerLost(why, self.clock() - started, status, stage, detail)

    def _reply(self, ends_at: float) -> tuple[Reply, dict[str, Tensor]]:
        """One frame."""
        header_length, body_length = frame_lengths(self._receive(PREFIX.size, ends_at))
        reply = decode_reply(self._receive(header_length, ends_at))
        return reply, decode_tensors(self._receive(body_length, ends_at))

    def _send(self, data: bytes, ends_at: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self.handle.channel.send(view) :]
            except BlockingIOError:
                self._wait(selectors.EVENT_WRITE, ends_at)

    def _receive(self, count: int, ends_at: float) -> bytes:
        """Exactly `count` bytes; memory grows with what arrived, not with what was announced."""
        parts = bytearray()
        while len(parts) < count:
            if self._left(ends_at) <= 0:
                raise TimeoutError
            try:
                part = self.handle.channel.recv(min(count - len(parts), 1 << 20))
            except BlockingIOError:
                self._wait(selectors.EVENT_READ, ends_at)
                continue
            if not part:
                raise ConnectionResetError("the worker closed the channel")
            parts += part
        return bytes(parts)

    def _wait(self, event: int, ends_at: float) -> None:
        """Until the channel is ready, taking away what the candidate prints meanwhile."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.handle.channel, event)
            if self._output_open:
                selector.register(self.handle.output_fd, selectors.EVENT_READ)
            while True:
                self._look_at_files()
                left = self._left(ends_at)
                if left <= 0:
                    raise TimeoutError
                ready = selector.select(min(left, LOOK_SECONDS))
                for key, _ in ready:
                    if key.fileobj is self.handle.channel:
                        return
                if ready and not self._take_output():
                    selector.unregister(self.handle.output_fd)

    def _left(self, ends_at: float) -> float:
        """Seconds until the deadline, as far as the machine let the worker work."""
        left = ends_at - self.clock()
        if left > 0 or not self._patience:
            return left
        return left + min(self.handle.process.starved() - self._starved_before, self._patience)

    def _look_at_files(self) -> None:
        """The kernel bounds each file that a worker writes, but not how many."""
        if self.clock() - self._looked_at < LOOK_SECONDS:
            return
        if self.handle.process.overflows():
            raise Overflow
        self._looked_at = self.clock()

    def _take_output(self) -> bool:
        """Read what is there now; False when the pipe is closed."""
        try:
            data = os.read(self.handle.output_fd, 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            self._output_open = False
            return False
        room = SHOWN_OUTPUT - len(self._printed)
        self._printed += data[:room] if room > 0 else b""
        self._dropped += len(data) - max(0, min(room, len(data)))
        return True

    def _drain(self) -> None:
        """What is left in the pipe, bounded: a process that escaped could go on printing."""
        for _ in range(64):
            try:
                before = len(self._printed) + self._dropped
                if not self._output_open or not self._take_output():
                    return
                if len(self._printed) + self._dropped == before:
                    return
            except OSError:
                return
