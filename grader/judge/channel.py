"""The judge's end of the channel: requests sent ahead, a deadline for each reply, never a blocking read.

The worker answers one request after the other, so requests may be sent before their turn: then it never
waits for the judge, nor the judge for it. A request's time begins when the judge waits for its reply, with
all earlier ones read.

Whatever the worker does — trickle, hang, die, lie about lengths, ignore signals — each wait ends by its
deadline with a reply or with `WorkerLost`. Time that the worker waited for a processor is not its own: the
deadline moves by that much, and at most to the double.
"""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
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
Answer = tuple[Reply, dict[str, Tensor]]
Pending = Callable[[], Answer]  # waits for the reply; raises `WorkerLost`, then and ever after
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


@dataclass(eq=False)
class _Posted:
    """A request on its way, in the end with its answer."""

    request: type[Request]
    seconds: float
    answer: Answer | None = None


@dataclass
class Channel:
    """Requests out, replies in, and what the candidate printed along the way."""

    handle: WorkerHandle
    total_seconds: float
    clock: Callable[[], float] = time.monotonic
    _printed: bytearray = field(default_factory=bytearray, init=False)
    _dropped: int = field(default=0, init=False)
    _output_open: bool = field(default=True, init=False)
    _outgoing: bytearray = field(default_factory=bytearray, init=False)
    _incoming: bytearray = field(default_factory=bytearray, init=False)
    _posted: deque[_Posted] = field(default_factory=deque, init=False)
    _deaf: OSError | None = field(default=None, init=False)  # why nothing more can be sent
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

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        """Send a request; what is returned waits for its reply, at most so long."""
        posted = _Posted(type(request), seconds)
        if self.lost is None:
            try:
                self._outgoing += encode(request, tensors)
            except ProtocolError as error:  # layers of a size that no frame holds
                self._lose("garbage", self.clock(), STAGES[type(request)], str(error))
            self._posted.append(posted)
            self._push()
        return lambda: self._answer(posted)

    def _answer(self, posted: _Posted) -> Answer:
        while posted.answer is None:
            if self.lost is not None:
                raise self.lost
            self._hear()
        return posted.answer

    def _hear(self) -> None:
        """The reply to the oldest request that has none, or `lost`."""
        posted = self._posted.popleft()
        started = self.clock()
        self._patience, self._starved_before = posted.seconds, self.handle.process.starved()
        stage = STAGES[posted.request]
        ends_at = min(started + posted.seconds, self._ends_at)
        try:
            reply, back = self._reply(ends_at)
            if not isinstance(reply, REPLIES[posted.request] | Failure):
                raise ProtocolError(f"a {type(reply).__name__} is no answer to a {posted.request.__name__}")
            posted.answer = reply, back
        except ProtocolError as error:
            self._lose("garbage", started, stage, str(error))
        except TimeoutError:
            if self._ends_at < started + posted.seconds:
                self._lose("total", started, stage)
            else:  # the time it was given; how long that took to pass here says nothing about the answer
                self._lose("hang", started, stage, seconds=posted.seconds)
        except OSError as error:
            self._lose("ended", started, stage, str(error))
        except Overflow:
            self._lose("files", started, stage)

    def settle(self) -> None:
        """Hear what was asked and nobody waited for: so what is printed is the same in every grade."""
        while self._posted and self.lost is None:
            self._hear()

    def close(self) -> None:
        """End the worker, whatever it is doing."""
        self.handle.process.kill()
        self._drain()
        self.handle.channel.close()
        os.close(self.handle.output_fd)

    def _lose(
        self, why: Why, started: float, stage: Stage, detail: str = "", *, seconds: float | None = None
    ) -> None:
        status = self.handle.process.status(GRACE) if why == "ended" else None
        self.handle.process.kill()
        self._drain()
        taken = self.clock() - started if seconds is None else seconds
        self.lost = WorkerLost(why, taken, status, stage, detail)

    def _reply(self, ends_at: float) -> Answer:
        """One frame."""
        header_length, body_length = frame_lengths(self._receive(PREFIX.size, ends_at))
        reply = decode_reply(self._receive(header_length, ends_at))
        return reply, decode_tensors(self._receive(body_length, ends_at))

    def _push(self) -> None:
        """Send what the worker has room for."""
        while self._outgoing:
            try:
                sent = self.handle.channel.send(self._outgoing)
            except BlockingIOError:
                return
            except OSError as error:  # what it answered before it went is still there to be read
                self._deaf = error
                self._outgoing.clear()
                return
            del self._outgoing[:sent]

    def _receive(self, count: int, ends_at: float) -> bytes:
        """Exactly `count` bytes; memory grows with what arrived, not with what was announced."""
        while len(self._incoming) < count:
            if self._left(ends_at) <= 0:
                raise TimeoutError
            try:
                part = self.handle.channel.recv(1 << 16)
            except BlockingIOError:
                if self._deaf is not None:
                    raise self._deaf from None
                self._wait(ends_at)
                continue
            if not part:
                raise ConnectionResetError("the worker closed the channel")
            self._incoming += part
        data = bytes(self._incoming[:count])
        del self._incoming[:count]
        return data

    def _wait(self, ends_at: float) -> None:
        """Until there is something to read; meanwhile requests go out and what is printed comes in."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.handle.channel, selectors.EVENT_READ)
            if self._outgoing:
                selector.modify(self.handle.channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
            if self._output_open:
                selector.register(self.handle.output_fd, selectors.EVENT_READ)
            while True:
                self._look_at_files()
                left = self._left(ends_at)
                if left <= 0:
                    raise TimeoutError
                for key, events in selector.select(min(left, LOOK_SECONDS)):
                    if key.fileobj is not self.handle.channel:
                        if not self._take_output():
                            selector.unregister(self.handle.output_fd)
                    elif events & selectors.EVENT_READ:
                        return
                    else:
                        self._push()
                        if not self._outgoing:
                            selector.modify(self.handle.channel, selectors.EVENT_READ)
                if self._deaf is not None:
                    return

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
