"""The right steps of a rotary position embedding (Su et al. 2021), in both pairings that are in use.

Pair i is the features (i, i + d/2), or (2i, 2i + 1). The pairings differ in which features are partners and
in where an angle stands in the table; everything else is the same step.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.authoring import Context, Plan, Step

BASE = 10000.0


def base(c: Context) -> float:
    """What was given, else the usual one."""
    return float(c.numbers.get("base", BASE))


def count(c: Context) -> int:
    """How many pairs a head has."""
    return int(c.head_dim) // 2


def exponents(c: Context) -> Tensor:
    """2i/d for each pair."""
    width = int(c.head_dim)
    return torch.arange(0, width, 2, dtype=torch.float64) / width


def frequencies(c: Context) -> Context:
    """θᵢ = base^(-2i/d), one for each pair."""
    return c.but(theta=base(c) ** -exponents(c))


def angles(c: Context) -> Context:
    """Each position times each frequency: (seq_len, pairs), or (batch, seq_len, pairs)."""
    return c.but(angles=c.positions.unsqueeze(-1) * c.theta)


def lay(c: Context) -> Context:
    """The samples' own positions get an axis for the heads."""
    return c.but(angles=c.angles.unsqueeze(-3) if c.positions.dim() == 2 else c.angles)


def in_halves(values: Tensor) -> Tensor:
    """One number a pair as one a feature, where pair i is (i, i + d/2)."""
    return torch.cat((values, values), dim=-1)


def in_pairs(values: Tensor) -> Tensor:
    """One number a pair as one a feature, where pair i is (2i, 2i + 1)."""
    return values.repeat_interleave(2, dim=-1)


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first features of all pairs, and the second ones, where pair i is (i, i + d/2)."""
    pairs = x.shape[-1] // 2
    return x[..., :pairs], x[..., pairs:]


def pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The same where pair i is (2i, 2i + 1)."""
    return x[..., 0::2], x[..., 1::2]


def join_halves(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat((first, second), dim=-1)


def join_pairs(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack((first, second), dim=-1).flatten(-2)


def spread(over: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """The table of angles with a column for each feature."""
    return lambda c: c.but(table=over(c.angles))


def taken(
    apart: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Callable[[Context], Context]:
    """The two features of each pair."""

    def step(c: Context) -> Context:
        first, second = apart(c.x)
        return c.but(first=first, second=second)

    return step


def put(together: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Context], Context]:
    """Each feature beside its partner, turned by a right angle: (-second, first)."""
    return lambda c: c.but(partner=together(-c.second, c.first))


def rotate(c: Context) -> Context:
    """x₁cos - x₂sin, x₂cos + x₁sin."""
    return c.but(turned=c.x * c.table.cos() + c.partner * c.table.sin())


def finish(c: Context) -> Context:
    """In the dtype of x again."""
    return c.but(output=c.turned.to(c.x.dtype))


PLAN: Plan = {
    "frequencies": Step(frequencies, "angles", {"theta": "P"}),
    "angles": Step(angles, "positions", {"angles": "S P"}),
    "lay": Step(lay, "positions", {"angles": "S P"}),
    "spread": Step(spread(in_halves), "pairing", {"table": "S d"}),
    "take": Step(taken(halves), "pairing", {"first": "B H S P", "second": "B H S P"}),
    "partner": Step(put(join_halves), "rotation", {"partner": "B H S d"}),
    "rotate": Step(rotate, "rotation", {"turned": "B H S d"}),
    "finish": Step(finish, "rotation", {"output": "B H S d"}),
}
NEIGHBOURS: Plan = {
    "spread": Step(spread(in_pairs), "pairing", {"table": "S d"}),
    "take": Step(taken(pairs), "pairing", {"first": "B H S P", "second": "B H S P"}),
    "partner": Step(put(join_pairs), "rotation", {"partner": "B H S d"}),
}


def in_neighbours(c: Context) -> bool:
    """Whether the pairing is that of neighbours, (2i, 2i + 1)."""
    return c.plan["spread"] is NEIGHBOURS["spread"]


def apart(c: Context, x: Tensor) -> tuple[Tensor, Tensor]:
    """The two features of each pair, in the pairing of this answer."""
    return pairs(x) if in_neighbours(c) else halves(x)


def together(c: Context, first: Tensor, second: Tensor) -> Tensor:
    return join_pairs(first, second) if in_neighbours(c) else join_halves(first, second)
