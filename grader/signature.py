"""What a kata asks for: a class or a function, what it is built and called with, and the axes of every
tensor.

    [signature]
    kind = "module"                       # or "function"
    name = "MultiHeadAttention"
    axes = { B = "batch", S = "seq_len", D = "hidden_dim", H = "num_heads" }

    [[signature.construct]]
    name = "hidden_dim"
    axis = "D"
    default = 768

    [[signature.inputs]]
    name = "x"
    axes = "B S D"

    [[signature.outputs]]
    axes = "B S D"

A kata names each axis once, by a letter. A size is the number of entries along an axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from grader.records import Record

Sizes = Mapping[str, int]  # axis -> entries


class Construct(Record):
    """An argument of the constructor. A size sets an axis; a rate is that of dropout; a flag is left at its
    default.
    """

    name: str
    kind: Literal["size", "rate", "flag"] = "size"
    axis: str = ""  # that a size sets
    default: int | float | None = None
    optional: bool = False  # a size that may be left out
    aliases: tuple[str, ...] = ()  # other names by which candidates call it


class Input(Record):
    """An argument of forward, or of the function. A number comes from the probe; a state is what an earlier
    call gave back, handed on unopened.
    """

    name: str
    kind: Literal["float", "mask", "ids", "number", "state"] = "float"
    axes: str = ""
    optional: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("float", "mask", "ids")


class Output(Record):
    """Something that is returned. Of a mask only what is zero counts; a state is kept and never looked at."""

    axes: str = ""
    kind: Literal["float", "mask", "state"] = "float"
    name: str = "output"


class Signature(Record):
    """How the thing that a kata asks for is called."""

    kind: Literal["module", "function"]
    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    construct: tuple[Construct, ...] = ()
    axes: Mapping[str, str] = msgspec.field(default_factory=dict)  # axis -> its name in words and messages

    @property
    def is_module(self) -> bool:
        return self.kind == "module"

    @property
    def first(self) -> Input:
        """The first tensor that goes in: what people mean by the input."""
        return next(wanted for wanted in self.inputs if wanted.is_tensor)

    @property
    def mask(self) -> Input | None:
        """The mask, where there is one."""
        return next((wanted for wanted in self.inputs if wanted.kind == "mask"), None)

    @property
    def takes_mask(self) -> bool:
        """Whether a call may come with a mask and without."""
        return self.mask is not None and self.mask.optional

    @property
    def rate(self) -> Construct | None:
        """The argument that is the dropout rate."""
        return next((wanted for wanted in self.construct if wanted.kind == "rate"), None)

    def built(self, sizes: Sizes) -> dict[str, int]:
        """Of some sizes those that the constructor is given."""
        return {
            wanted.axis: sizes[wanted.axis]
            for wanted in self.construct
            if wanted.kind == "size" and wanted.axis in sizes
        }

    @property
    def defaults(self) -> dict[str, int]:
        """The sizes that the constructor has by default."""
        return {
            wanted.axis: int(wanted.default)
            for wanted in self.construct
            if wanted.kind == "size" and wanted.default is not None
        }


def shape_of(axes: str | Iterable[str], sizes: Sizes) -> tuple[int, ...]:
    """The shape of a tensor with these axes; an axis `1` has one entry."""
    names = axes.split() if isinstance(axes, str) else axes
    return tuple(1 if name == "1" else sizes[name] for name in names)
