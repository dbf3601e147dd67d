"""A coverage-guided fuzz of the decoders of frames, with atheris (Linux; `pip install atheris`).

    python tests/judge/fuzz_frames.py [-max_total_time=60]

Anything but a reply, tensors within the size of the body, or `ProtocolError` ends it with the bytes.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris
import torch

with atheris.instrument_imports(include=["grader.protocol"]):
    from grader import protocol

from grader.protocol import (
    PREFIX,
    Built,
    Called,
    Failure,
    ParameterInfo,
    ProtocolError,
    TraceEntry,
    decode_reply,
    decode_tensors,
    encode,
    frame_lengths,
)


def decode(data: bytes) -> None:
    """The three decoders, one after another, as the judge's channel calls them."""
    try:
        header_length, body_length = frame_lengths(data[: PREFIX.size].ljust(PREFIX.size, b"\0"))
    except ProtocolError:
        header_length, body_length = len(data) // 2, len(data)
    header = data[PREFIX.size : PREFIX.size + header_length]
    body = data[PREFIX.size + header_length :][:body_length]
    for part in (header, body):
        with contextlib.suppress(ProtocolError):
            decode_reply(part)
        try:
            tensors = decode_tensors(part)
        except ProtocolError:
            continue
        size = sum(value.numel() * value.element_size() for value in tensors.values())
        if size > len(part) or len(tensors) > protocol.MAX_TENSORS:
            raise AssertionError(f"{size} bytes out of {len(part)}")


def write_seeds(folder: Path) -> None:
    """Honest frames, to start from."""
    output = {"output": torch.ones(2, 3), "g:x": torch.zeros(2, 3, dtype=torch.float16)}
    trace = (TraceEntry(line=3, call="matmul", inputs=((2, 3),), output=(2, 2)),)
    replies = (
        encode(Called(returned="tensor", type="Tensor", shape=(2, 3), trace=trace), output),
        encode(Built(parameters=(ParameterInfo(name="w", shape=(2,), dtype="float32", owner="Linear"),))),
        encode(Failure(stage="load", type="ValueError", text="text", line=1)),
    )
    for number, reply in enumerate(replies):
        (folder / f"seed-{number}").write_bytes(reply)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write_seeds(Path(name))
        atheris.Setup([*sys.argv, name], decode)
        atheris.Fuzz()
