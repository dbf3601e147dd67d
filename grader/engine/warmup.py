"""What an engine does once, so that no grade has to: torch's first steps, through the worker's own code.

It knows no kata: the module below is no answer to any of them.
"""

from __future__ import annotations

import linecache
import sys

import torch

from grader.protocol import (
    PREFIX,
    Build,
    Call,
    Describe,
    Failure,
    Load,
    Request,
    decode_reply,
    encode,
    frame_lengths,
)
from grader.worker.loader import MODULE_NAME
from grader.worker.main import Worker

FILE_NAME = "warm_up.py"
CLASS_NAME = "WarmUp"
WIDTH = 4
SOURCE = b"""\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class WarmUp(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, mask=None):
        y = self.drop(F.relu(self.layer(x))) * math.sqrt(2.0)
        return y if mask is None else y.masked_fill(mask.unsqueeze(-1) == 0, 0.0)
"""


def warm_worker() -> None:
    """One pass through everything that a worker does, in this process; nothing of it is kept."""
    worker = Worker()
    _answer(
        worker,
        Load(file_name=FILE_NAME, name=CLASS_NAME),
        {"source": torch.frombuffer(bytearray(SOURCE), dtype=torch.uint8)},
    )
    _answer(worker, Build(instance=1, args=(WIDTH,)), {})
    _answer(worker, Describe(instance=1), {})
    x = torch.ones(2, 3, WIDTH)
    weights = {"p:layer.weight": torch.ones(WIDTH, WIDTH)}
    full = Call(instance=1, args=("x", "mask"), wanted=("x",), training=True, trace=True, dispatch=True)
    _answer(worker, full, {"i:x": x, "i:mask": torch.ones(2, 3), "cotangent": x.clone(), **weights})
    _answer(worker, Build(instance=2, half=True), {})
    _answer(worker, Call(instance=2, args=("x",)), {"i:x": x.half()})
    linecache.cache.pop(FILE_NAME, None)
    sys.modules.pop(MODULE_NAME, None)


def _answer(worker: Worker, request: Request, tensors: dict[str, torch.Tensor]) -> None:
    frame = encode(request, tensors)
    header, _ = frame_lengths(frame[: PREFIX.size])
    reply, sent = worker.answer(frame[PREFIX.size : PREFIX.size + header], frame[PREFIX.size + header :])
    reply_frame = encode(reply, sent)
    length, _ = frame_lengths(reply_frame[: PREFIX.size])
    understood = decode_reply(reply_frame[PREFIX.size : PREFIX.size + length])
    if isinstance(understood, Failure):
        raise AssertionError(f"the engine's own warm-up failed: {understood}")
