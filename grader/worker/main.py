"""The worker's loop: read a request, run the candidate's code, answer. It knows no check and no reference.

It lives until the judge closes the channel or ends the process; nothing that happens here can reach the judge
but the frames it sends.
"""

from __future__ import annotations

import faulthandler
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.confine.apply import Applied
from grader.errors import ConfinementUnavailable
from grader.protocol import (
    PREFIX,
    Build,
    Call,
    Confined,
    Describe,
    Failure,
    Load,
    Paste,
    Pasted,
    ProtocolError,
    Reply,
    decode_request,
    decode_tensors,
    encode,
    encode_reply,
    frame_lengths,
)
from grader.worker.failures import describe
from grader.worker.instance import Instance, build
from grader.worker.loader import LoadError, Target, load
from grader.worker.paste import pasted


class Worker:
    """Answers requests about one submission."""

    def __init__(self) -> None:
        self._target: Target | None = None
        self._file_name = ""
        self._instances: dict[int, Instance] = {}

    def answer(self, header: bytes, body: bytes) -> tuple[Reply, dict[str, Tensor]]:
        request = decode_request(header)
        tensors = decode_tensors(body)
        if isinstance(request, Load):
            return self._load(request, tensors), {}
        if isinstance(request, Build):
            return self._build(request), {}
        if isinstance(request, Paste):
            return Pasted(text=pasted(request.lines)), {}
        if isinstance(request, Describe):
            return self._instances[request.instance].describe(), {}
        return self._call(request, tensors)

    def _load(self, request: Load, tensors: dict[str, Tensor]) -> Reply:
        self._file_name = request.file_name
        try:
            source = tensors["source"].numpy().tobytes()
            self._target, loaded = load(source, request.file_name, request.name, request.sort)
        except LoadError as error:
            return error.failure
        return loaded

    def _build(self, request: Build) -> Reply:
        assert self._target is not None
        made = build(self._target, request, self._file_name)
        if isinstance(made, Failure):
            return made
        self._instances[request.instance] = made
        return made.describe()

    def _call(self, request: Call, tensors: dict[str, Tensor]) -> tuple[Reply, dict[str, Tensor]]:
        return self._instances[request.instance].call(request, tensors)


def serve(channel: socket.socket) -> None:
    """Answer requests until the judge closes the channel."""
    faulthandler.disable()  # a crash is reported by its signal; a dump would only clutter what was printed
    worker = Worker()
    while True:
        prefix = _read(channel, PREFIX.size)
        if prefix is None:
            return
        header_length, body_length = frame_lengths(prefix)
        header, body = _read(channel, header_length), _read(channel, body_length)
        if header is None or body is None:
            return
        try:
            reply, tensors = worker.answer(header, body)
            frame = encode_reply(reply, tensors)
        except BaseException as error:  # noqa: BLE001 - candidate's patches may break the answer itself
            frame = encode(describe(error, "reply", worker._file_name))
        _flush()
        channel.sendall(frame)


def _read(channel: socket.socket, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = channel.recv(count - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _flush() -> None:
    """What the candidate printed leaves before the answer does, whatever happens next."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


def enter(channel_fd: int, output_fd: int, bind: Callable[[], Applied]) -> None:
    """Become a worker in this process: bound by `bind`, with the given channel and output, stdin empty.

    A worker that cannot be bound as it should be says so and is done: it never hears of the candidate's file.
    """
    try:
        applied = bind()
        greeting = Confined(level=applied.level, mechanisms=_named(applied), missing=applied.missing)
    except ConfinementUnavailable as refusal:
        greeting = Confined(level="strict", missing=refusal.missing, refused=True)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    torch.compile = _as_it_is
    with socket.socket(fileno=channel_fd) as channel:
        try:
            channel.sendall(encode(greeting))
            if not greeting.refused:
                serve(channel)
        except (OSError, ProtocolError):
            return  # the judge went away: nobody is left to tell


def _as_it_is(model: Any = None, **_: Any) -> Any:
    """`torch.compile` where no compiler can be started: the code runs as it is, with the same numbers."""
    print("torch.compile: no compiler here, so the code was run as it is, which gives the same numbers.")
    return model if model is not None else lambda function: function


def _named(applied: Applied) -> tuple[str, ...]:
    """The mechanisms, Landlock with its version."""
    version = f" (ABI {applied.landlock_abi})"
    return tuple(name + version if name == "landlock" else name for name in applied.mechanisms)
