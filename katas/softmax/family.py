"""The structure of softmax: a shift, exponentials, and their sum along an axis."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.authoring import Context, Family, Plan, Probe, Step

FAR = 1000.0  # exp overflows there in float64 too; a log-sum-exp in float32 is still exact enough


def axis(c: Context) -> int:
    """The axis to reduce, counted from the end."""
    rank: int = c.logits.dim()
    return int(c.numbers.get("dim", -1)) % rank - rank


def shift(c: Context) -> Context:
    """The row's maximum taken away: no exponent is above 0, and one is 0."""
    return c.but(shifted=c.logits - c.logits.amax(axis(c), keepdim=True))


def exponentials(c: Context) -> Context:
    return c.but(powers=torch.exp(c.shifted))


def over_sum(c: Context) -> Context:
    return c.but(output=c.powers / c.powers.sum(axis(c), keepdim=True))


PLAN: Plan = {
    "shift": Step(shift, "stability", {"shifted": "A B C"}),
    "exponentials": Step(exponentials, "exponentials", {"powers": "A B C"}),
    "over_sum": Step(over_sum, "axis", {"output": "A B C"}),
}
SIZES: Mapping[str, int] = {"A": 2, "B": 3, "C": 4, "E": 5}


def along(name: str, dim: int | None, axes: str = "A B C", *, stage: int = 0, **more: object) -> Probe:
    """A probe with these axes, reduced along `dim`; None leaves it out."""
    numbers = {} if dim is None else {"dim": dim}
    return Probe(name, SIZES, stage=stage, axes={"logits": axes, "output": axes}, numbers=numbers, **more)  # type: ignore[arg-type]


def far(name: str, dim: int, change: object) -> Probe:
    return along(name, dim, stage=1, change={"logits": change})


def _rows_apart(logits: Tensor) -> Tensor:
    """Along the middle axis, rows of the last one lie a thousand apart."""
    return logits + FAR * torch.arange(-1.0, 2.0).unsqueeze(-1)


def _entries_apart(logits: Tensor) -> Tensor:
    """Entries of one row some hundreds apart, on both sides of 0."""
    return logits + 300.0 * torch.tensor([2.0, -2.0, 1.0, 0.0])


def _some_hidden(logits: Tensor) -> Tensor:
    """-inf beside finite entries."""
    hidden = torch.zeros_like(logits, dtype=torch.bool)
    hidden[0, 1, 2] = hidden[1, 0, 0] = hidden[1, 2, 3] = True
    return logits.masked_fill(hidden, float("-inf"))


STANDARD = (
    along("base", 1, traced=True),
    along("last", 2, traced=True),
    along("first", 0),
    along("from_the_end", -2),
    along("first_from_the_end", -3),
    along("default", None),
    along("matrix", 0, "B C"),
    along("matrix_rows", -1, "B C"),
    along("four_axes", 1, "A B C E"),
    along("four_axes_inner", -2, "A B C E"),
    along("square", 1, "B B"),
    along("vector", 0, "C"),
    far("far_above", 1, lambda logits: logits + FAR),
    far("far_below", 1, lambda logits: logits - FAR),
    far("rows_apart", 2, _rows_apart),
    far("entries_apart", -1, _entries_apart),
    far("hidden_entries", 1, _some_hidden),
)

FAMILY = Family(
    plan=PLAN,
    standard=STANDARD,
    further=(
        along("cube", 1, "B B B"),
        along("five_axes", -3, "A B C E A"),
        Probe("long", {**SIZES, "C": 300}, axes={"logits": "A C", "output": "A C"}, numbers={"dim": 1}),
        Probe(
            "one_entry", {**SIZES, "B": 1}, axes={"logits": "A B C", "output": "A B C"}, numbers={"dim": 1}
        ),
    ),
    words={"A": frozenset({"b", "batch"}), "B": frozenset({"s", "rows"}), "C": frozenset({"n", "classes"})},
    formula="exp(z) over its sum along dim",
)
