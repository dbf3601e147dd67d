"""The judge's reader of frames meets bytes that no worker of ours would send.

It ends with a reply or with `WorkerLost`, in time, and takes no more memory than arrived.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.handles import ExitStatus, Times, WorkerHandle
from grader.judge.channel import Channel, WorkerLost
from grader.protocol import (
    DTYPES,
    MAX_BODY,
    MAX_DIMENSIONS,
    MAX_HEADER,
    MAX_TENSORS,
    PREFIX,
    Built,
    Call,
    Called,
    Confined,
    Describe,
    ProtocolError,
    decode_reply,
    decode_tensors,
    encode,
    frame_lengths,
)

SLOW_BOX = settings(deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class NoProcess:
    """Stands for a worker that only a socket is left of."""

    killed: bool = False
    full: bool = False

    def kill(self) -> None:
        self.killed = True

    def status(self, seconds: float) -> ExitStatus | None:
        del seconds
        return ExitStatus(code=0)

    def times(self) -> Times | None:
        return None

    def overflows(self) -> bool:
        return self.full


@contextmanager
def connected(
    total: float = 5.0, clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[Channel, socket.socket, NoProcess]]:
    """A channel, the worker's end of it, and the worker."""
    ours, theirs = socket.socketpair()
    output, printed = os.pipe()
    os.close(printed)
    process = NoProcess()
    channel = Channel(WorkerHandle(ours, output, process, "strict"), total, clock)
    with theirs:
        try:
            yield channel, theirs, process
        finally:
            channel.close()


def read(data: bytes, seconds: float = 2.0) -> WorkerLost | None:
    """What comes of a reply of these bytes; the sender then closes its end."""
    with connected() as (channel, theirs, process):
        sender = threading.Thread(target=send, args=(theirs, data))
        sender.start()
        try:
            channel.post(Describe(instance=0), None, seconds)()
        except WorkerLost as lost:
            assert process.killed
            return lost
        finally:
            sender.join()
        return None


def send(theirs: socket.socket, data: bytes) -> None:
    try:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the judge has seen enough


def frame(header: bytes, body: bytes = b"") -> bytes:
    return PREFIX.pack(b"AK2\0", len(header), len(body)) + header + body


def safetensors(entries: object, data: bytes = b"") -> bytes:
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + data


NUMBERS = st.integers(-(2**65), 2**65)
ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*DTYPES, "F8_E4M3", "C64", "U64", "", "f32"]),
        "shape": st.lists(st.one_of(st.integers(0, 9), NUMBERS), max_size=9),
        "data_offsets": st.lists(st.one_of(st.integers(0, 64), NUMBERS), min_size=2, max_size=2),
    }
)
BODIES = st.one_of(
    st.binary(max_size=200),
    st.builds(
        safetensors,
        st.dictionaries(st.text(max_size=8), st.one_of(ENTRIES, st.text(max_size=9)), max_size=4),
        st.binary(max_size=64),
    ),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(), st.text(max_size=9)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["kind", "returned", "type", "shape", "trace", "parameters", "stage", "text", "line", "level", "backward"]
)
KINDS = st.sampled_from(["called", "built", "loaded", "failure", "confined", "call", "", "\ud7ff"])
HEADERS = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda kind, more: json.dumps({**more, "kind": kind}).encode(),
        KINDS,
        st.dictionaries(FIELDS, JSON, max_size=6),
    ),
)


@SLOW_BOX
@given(st.one_of(st.binary(max_size=300), st.builds(frame, HEADERS, BODIES)))
@example(frame(b'{"kind":"built","parameters":[]}'))
@example(b"AK2\0" + struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF))
def test_any_bytes_are_a_reply_or_a_lost_worker(data: bytes) -> None:
    lost = read(data)
    assert lost is None or lost.why in ("garbage", "ended")


