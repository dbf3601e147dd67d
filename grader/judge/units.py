"""The layers among the parameters that an instance reports: a weight of a projection's shape, and its bias.

What counts is what a weight can do, not how it is stored: one of three parts in a fused weight, stacked or
side by side, with axes of size 1 or without, as (out, in) or as (in, out).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.protocol import ParameterInfo

MAX_UNITS = 12
PARTS = (4, 3, 2)  # of a fused weight: the fourth of four is the output
LINEAR = ("Linear", "NonDynamicallyQuantizableLinear", "Conv1d", "LazyLinear")
WORDS: dict[str, str] = {
    **dict.fromkeys(("q", "query", "queries", "wq", "qw", "bq", "qs", "qry"), "query"),
    **dict.fromkeys(("k", "key", "keys", "wk", "kw", "bk", "ks"), "key"),
    **dict.fromkeys(("v", "value", "values", "val", "wv", "vw", "bv", "vs"), "value"),
    **dict.fromkeys(("o", "out", "output", "wo", "ow", "bo", "outputs"), "output"),
    **dict.fromkeys(("qkv", "wqkv", "inproj", "packed", "fused"), "qkv"),
    **dict.fromkeys(("kv", "wkv"), "kv"),
}
JOINED = {
    f"{role}{noun}": role
    for role in ("query", "key", "value", "output")
    for noun in ("proj", "layer", "linear", "net")
}
JOINED |= {
    f"{short}{noun}": WORDS[short]
    for short in "qkv"
    for noun in ("proj", "lin", "linear", "layer", "net", "mat")
}
JOINED |= {
    f"{noun}{short}": WORDS[short]
    for short in "qkvo"
    for noun in ("linear", "lin", "fc", "proj", "to", "mat", "dense")
}


@dataclass(frozen=True)
class Unit:
    """A layer: one weight, perhaps a bias, in `parts` equal pieces of hidden_dim outputs each.

    Axes of size 1 count for nothing: a weight (hidden_dim, 1, hidden_dim), with an axis for its one head, is
    a square.
    """

    name: str
    weight: ParameterInfo
    bias: ParameterInfo | None
    parts: int
    axis: int  # along which the weight holds its parts
    stacked: bool  # the parts have an axis of their own: (parts, hidden_dim, hidden_dim) in some order
    orientations: tuple[bool, ...]  # True: used as x @ W, so the stored weight is (in, out)
    states: str | None  # the role its name states
    role_biases: Mapping[str, ParameterInfo] = field(default_factory=dict)  # vectors of its parts, by role


def stated_role(name: str) -> str | None:
    """The role that a layer's name states; None when it says nothing or contradicts itself."""
    words = [
        part.lower()
        for piece in re.split(r"[^A-Za-z]+", name)
        for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", piece)
    ]
    whole = [piece.lower() for piece in re.split(r"[^A-Za-z]+", name)]
    found = {WORDS.get(word) or JOINED.get(word) for word in (*words, *whole)} - {None}
    if {"query", "key", "value"} <= found:
        return "qkv"
    if found == {"key", "value"}:
        return "kv"
    if "qkv" in found and len(found) > 1:
        found -= {"qkv"}
    return found.pop() if len(found) == 1 else None


def units(parameters: Sequence[ParameterInfo], hidden_dim: int) -> tuple[Unit, ...]:
    """The layers among the parameters: weights of a shape that a projection can have, with their biases."""
    floats = [info for info in parameters if info.dtype in ("float32", "float64", "float16", "bfloat16")]
    found: list[Unit] = []
    taken: set[str] = set()
    for info in floats:
        shape = _shape_of(info.shape, hidden_dim)
        if shape is None:
            continue
        parts, axis, stacked, transposed = shape
        bias = _bias_for(info, floats, parts, hidden_dim, taken)
        if bias is not None:
            taken.add(bias.name)
        if parts > 1 and not stacked:
            orientations: tuple[bool, ...] = (transposed,)
        else:
            orientations = (False, True) if info.owner in LINEAR else (True, False)
        name = _layer_name(info.name)
        states = stated_role(name)
        if parts == 1 and states in ("qkv", "kv"):
            states = None
        found.append(Unit(name, info, bias, parts, axis, stacked, orientations, states))
    found = _with_listed_biases(found, floats, taken, hidden_dim)[:MAX_UNITS]
    return tuple(_with_role_biases(unit, floats, taken, hidden_dim) for unit in found)


def squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    """Without the axes of size 1."""
    return tuple(size for size in shape if size != 1)


def _with_role_biases(unit: Unit, floats: Sequence[ParameterInfo], taken: set[str], hidden_dim: int) -> Unit:
    """A fused weight without a bias for all: vectors whose names state a role belong to its parts."""
    if unit.parts == 1 or unit.bias is not None:
        return unit
    vectors = [info for info in floats if info.name not in taken and squeezed(info.shape) == (hidden_dim,)]
    stated = {role: info for info in vectors if (role := stated_role(info.name)) is not None}
    return replace(unit, role_biases=stated)


def _with_listed_biases(
    found: list[Unit], floats: Sequence[ParameterInfo], taken: set[str], hidden_dim: int
) -> list[Unit]:
    """Vectors that no name pairs with a weight (a ParameterList) belong to the bare weights, in order."""
    bare = [unit for unit in found if unit.bias is None and "Linear" not in unit.weight.owner]
    weights = {unit.weight.name for unit in found}
    vectors = [
        info
        for info in floats
        if info.name not in taken | weights
        and "Norm" not in info.owner
        and _is_vector(info.shape, hidden_dim)
    ]
    lists = {
        unit.name: vector
        for unit, vector in zip(bare, vectors, strict=False)
        if math.prod(vector.shape) == unit.parts * hidden_dim
    }
    if len(lists) != len(bare):
        return found
    return [replace(unit, bias=lists.get(unit.name, unit.bias)) for unit in found]


def _shape_of(shape: tuple[int, ...], hidden_dim: int) -> tuple[int, int, bool, bool] | None:
    """(parts, axis, stacked, transposed) of a weight's shape; None for anything else."""
    shape = squeezed(shape)
    if len(shape) == 3:
        for axis in range(3):
            if shape[:axis] + shape[axis + 1 :] == (hidden_dim, hidden_dim) and shape[axis] in PARTS:
                return shape[axis], axis, True, False
    if len(shape) != 2 or hidden_dim not in shape:
        return None
    out, into = shape
    if out == into:
        return 1, 0, False, False
    for parts in PARTS:
        if (out, into) == (parts * hidden_dim, hidden_dim):
            return parts, 0, False, False
        if (out, into) == (hidden_dim, parts * hidden_dim):
            return parts, 1, False, True
    return None


def _layer_name(parameter: str) -> str:
    head, _, leaf = parameter.rpartition(".")
    return head if head and leaf in ("weight", "bias", "kernel") else parameter


def _is_vector(shape: tuple[int, ...], hidden_dim: int) -> bool:
    """Whether a bias can have this shape: (hidden_dim), (parts · hidden_dim) or (parts, hidden_dim)."""
    *parts, last = squeezed(shape) or (0,)
    return (not parts and last % hidden_dim == 0 < last) or (
        len(parts) == 1 and last == hidden_dim > parts[0]
    )


def _bias_for(
    weight: ParameterInfo, floats: Sequence[ParameterInfo], parts: int, hidden_dim: int, taken: set[str]
) -> ParameterInfo | None:
    """The bias of a weight: in the same module, or a free vector whose name states the same role."""
    elements = parts * hidden_dim

    def free_vector(info: ParameterInfo) -> bool:
        flat = _is_vector(info.shape, hidden_dim)
        return info.name not in taken and flat and math.prod(info.shape) == elements

    head, _, leaf = weight.name.rpartition(".")
    if leaf in ("weight", "kernel"):
        wanted = f"{head}.bias" if head else "bias"
        return next((info for info in floats if info.name == wanted and free_vector(info)), None)
    role = stated_role(weight.name)
    vectors = [info for info in floats if free_vector(info) and info.name.rpartition(".")[2] != "weight"]
    if role is not None:
        return next((info for info in vectors if stated_role(info.name) == role), None)
    low = leaf.lower()
    twins = {re.sub("^w", "b", low), re.sub("weight|kernel", "bias", low)} - {low}
    return next((info for info in vectors if info.name.rpartition(".")[2].lower() in twins), None)
