"""A worker that answers within the protocol and lies in every field of it, for the judge to survive."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import msgspec
import torch
from torch import Tensor

from grader.judge.candidate import Caller
from grader.judge.channel import Answer, Pending, WorkerLost
from grader.protocol import (
    Build,
    Built,
    Call,
    Called,
    Failure,
    Loaded,
    ParameterInfo,
    Request,
    TraceEntry,
)

NAMES = (
    "x",
    "weight",
    "query_proj.weight",
    "",
    "a" * 120,
    "\x1b[2J",
    "p:x",
    "__class__",
    "proj.weight",
    "naïve",
)
DTYPES = (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool)
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (1,),
    (3, 5),
    (3, 5, 7),
    (0, 5, 8),
    (1, 1, 1, 1, 1, 1),
    (2, 5, 5),
)
NUMBERS = (0.0, -1.0, 1e30, 1e308, float("nan"), float("inf"), float("-inf"))
INTEGERS = (-(2**63), -1, 0, 1, 5, 10**6, 2**62)


def _raise(error: WorkerLost) -> Answer:
    raise error


class Liar:
    """Passes requests on to `honest` and spoils some of the replies; the same seed tells the same lies."""

    def __init__(self, honest: Caller, seed: int) -> None:
        self._honest = honest
        self._random = random.Random(seed)
        self.often = self._random.choice((0.02, 0.1, 0.3, 1.0))

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        try:
            answer = self._answer(request, tensors, seconds)
        except WorkerLost as error:
            return partial(_raise, error)
        return lambda: answer

    def _answer(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Answer:
        try:
            reply, back = self._honest.post(request, tensors, seconds)()
        except (KeyError, RuntimeError, IndexError, ValueError, TypeError):  # it was asked about a lie
            return Failure(stage="forward", type="KeyError", text="what was told before"), {}
        if self._random.random() > self.often:
            return reply, back
        if isinstance(request, Build | Call) and self._random.random() < 0.1:
            return self._failure(), {}
        if self._random.random() < 0.01:
            raise WorkerLost(self._random.choice(("hang", "ended", "garbage", "files")), 1.0, None)
        if isinstance(reply, Called):
            return self._called(reply), self._tensors(back)
        if isinstance(reply, Built):
            return self._built(reply), {}
        if isinstance(reply, Loaded):
            return self._loaded(reply), {}
        return reply, back

    def _one(self, values: Any) -> Any:
        return self._random.choice(values)

    def _maybe(self) -> bool:
        return self._random.random() < 0.4

    def _failure(self) -> Failure:
        return Failure(
            stage=self._one(("load", "build", "forward", "backward", "reply")),
            type=self._one(("ValueError", "", "SyntaxError", "\x1b]0;x\x07", "EOFError", "AttributeError")),
            text=self._one(("", "~" * 4000, "no \u202e text", "cuda", "masked_fill NoneType", "size")),
            line=self._one((None, *INTEGERS)),
            name=self._one((None, *NAMES)),
            owner=self._one((None, "self", "module torch.nn", "Tensor", "None")),
            near=tuple(self._one(NAMES) for _ in range(2)),
            trace=self._trace(),
        )

    def _shape(self) -> tuple[int, ...]:
        return tuple(self._one(INTEGERS) for _ in range(self._random.randrange(5)))

    def _trace(self) -> tuple[TraceEntry, ...]:
        calls = ("matmul", "softmax", "masked_fill", "dropout", "split", "permute", "linear", "div", "T", "")
        return tuple(
            TraceEntry(
                line=self._one(INTEGERS),
                call=self._one(calls),
                inputs=tuple(self._shape() for _ in range(self._random.randrange(4))),
                output=self._one((None, self._shape())),
                outputs=self._one((1, 3, -1, 2**40)),
                numbers={self._one(("0", "dim", "p", "1")): self._one((0.0, -1.0, 1e308, 8.0))},
                parameters=tuple(self._one(NAMES) for _ in range(self._random.randrange(3))),
                fresh_module=self._maybe(),
                raised=self._maybe(),
            )
            for _ in range(self._random.randrange(12))
        )

    def _called(self, reply: Called) -> Called:
        changes: dict[str, Any] = {}
        if self._maybe():
            changes["returned"] = self._one(("tensor", "tuple", "none", "other", "odd"))
            changes["length"] = self._one(INTEGERS)
        if self._maybe():
            changes["trace"] = self._trace()
        if self._maybe():
            changes["shape"] = self._shape()
        if self._maybe():
            changes["dispatched"] = tuple(self._one((*NAMES, "_softmax", "bmm")) for _ in range(4))
            changes["dispatched_lines"] = {self._one((*NAMES, "bmm")): self._one(INTEGERS)}
        if self._maybe():
            changes["backward"] = self._failure()
        changes["training_after"] = self._maybe()
        return msgspec.structs.replace(reply, **changes)

    def _tensors(self, back: dict[str, Tensor]) -> dict[str, Tensor]:
        return {
            **{name: self._tensor(value) for name, value in back.items() if self._random.random() < 0.9},
            **(
                {self._one(("output", "g:x", "g:", "p:x", "mask_after")): torch.ones(2)}
                if self._maybe()
                else {}
            ),
        }

    def _tensor(self, value: Tensor) -> Tensor:
        lie = self._random.randrange(7)
        if lie == 0:
            return value.to(self._one(DTYPES))
        if lie == 1:
            return torch.full(value.shape, self._one(NUMBERS), dtype=torch.float64).to(value.dtype)
        if lie == 2:
            return torch.ones(self._one(SHAPES), dtype=self._one((torch.float32, *DTYPES)))
        if lie == 3 and value.numel():
            spoilt = value.clone().flatten()
            spoilt[self._random.randrange(len(spoilt))] = 1
            return spoilt.reshape(value.shape)
        if lie == 4:
            return value.transpose(0, -1).contiguous() if value.dim() else value
        return value

    def _built(self, reply: Built) -> Built:
        parameters = [
            ParameterInfo(
                name=self._one((info.name, *NAMES)),
                shape=self._one((info.shape, info.shape, info.shape[::-1], self._shape())),
                dtype=self._one((info.dtype, info.dtype, "int64", "complex64", "\x00")),
                owner=self._one((info.owner, "Conv1d", "Linear", "", "\u202e")),
                trainable=self._maybe(),
            )
            for info in (*reply.parameters, *reply.parameters[:2])
            if self._random.random() < 0.8
        ]
        self._random.shuffle(parameters)
        return msgspec.structs.replace(reply, parameters=tuple(parameters), modules=NAMES, lazy=self._maybe())

    def _loaded(self, reply: Loaded) -> Loaded:
        changes: dict[str, Any] = {"class_name": self._one(NAMES), "classes": NAMES}
        if self._maybe():
            changes["constructor"] = reply.constructor[::-1] * 3
        if self._maybe():
            changes["forward"] = reply.forward[:1]
        if self._maybe():
            changes["source"] = "\x00" * 100 + "\ud7ff\n" * 100
        if self._maybe():
            changes["raised_later"] = self._failure()
        return msgspec.structs.replace(reply, **changes)
