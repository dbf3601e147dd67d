"""The judge's end of the channel: requests sent ahead, a deadline for each reply, never a blocking read.

The worker answers one request after the other, so requests may be sent before their turn: then it never
waits for the judge, nor the judge for it. A request's time begins when the judge waits for its reply, with
all earlier ones read.

Whatever the worker does — trickle, hang, die, lie about lengths, ignore signals — each wait ends by its
deadline (`patience.py`) with a reply or with `WorkerLost`.
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
from grader.judge.patience import LOOK_SECONDS, OutOf, OutOfTime, Patience
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
    Paste,
    Pasted,
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

Why = OutOf | Literal["ended", "garbage", "files"]
Stage = Literal["load", "build", "forward"]
Answer = tuple[Reply, dict[str, Tensor]]
Pending = Callable[[], Answer]  # waits for the reply; raises `WorkerLost`, then and ever after
Kind = tuple[type[Request], bool, bool]  # the request, in training, with gradients
STAGES: dict[type[Request], Stage] = {
    Load: "load",
    Build: "build",
    Describe: "build",
    Call: "forward",
    Paste: "forward",
}
REPLIES: dict[type[Request], type[Reply]] = {
    Load: Loaded,
    Build: Built,
    Describe: Built,
    Call: Called,
    Paste: Pasted,
}


class Overflow(Exception):
    """The worker's scratch folder holds more than it may."""


class WorkerLost(Exception):
    """No reply will come any more: why, after how many seconds, and what was being done.

    The seconds of a limit are those that it allows: how long they took to pass says nothing about the answer.
    """

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
    first: bool  # of its kind
    answer: Answer | None = None


@dataclass
class Channel:
    """Requests out, replies in, and what the candidate printed along the way.

    `stretch` multiplies the time of each call, for callers who give the whole grade more than the kata does.
    """

    handle: WorkerHandle
    total_seconds: float
    clock: Callable[[], float] = time.monotonic
    stretch: float = 1.0
    _printed: bytearray = field(default_factory=bytearray, init=False)
    _dropped: int = field(default=0, init=False)
    _output_open: bool = field(default=True, init=False)
    _outgoing: bytearray = field(default_factory=bytearray, init=False)
    _incoming: bytearray = field(default_factory=bytearray, init=False)
    _posted: deque[_Posted] = field(default_factory=deque, init=False)
    _kinds: set[Kind] = field(default_factory=set, init=False)
    _deaf: OSError | None = field(default=None, init=False)  # why nothing more can be sent
    lost: WorkerLost | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._looked_at = self.clock()
        self._patience = Patience(self.handle.process, self.clock)
        self._patience.start(self.total_seconds)
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
        self._patience.start(seconds)
        try:
            reply, _ = self._reply()
            if not isinstance(reply, Confined):
                raise ProtocolError(f"a {type(reply).__name__} is no greeting")
        except ProtocolError as error:
            self._lose("garbage", started, "load", str(error))
        except OutOfTime as over:
            self._lose(over.why, started, "load", seconds=over.seconds)
        except OSError as error:
            self._lose("ended", started, "load", str(error))
        else:
            self._patience.start(self.total_seconds)
            return reply
        assert self.lost is not None
        raise self.lost

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        """Send a request; what is returned waits for its reply, at most so long."""
        kind = _kind(request, tensors)
        posted = _Posted(type(request), seconds * self.stretch, kind not in self._kinds)
        self._kinds.add(kind)
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
        self._patience.next(posted.seconds, first=posted.first)
        stage = STAGES[posted.request]
        try:
            reply, back = self._reply()
            self._patience.heard()
            if not isinstance(reply, REPLIES[posted.request] | Failure):
                raise ProtocolError(f"a {type(reply).__name__} is no answer to a {posted.request.__name__}")
            posted.answer = reply, back
        except ProtocolError as error:
            self._lose("garbage", started, stage, str(error))
        except OutOfTime as over:
            self._lose(over.why, started, stage, seconds=over.seconds)
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

    def _reply(self) -> Answer:
        """One frame."""
        header_length, body_length = frame_lengths(self._receive(PREFIX.size))
        reply = decode_reply(self._receive(header_length))
        return reply, decode_tensors(self._receive(body_length))

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

    def _receive(self, count: int) -> bytes:
        """Exactly `count` bytes; memory grows with what arrived, not with what was announced."""
        while len(self._incoming) < count:
            self._patience.check()
            try:
                part = self.handle.channel.recv(1 << 16)
            except BlockingIOError:
                if self._deaf is not None:
                    raise self._deaf from None
                self._wait()
                continue
            if not part:
                raise ConnectionResetError("the worker closed the channel")
            self._incoming += part
        data = bytes(self._incoming[:count])
        del self._incoming[:count]
        return data

    def _wait(self) -> None:
        """Until there is something to read; meanwhile requests go out and what is printed comes in."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.handle.channel, selectors.EVENT_READ)
            if self._outgoing:
                selector.modify(self.handle.channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
            if self._output_open:
                selector.register(self.handle.output_fd, selectors.EVENT_READ)
            while True:
                self._look_at_files()
                self._patience.check()
                for key, events in selector.select(self._patience.look_in()):
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


def _kind(request: Request, tensors: dict[str, Tensor] | None) -> Kind:
    """Requests of one kind run the same parts of torch; the first one imports them."""
    training = isinstance(request, Call) and request.training
    return type(request), training, tensors is not None and "cotangent" in tensors