@SLOW_BOX
@given(st.binary(max_size=64), st.data())
def test_a_frame_with_some_bytes_changed(noise: bytes, data: st.DataObject) -> None:
    honest = encode(
        Called(returned="tensor", type="Tensor", shape=(2, 3)),
        {"output": torch.ones(2, 3), "a:x": torch.zeros(2, 3)},
    )
    start = data.draw(st.integers(0, len(honest)))
    lost = read(honest[:start] + noise + honest[start + len(noise) :])
    assert lost is None or lost.why in ("garbage", "ended")


@SLOW_BOX
@given(HEADERS)
@example(b'{"kind":"failure","stage":"load","type":"\\ud800","text":"lone"}')
@example(b"[" * 100_000)
@example(b'{"kind":"called","returned":"tensor","type":"T","shape":[' + b"[" * 10_000)
def test_a_header_is_a_reply_or_a_protocol_error(header: bytes) -> None:
    try:
        reply = decode_reply(header)
    except ProtocolError:
        return
    msgspec.json.encode(reply)  # it can be told on


def test_brackets_that_nest_where_nothing_is_expected_are_a_protocol_error() -> None:
    """A field that no record has is skipped, level by level."""
    deep = b'{"kind":"built","parameters":[],"more":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    with pytest.raises(ProtocolError, match="not a reply"):
        decode_reply(deep)
    lost = read(frame(deep))
    assert lost is not None
    assert lost.why == "garbage"


@SLOW_BOX
@given(BODIES)
@example(safetensors({"a": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}}))
@example(safetensors({"a": {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 0]}}))
@example(safetensors({"a": {"dtype": "F32", "shape": [0] * 7, "data_offsets": [0, 0]}}))
@example(safetensors({"a": {"dtype": "F32", "shape": [2**63, 0], "data_offsets": [0, 0]}}))
def test_a_body_is_tensors_within_its_size_or_a_protocol_error(body: bytes) -> None:
    try:
        tensors = decode_tensors(body)
    except ProtocolError:
        return
    assert len(tensors) <= MAX_TENSORS
    assert sum(value.numel() * value.element_size() for value in tensors.values()) <= len(body)
    for value in tensors.values():
        assert value.dim() <= MAX_DIMENSIONS
        assert value.is_contiguous()
        assert value.dtype in DTYPES.values()


def test_more_tensors_than_allowed_are_refused() -> None:
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    with pytest.raises(ProtocolError, match="over the bound"):
        decode_tensors(safetensors({f"t{number}": empty for number in range(MAX_TENSORS + 1)}))


@pytest.mark.parametrize(
    "lengths", [(0, 0), (MAX_HEADER + 1, 0), (10, MAX_BODY + 1), (0xFFFFFFFF, 0xFFFFFFFF)]
)
def test_announced_lengths_are_bounded_before_anything_is_read(lengths: tuple[int, int]) -> None:
    with pytest.raises(ProtocolError, match="over the bound"):
        frame_lengths(PREFIX.pack(b"AK2\0", *lengths))


