"""Wrong ways to cut, join and mask heads, as functions of which the catalogue's forms are made.

Axes are counted from the end, so that a step does the same to a stack of variants as to one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from kata_content.heads.steps import cut, side_by_side
from torch import Tensor

from grader.authoring import Context

ROLES = ("query", "key", "value")


def cut_positions(*roles: str) -> Callable[[Context], Context]:
    """Some of query, key and value viewed as (batch, heads, length, head_dim): that cuts positions."""

    def step(c: Context) -> Context:
        made = {role: cut(c, getattr(c, role)) for role in ROLES}
        for role in roles:
            made[role] = getattr(c, role).reshape(made[role].shape)
        return c.but(**made)

    return step


def uncut(c: Context) -> Context:
    """The heads stay behind the positions: (batch, length, heads, head_dim)."""
    return c.but(**{role: getattr(c, role).unflatten(-1, (-1, c.head_dim)) for role in ROLES})


def exchanged(c: Context) -> Context:
    """head_dim heads that are num_heads wide."""
    return c.but(
        **{
            role: getattr(c, role).unflatten(-1, (c.head_dim, c.num_heads)).transpose(-3, -2)
            for role in ROLES
        }
    )


def joined(rule: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """The heads, (batch, heads, length, head_dim), joined in another way."""
    return lambda c: c.but(joined=rule(c.mixed))


def joined_as_it_lies(c: Context) -> Context:
    """Reshaped without moving an axis."""
    return c.but(joined=c.mixed.reshape(*c.mixed.shape[:-3], *c.x.shape[-2:]))


def last_axes_exchanged(mixed: Tensor) -> Tensor:
    heads, length, width = mixed.shape[-3:]
    return mixed.mT.reshape(*mixed.shape[:-3], length, heads * width)


def unfolded_heads_first(mixed: Tensor) -> Tensor:
    """Folded with samples outside, unfolded with heads outside."""
    batch, heads = mixed.shape[-4:-2]
    return side_by_side(mixed.reshape(*mixed.shape[:-4], heads, batch, *mixed.shape[-2:]).transpose(-4, -3))


def unfolded_samples_first(mixed: Tensor) -> Tensor:
    """Folded with heads outside, unfolded with samples outside."""
    return side_by_side(mixed.transpose(-4, -3).reshape(mixed.shape))


def every_head(rule: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """What a rule makes of the heads, in the place of each head."""
    return lambda mixed: side_by_side(rule(mixed).expand(mixed.shape))


def one_head(place: int) -> Callable[[Tensor], Tensor]:
    """One head where it belongs, and zeros in the place of the others."""

    def rule(mixed: Tensor) -> Tensor:
        kept = torch.zeros_like(mixed)
        kept.select(-3, place).copy_(mixed.select(-3, place))
        return side_by_side(kept)

    return rule


def head(tensor: Tensor, place: int) -> Tensor:
    """One head, with an axis for all."""
    return tensor.select(-3, place).unsqueeze(-3)


def shared_weights(rule: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """All heads mixed with the weights that a rule makes of those of all heads."""
    return lambda c: c.but(mixed=rule(c.weights) @ c.value)


def no_axis_for_heads(fill: float) -> Callable[[Context], Context]:
    """The mask as it came: its batch axis meets the heads."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        return c.but(scores=c.scores.masked_fill(~c.visible.squeeze(-3), fill))

    return step


def copied_in_other_order(*, heads_outside: bool, fill: float) -> Callable[[Context], Context]:
    """Masks repeated for heads that were folded into the batch, in the order of another fold."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        batch, heads = c.batch, c.num_heads
        rows = torch.arange(batch * heads)
        samples = rows // heads if heads_outside else rows % batch
        whole = c.visible.squeeze(-3).expand(batch, *c.scores.shape[-2:])[samples]
        order = (heads, batch) if heads_outside else (batch, heads)
        visible = whole.unflatten(0, order)
        return c.but(
            scores=c.scores.masked_fill(~(visible.transpose(0, 1) if heads_outside else visible), fill)
        )

    return step


def some_heads(chosen: slice, fill: float) -> Callable[[Context], Context]:
    """The mask in some of the heads only."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        there = torch.zeros(c.num_heads, 1, 1, dtype=torch.bool)
        there[chosen] = True
        return c.but(scores=c.scores.masked_fill(~c.visible & there, fill))

    return step
