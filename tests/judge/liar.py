"""A worker that answers within the protocol and lies in every field of it, for the judge to survive.

What may be told is read off the records: a new field is lied about without a word here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import torch
from msgspec import inspect
from torch import Tensor

from grader.judge.candidate import Caller
from grader.judge.channel import Answer, Pending, WorkerLost
from grader.protocol import Build, Call, Called, Failure, Reply, Request, decode_reply

# What the judge's rules look for, and what nobody expects.
WORDS = (
    *(
        "x",
        "weight",
        "query_proj.weight",
        "proj.weight",
        "key.bias",
        "hidden_dim",
        "dropout_rate",
        "mask",
        "self",
    ),
    *(
        "matmul",
        "bmm",
        "softmax",
        "masked_fill",
        "dropout",
        "split",
        "chunk",
        "permute",
        "linear",
        "div",
        "T",
        "t",
    ),
    *(
        "layer_norm",
        "scaled_dot_product_attention",
        "round",
        "add_",
        "__setitem__",
        "view",
        "dim",
        "p",
        "0",
        "1",
    ),
    *(
        "ValueError",
        "TypeError",
        "SyntaxError",
        "EOFError",
        "AttributeError",
        "NameError",
        "SystemExit",
        "BdbQuit",
    ),
    *("ImportError", "RuntimeError", "NotImplementedError", "ClassMissing", "NotAModule", "MemoryError"),
    *(
        "cuda",
        "masked_fill NoneType",
        "size",
        "unpack",
        "split_sizes",
        "~",
        "floor",
        "TODO",
        "can't allocate memory",
    ),
    *(
        "module torch.nn",
        "Tensor",
        "None",
        "import",
        "scope",
        "_modules",
        "turtle",
        "Conv1d",
        "Linear",
        "LazyLinear",
    ),
    *(
        "float32",
        "int64",
        "complex64",
        "strict",
        "",
        " ",
        "\x00",
        "\x1b]0;x\x07",
        "\u202e",
        "naïve",
        "\ud7ff",
        "`",
        "[",
    ),
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


def _raise(error: WorkerLost) -> Answer:
    raise error


class Lies:
    """Values of a type as `msgspec.inspect` describes it, up to its bounds."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def drawn(self, kind: inspect.Type) -> Any:
        """Any value of that type."""
        one = self._chance.choice
        match kind:
            case inspect.StrType(max_length=int(longest)):
                return one((*WORDS, "a" * longest, "~" * longest, "\x07" * longest))[:longest]
            case inspect.IntType(ge=int(least), le=int(most)):
                return min(max(one((least, most, 0, 1, 2, 3, 5, 16, 10**6)), least), most)
            case inspect.FloatType():
                return one((0.0, -1.0, 1e308, -1e308, 5e-324, 0.5, 8.0))
            case inspect.BoolType():
                return one((True, False))
            case inspect.NoneType():
                return None
            case inspect.LiteralType(values=values):
                return one(values)
            case inspect.UnionType(types=types):
                return self.drawn(one(types))
            case inspect.VarTupleType(item_type=item, max_length=int(longest)):
                return tuple(self.drawn(item) for _ in range(self._length(longest)))
            case inspect.DictType(key_type=key, value_type=value, max_length=int(longest)):
                return {self.drawn(key): self.drawn(value) for _ in range(self._length(longest))}
            case inspect.StructType(cls=record, fields=fields):
                told = [field for field in fields if field.required or self._chance.random() < 0.7]
                return record(**{field.name: self.drawn(field.type) for field in told})
        raise TypeError(f"nobody knows how far {kind} goes")

    def spoilt(self, kind: inspect.Type, honest: Any) -> Any:
        """The honest value with lies in some of its parts."""
        if self._chance.random() < 0.4:
            return honest
        match kind:
            case inspect.StructType(fields=fields):
                changed = {
                    field.name: self.spoilt(field.type, getattr(honest, field.name)) for field in fields
                }
                return type(honest)(**changed)
            case inspect.VarTupleType(item_type=item, max_length=int(longest)) if honest:
                again = [self.spoilt(item, part) for part in (*honest, *honest[:2])]
                kept = [part for part in again if self._chance.random() < 0.8]
                if self._chance.random() < 0.5:
                    self._chance.shuffle(kept)
                return tuple(kept[:longest])
        return self.drawn(kind)

    def _length(self, longest: int) -> int:
        return min(self._chance.choice((0, 1, 2, 3, 12)), longest)


class Liar:
    """Passes requests on to `honest` and spoils some of the replies; the same seed tells the same lies."""

    def __init__(self, honest: Caller, seed: int) -> None:
        self._honest = honest
        self._random = random.Random(seed)
        self._lies = Lies(self._random)
        self.often = self._random.choice((0.02, 0.1, 0.3, 1.0))

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        try:
            reply, back = self._answer(request, tensors, seconds)
        except WorkerLost as error:
            return partial(_raise, error)
        told = decode_reply(msgspec.json.encode(reply)), back  # nothing but what the protocol lets through
        return lambda: told

    def _answer(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Answer:
        try:
            reply, back = self._honest.post(request, tensors, seconds)()
        except (KeyError, RuntimeError, IndexError, ValueError, TypeError):  # it was asked about a lie
            return Failure(stage="forward", type="KeyError", text="what was told before"), {}
        if self._random.random() > self.often:
            return reply, back
        if self._random.random() < (0.1 if isinstance(request, Build | Call) else 0.02):
            return self._lies.drawn(inspect.type_info(Failure)), {}
        if self._random.random() < 0.01:
            raise WorkerLost(self._random.choice(("hang", "ended", "garbage", "files")), 1.0, None)
        spoilt: Reply = self._lies.spoilt(inspect.type_info(type(reply)), reply)
        return spoilt, self._tensors(back) if isinstance(reply, Called) else {}

    def _one(self, values: Any) -> Any:
        return self._random.choice(values)

    def _tensors(self, back: dict[str, Tensor]) -> dict[str, Tensor]:
        kept = {name: self._tensor(value) for name, value in back.items() if self._random.random() < 0.9}
        if self._random.random() < 0.4:
            kept[self._one(("output", "d:x", "g:", "p:x", "a:x", "a:attention_mask"))] = torch.ones(2)
        return kept

    def _tensor(self, value: Tensor) -> Tensor:
        lies: tuple[Callable[[], Tensor], ...] = (
            lambda: value.to(self._one(DTYPES)),
            lambda: torch.full(value.shape, self._one(NUMBERS), dtype=torch.float64).to(value.dtype),
            lambda: torch.ones(self._one(SHAPES), dtype=self._one((torch.float32, *DTYPES))),
            lambda: self._with_one_changed(value),
            lambda: value.transpose(0, -1).contiguous() if value.dim() else value,
            lambda: value,
        )
        return self._one(lies)()

    def _with_one_changed(self, value: Tensor) -> Tensor:
        if not value.numel():
            return value
        spoilt = value.clone().flatten()
        spoilt[self._random.randrange(len(spoilt))] = 1
        return spoilt.reshape(value.shape)