def test_no_frame_is_sent_that_would_not_be_read() -> None:
    with pytest.raises(ProtocolError, match="over the bound"):
        encode(Call(instance=0), {"x": torch.zeros(MAX_BODY // 4)})
    with pytest.raises(ProtocolError, match="over the bound"):
        encode(Called(returned="tensor", type="T" * MAX_HEADER))


def test_a_trickling_sender_meets_the_deadline_of_the_whole_frame() -> None:
    whole = frame(b'{"kind":"built","parameters":[]}' + b" " * 400)
    over = threading.Event()

    def trickle(theirs: socket.socket) -> None:
        for byte in whole:
            try:
                theirs.send(bytes([byte]))
            except OSError:
                return
            if over.wait(0.02):
                return

    with connected() as (channel, theirs, _):
        sender = threading.Thread(target=trickle, args=(theirs,))
        sender.start()
        began = time.monotonic()
        with pytest.raises(WorkerLost) as lost:
            channel.post(Describe(instance=0), None, 0.3)()
        taken = time.monotonic() - began
        over.set()
        sender.join()
    assert lost.value.why == "hang"
    assert taken < 2.0


def test_what_was_announced_is_not_allocated() -> None:
    """16 MiB announced, ten bytes sent: memory grows with what arrives."""
    lost = read(PREFIX.pack(b"AK2\0", 32, MAX_BODY) + b'{"kind":"built","parameters":[]}' + bytes(10))
    assert lost is not None
    assert lost.why == "ended"


def test_a_reply_before_the_question_is_not_an_answer_of_another_kind() -> None:
    lost = read(encode(Confined(level="strict")))
    assert lost is not None
    assert lost.why == "garbage"
    assert "Confined is no answer to a Describe" in lost.detail


def test_a_full_folder_ends_a_wait() -> None:
    with connected() as (channel, _, process):
        process.full = True
        with pytest.raises(WorkerLost) as lost:
            channel.post(Describe(instance=0), None, 5.0)()
    assert lost.value.why == "files"
    assert lost.value.seconds < 2.0


class TestSentAhead:
    """Requests before their turn, replies in their order."""

    def test_replies_belong_to_the_requests_in_their_order(self) -> None:
        with connected() as (channel, theirs, _):
            first, second = (channel.post(Describe(instance=number), None, 1.0) for number in (1, 2))
            theirs.sendall(encode(Built(parameters=(), modules=("one",))))
            theirs.sendall(encode(Built(parameters=(), modules=("two",))))
            assert [answer()[0] for answer in (second, first, second)] == [
                Built(parameters=(), modules=(name,)) for name in ("two", "one", "two")
            ]

    def test_more_than_the_sockets_hold_goes_through(self) -> None:
        """The worker stops reading until its replies are read; the judge sends while it reads."""
        tensors = {"x": torch.zeros(50_000)}
        frame_size = len(encode(Call(instance=0), tensors))
        reply = encode(Called(returned="tensor", type="Tensor"), {"output": torch.zeros(50_000)})

        def answer(theirs: socket.socket) -> None:
            for _ in range(20):
                left = frame_size
                while left:
                    left -= len(theirs.recv(left))
                theirs.sendall(reply)

        with connected() as (channel, theirs, _):
            worker = threading.Thread(target=answer, args=(theirs,))
            worker.start()
            asked = [channel.post(Call(instance=0), tensors, 5.0) for _ in range(20)]
            assert all(pending()[1]["output"].shape == (50_000,) for pending in asked)
            worker.join()

    def test_each_reply_has_the_time_of_its_own_request(self) -> None:
        """Ten replies take longer than the deadline of one, by a clock that runs on at each look."""
        ticks = itertools.count(step=0.05)
        with connected(clock=lambda: next(ticks)) as (channel, theirs, _):
            asked = [channel.post(Describe(instance=0), None, 0.4) for _ in range(10)]
            for pending in asked:
                theirs.sendall(encode(Built(parameters=())))
                assert isinstance(pending()[0], Built)
            assert next(ticks) > 1.0

    def test_the_total_bounds_them_all(self) -> None:
        with connected(total=0.2) as (channel, theirs, _):
            asked = [channel.post(Describe(instance=0), None, 5.0) for _ in range(3)]
            theirs.sendall(encode(Built(parameters=())))
            asked[0]()
            with pytest.raises(WorkerLost) as lost:
                asked[1]()
        assert lost.value.why == "total"

    def test_the_total_is_over_between_calls_that_are_quick_enough(self) -> None:
        """Each reply is there before its own deadline, by a clock that runs on at each look."""
        ticks = itertools.count(step=0.05)
        with connected(total=3.0, clock=lambda: next(ticks)) as (channel, theirs, _):
            answered = 0
            while channel.lost is None and answered < 100:
                pending = channel.post(Describe(instance=0), None, 2.0)
                theirs.sendall(encode(Built(parameters=())))
                with contextlib.suppress(WorkerLost):
                    pending()
                    answered += 1
            assert channel.lost is not None
            assert channel.lost.why == "total"
            assert next(ticks) < 5.0

    @pytest.mark.parametrize("leaving", [socket.socket.close, lambda s: s.shutdown(socket.SHUT_RDWR)])
    def test_what_was_answered_before_the_end_counts_and_nothing_after(
        self, leaving: Callable[[socket.socket], None]
    ) -> None:
        with connected() as (channel, theirs, process):
            asked = [channel.post(Describe(instance=0), None, 2.0) for _ in range(3)]
            theirs.sendall(encode(Built(parameters=())))
            leaving(theirs)
            later = channel.post(Describe(instance=0), None, 2.0)  # nobody hears it
            assert isinstance(asked[0]()[0], Built)
            for pending in (asked[1], asked[2], later, channel.post(Describe(instance=0), None, 2.0)):
                with pytest.raises(WorkerLost) as lost:
                    pending()
                assert lost.value.why == "ended"
            assert process.killed
            assert isinstance(asked[0]()[0], Built)

    def test_a_worker_that_stops_hearing_has_ended(self) -> None:
        """It could go on sending; but what it has not heard it cannot answer."""
        with connected() as (channel, theirs, _):
            theirs.shutdown(socket.SHUT_RD)
            with pytest.raises(WorkerLost) as lost:
                channel.post(Describe(instance=0), None, 2.0)()
        assert lost.value.why == "ended"
        assert lost.value.seconds < 1.0

    def test_what_is_printed_in_a_call_that_nobody_waits_for_is_heard(self) -> None:
        ours, theirs = socket.socketpair()
        output, printed = os.pipe()
        channel = Channel(WorkerHandle(ours, output, NoProcess(), "strict"), 5.0)
        with theirs:
            asked = [channel.post(Describe(instance=0), None, 1.0) for _ in range(2)]
            for text in (b"one ", b"two"):
                os.write(printed, text)
                theirs.sendall(encode(Built(parameters=())))
            asked[0]()
            channel.settle()
            channel.close()
            os.close(printed)
        assert channel.printed.text == "one two"

    def test_settling_ends_with_the_worker(self) -> None:
        with connected() as (channel, theirs, process):
            for _ in range(2):
                channel.post(Describe(instance=0), None, 1.0)
            theirs.close()
            channel.settle()
            assert process.killed

    def test_a_request_that_no_frame_holds_is_not_sent(self) -> None:
        with connected() as (channel, _, process):
            asked = channel.post(Call(instance=0), {"x": torch.zeros(MAX_BODY)}, 2.0)
            with pytest.raises(WorkerLost) as lost:
                asked()
        assert lost.value.why == "garbage"
        assert process.killed


class TestGreeting:
    def greeting(self, act: Callable[[socket.socket], object], seconds: float = 0.3) -> Confined:
        with connected() as (channel, theirs, _):
            act(theirs)
            return channel.greeting(seconds)

    def test_it_is_what_the_worker_says_of_itself(self) -> None:
        said = Confined(level="strict", mechanisms=("landlock", "seccomp"))
        assert self.greeting(lambda theirs: theirs.sendall(encode(said))) == said

    @pytest.mark.parametrize(
        ("act", "why"),
        [
            (lambda theirs: theirs.send(b"AK"), "hang"),
            (lambda theirs: theirs.shutdown(socket.SHUT_WR), "ended"),
            (lambda theirs: theirs.sendall(b"no frame at all."), "garbage"),
            (lambda theirs: theirs.sendall(frame(b'{"kind":"built","parameters":[]}')), "garbage"),
        ],
        ids=["silent", "gone", "noise", "another reply"],
    )
    def test_anything_else_is_a_lost_worker(self, act: Callable[[socket.socket], object], why: str) -> None:
        with pytest.raises(WorkerLost) as lost:
            self.greeting(act)
        assert lost.value.why == why
