"""What attention in blocks is made of: the scores, and three things that are carried from block to block.

The oracle has the scores of all blocks at hand, so that a mistake is a change of one step: which keys are
read, the running maximum after each block, the factors by which what was carried so far shrinks, the
exponentials, the running sum, the running mix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from grader.authoring import Context, Plan, Step


def block_size(c: Context) -> int:
    return int(c.numbers["block_size"])


def cuts(c: Context) -> list[slice]:
    """Where each block begins and ends among the keys that are read."""
    length, step = c.read.shape[-1], block_size(c)
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def blocks(c: Context) -> list[tuple[Tensor, Tensor]]:
    """Each block: its exponentials, (…, queries, keys of the block), and its values."""
    return [(c.powers[..., cut], c.held[..., cut, :]) for cut in cuts(c)]


def block_peaks(c: Context, peak: Callable[[Tensor], Tensor] = lambda block: block.amax(-1)) -> Tensor:
    """One number for each query and block, by default the largest score: (…, queries, blocks)."""
    return torch.stack([peak(c.read[..., cut]) for cut in cuts(c)], dim=-1)


def scale(c: Context) -> Context:
    return c.but(scaled=c.query / math.sqrt(c.head_dim))


def scores(c: Context) -> Context:
    return c.but(scores=c.scaled @ c.key.mT)


def read(c: Context) -> Context:
    """Every key once, in order, with its value."""
    return c.but(read=c.scores, held=c.value)


def peaks(c: Context) -> Context:
    """The largest score of all blocks so far."""
    return c.but(tops=block_peaks(c).cummax(-1).values)


def before(tops: Tensor, start: float = -math.inf) -> Tensor:
    """The running maximum ahead of each block."""
    return torch.cat([torch.full_like(tops[..., :1], start), tops[..., :-1]], dim=-1)


def factors(c: Context) -> Context:
    """By how much the old maximum lies below the new one."""
    shrinks = torch.exp(before(c.tops) - c.tops)
    return c.but(shrinks=shrinks, sum_shrinks=shrinks)


def raised(c: Context, tops: Tensor, exp: Callable[[Tensor], Tensor] = torch.exp) -> Tensor:
    """The exponentials of each block's scores less what `tops` has for it."""
    parts = [exp(c.read[..., cut] - tops[..., n : n + 1]) for n, cut in enumerate(cuts(c))]
    return torch.cat(parts, dim=-1)


def powers(c: Context) -> Context:
    return c.but(powers=raised(c, c.tops))


def summed(parts: Sequence[Tensor], shrinks: Tensor) -> Tensor:
    """The running sum after each block: (…, queries, blocks)."""
    total, after = torch.zeros_like(parts[0]), []
    for n, part in enumerate(parts):
        total = total * shrinks[..., n] + part
        after.append(total)
    return torch.stack(after, dim=-1)


def sums(c: Context) -> Context:
    return c.but(sums=summed([block.sum(-1) for block, _ in blocks(c)], c.sum_shrinks))


def mixed(parts: Sequence[Tensor], shrinks: Tensor) -> Tensor:
    """What was carried through all blocks: (…, queries, head_dim)."""
    total = torch.zeros_like(parts[0])
    for n, part in enumerate(parts):
        total = total * shrinks[..., n : n + 1] + part
    return total


def mix(c: Context) -> Context:
    return c.but(mixed=mixed([block @ held for block, held in blocks(c)], c.shrinks))


def divide(c: Context) -> Context:
    return c.but(output=c.mixed / c.sums[..., -1:], weights=torch.softmax(c.read, -1))


PLAN: Plan = {
    "scale": Step(scale, "scale", {"scaled": "B H S d"}),
    "scores": Step(scores, "scale", {"scores": "B H S T"}),
    "read": Step(read, "blocks", {"read": "B H S T", "held": "B H T d"}),
    "peaks": Step(peaks, "stability", {"tops": "B H S N"}),
    "factors": Step(factors, "rescale", {"shrinks": "B H S N", "sum_shrinks": "B H S N"}),
    "powers": Step(powers, "rescale", {"powers": "B H S T"}),
    "sums": Step(sums, "rescale", {"sums": "B H S N"}),
    "mix": Step(mix, "rescale", {"mixed": "B H S d"}),
    "divide": Step(divide, "rescale", {"output": "B H S d", "weights": "B H S T"}),
}
