"""Ways in which the query heads of a group share a head of keys and values, right and wrong, as functions.

Axes are counted from the end, so that a step does the same to a stack of variants as to one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.authoring import Context

Way = Callable[[Context, Tensor], Tensor]  # the heads of keys or values as query heads read them


def runs(c: Context, heads_of: Tensor) -> Tensor:
    """The right order: each key-value head for a run of query heads."""
    return heads_of.repeat_interleave(c.repeats, dim=-3)


def in_turns(c: Context, heads_of: Tensor) -> Tensor:
    return torch.cat([heads_of] * c.repeats, dim=-3)


def numbered(rule: Callable[[Tensor, Context], Tensor]) -> Way:
    """Query head h reads the key-value head whose number a rule makes of h."""
    return lambda c, heads_of: heads_of.index_select(-3, rule(torch.arange(c.num_heads), c))


def averaged(c: Context, heads_of: Tensor) -> Tensor:
    return heads_of.mean(dim=-3, keepdim=True).repeat_interleave(c.num_heads, dim=-3)


def shared(key: Way, value: Way) -> Callable[[Context], Context]:
    return lambda c: c.but(key=key(c, c.key), value=value(c, c.value))


def in_groups(tensor: Tensor, c: Context) -> Tensor:
    """(…, heads, length, features) to (…, groups, repeats, length, features)."""
    return torch.unflatten(tensor, -3, (c.num_kv_heads, c.repeats))


def averaged_in_groups(tensor: Tensor, c: Context) -> Tensor:
    """The mean of a group's heads, in the place of each."""
    grouped = in_groups(tensor, c)
    return grouped.mean(dim=-3, keepdim=True).expand(grouped.shape).flatten(-4, -3)


def added_in_groups(tensor: Tensor, c: Context) -> Tensor:
    """The sum of a group's heads, in the place of each."""
    repeats: int = c.repeats
    return repeats * averaged_in_groups(tensor, c)


def folded_outside(tensor: Tensor, c: Context) -> Tensor:
    """Positions and places in a group folded with positions outside, and unfolded with them inside."""
    grouped = in_groups(tensor, c)
    return grouped.transpose(-3, -2).reshape(grouped.shape).flatten(-4, -3)


def folded_inside(tensor: Tensor, c: Context) -> Tensor:
    """Folded with positions inside, and unfolded with them outside."""
    grouped = in_groups(tensor, c)
    *outer, repeats, length, width = grouped.shape
    return grouped.reshape(*outer, length, repeats, width).transpose(-3, -2).flatten(-4, -3)


def asked(rule: Callable[[Tensor, Context], Tensor]) -> Callable[[Context], Context]:
    """Something done to the queries, where keys and values are shared as they should."""
    return lambda c: c.but(query=rule(c.query, c), key=runs(c, c.key), value=runs(c, c.value))


def mixed(rule: Callable[[Tensor, Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(mixed=rule(c.weights @ c.value, c))


def behind(c: Context) -> Context:
    """Keys and values repeated where the heads stand behind the positions."""
    return c.but(
        key=c.key.repeat_interleave(c.repeats, dim=-2), value=c.value.repeat_interleave(c.repeats, dim=-2)
    )


def rows_in_other_order(c: Context, *, in_turns_wanted: bool, fill: float) -> Context:
    """The rows of a mask repeated for the queries of a group in another order than these were joined."""
    if c.visible is None:
        return c
    length = c.scores.shape[-2]
    places = torch.arange(c.repeats * length)
    rows = places // c.repeats if in_turns_wanted else places % length
    whole = c.visible.expand(*c.visible.shape[:-2], length, c.visible.shape[-1])
    joined_rows = whole.index_select(-2, rows)
    if in_turns_wanted:
        own = joined_rows.unflatten(-2, (c.repeats, length))
    else:
        own = joined_rows.unflatten(-2, (length, c.repeats)).transpose(-3, -2)
    visible = own.squeeze(-4).repeat(*[1] * (own.dim() - 4), c.num_kv_heads, 1, 1)
    return c.but(scores=c.scores.masked_fill(~visible, fill))
