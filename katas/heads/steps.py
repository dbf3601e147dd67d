"""The right steps of attention with several heads (Vaswani et al. 2017, section 3.2.2)."""

from __future__ import annotations

import math

import torch
from kata_content.common.steps import drop, mask, mix, normalise, project, scores
from torch import Tensor

from grader.authoring import Context, Plan, Step


def lay(c: Context) -> Context:
    """A mask gets an axis for the heads, in front of queries and keys."""
    if c.mask is None or c.visible is None:
        return c
    return c.but(mask=c.mask.unsqueeze(-3), visible=c.visible.unsqueeze(-3))


def cut(c: Context, made: Tensor) -> Tensor:
    """(batch, length, heads · head_dim) to (batch, heads, length, head_dim)."""
    return torch.unflatten(made, -1, (-1, c.head_dim)).transpose(-3, -2)


def split(c: Context) -> Context:
    """Each head gets head_dim features of every token."""
    return c.but(query=cut(c, c.query), key=cut(c, c.key), value=cut(c, c.value))


def scale(c: Context) -> Context:
    """Divide by √head_dim, the width of what was multiplied."""
    return c.but(scores=c.scores / math.sqrt(c.head_dim))


def side_by_side(mixed: Tensor) -> Tensor:
    """(batch, num_heads, length, head_dim) to (batch, length, hidden_dim)."""
    return mixed.transpose(-3, -2).flatten(-2)


def join(c: Context) -> Context:
    """The heads side by side again."""
    return c.but(joined=side_by_side(c.mixed))


def output(c: Context) -> Context:
    """The output projection."""
    return c.but(output=c.layers["output"](c.joined))


def pass_on(c: Context) -> Context:
    """No output projection."""
    return c.but(output=c.joined)


LAY = Step(lay, "mask")
PROJECT = Step(project, "projections", {"query": "B S D", "key": "B T D", "value": "B T D"})
SPLIT = Step(split, "heads", {"query": "B H S d", "key": "B H T d", "value": "B H T d"})
SCORES = Step(scores, "scores", {"scores": "B H S T"})
SCALE = Step(scale, "scale", {"scores": "B H S T"})
MASK = Step(mask, "mask", {"scores": "B H S T"})
NORMALISE = Step(normalise, "softmax", {"weights": "B H S T"})
DROP = Step(drop, "dropout", {"weights": "B H S T"})
MIX = Step(mix, "mix", {"mixed": "B H S d"})
JOIN = Step(join, "heads", {"joined": "B S D"})
OUTPUT = Step(output, "output", {"output": "B S D"}, role="output", without=pass_on)

MASKED: Plan = {
    "lay": LAY,
    "project": PROJECT,
    "split": SPLIT,
    "scores": SCORES,
    "scale": SCALE,
    "mask": MASK,
    "normalise": NORMALISE,
    "drop": DROP,
    "mix": MIX,
    "join": JOIN,
    "output": OUTPUT,
}
