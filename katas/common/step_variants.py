"""Wrong and right ways of doing one step, as functions of which the catalogue's forms are made."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.authoring import Context, Form


def keep(c: Context) -> Context:
    """The step does nothing."""
    return c


def divided(divisor: Callable[[Context], float]) -> Callable[[Context], Context]:
    """Scores divided by something else than √hidden_dim."""
    return lambda c: c.but(scores=c.scores / divisor(c))


def filled(fill: float) -> Callable[[Context], Context]:
    """Hidden scores replaced by `fill`."""
    return lambda c: c if c.visible is None else c.but(scores=c.scores.masked_fill(~c.visible, fill))


def added(bias: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """A function of the 0/1 mask added to the scores."""
    return lambda c: c if c.mask is None else c.but(scores=c.scores + bias(c.mask.to(c.scores.dtype)))


def hidden_where(
    rule: Callable[[Tensor], Tensor], fill: float = float("-inf")
) -> Callable[[Context], Context]:
    """Another set of scores hidden: `rule` makes it from what is visible, (batch, seq_len, seq_len) bool."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        return c.but(scores=c.scores.masked_fill(rule(c.visible.expand(c.scores.shape)), fill))

    return step


def scored(pair: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(scores=pair(c))


def weighed(rule: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """Weights made from scores by something else than softmax over the keys."""
    return lambda c: c.but(weights=rule(c.scores))


def projected(query: str, key: str, value: str) -> Callable[[Context], Context]:
    """Each of query, key and value from the layer of that name; "x" stands for no layer at all."""

    def take(c: Context, name: str) -> Tensor:
        return c.x if name == "x" else c.layers[name](c.x)

    return lambda c: c.but(query=take(c, query), key=take(c, key), value=take(c, value))


def chained(role: str, source: str) -> Callable[[Context], Context]:
    """A layer applied to what another one made of x, or to its own result."""

    def step(c: Context) -> Context:
        made = {name: c.layers[name](c.x) for name in ("query", "key", "value")}
        return c.but(**{**made, role: c.layers[role](made[source])})

    return step


def in_a_chain(c: Context) -> Context:
    """The key made of the query, and the value of the key."""
    query = c.layers["query"](c.x)
    key = c.layers["key"](query)
    return c.but(query=query, key=key, value=c.layers["value"](key))


def with_bias_of(role: str) -> Callable[[Context], Context]:
    """The value made with the bias of another layer."""

    def step(c: Context) -> Context:
        bias = c.layers[role].bias
        value = F.linear(c.x, c.layers["value"].weight, bias)
        return c.but(query=c.layers["query"](c.x), key=c.layers["key"](c.x), value=value)

    return step


def bent(function: Callable[[Tensor], Tensor], roles: tuple[str, ...]) -> Callable[[Context], Context]:
    """A nonlinearity on some of query, key and value."""

    def step(c: Context) -> Context:
        made = {role: c.layers[role](c.x) for role in ("query", "key", "value")}
        made |= {role: function(made[role]) for role in roles}
        return c.but(**made)

    return step


def finished(rule: Callable[[Context, Tensor], Tensor]) -> Callable[[Context], Context]:
    """Something more done to the output, after the output projection where the layers have one."""

    def step(c: Context) -> Context:
        return c.but(output=rule(c, c.plan["output"].run(c).output))

    return step


def repacked(unpack: Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]) -> Callable[[Context], Context]:
    """Query, key and value cut from the packed projection (batch, seq_len, 3·hidden_dim) in another way."""

    def step(c: Context) -> Context:
        packed = torch.cat([c.layers[name](c.x) for name in ("query", "key", "value")], dim=-1)
        query, key, value = unpack(packed)
        return c.but(query=query, key=key, value=value)

    return step


def interleaved(packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return packed[..., 0::3], packed[..., 1::3], packed[..., 2::3]


def chunked(dim: int) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
    def unpack(packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = packed.chunk(3, dim=dim)
        return query, key, value

    return unpack


def viewed(batch_first: bool) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
    """`view` to (batch, 3, seq_len, hidden_dim) or (3, batch, …) without moving the axis there."""

    def unpack(packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, seq_len, width = packed.shape
        if batch_first:
            query, key, value = packed.reshape(batch, 3, seq_len, width // 3).unbind(1)
        else:
            query, key, value = packed.reshape(3, batch, seq_len, width // 3).unbind(0)
        return query, key, value

    return unpack


def sliced(key: int, value: int) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
    """Slices of the packed projection, those of key and value so many features late."""

    def unpack(packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        width = packed.shape[-1] // 3
        starts = (0, width + key, 2 * width + value)
        one, two, three = (packed[..., start : start + width] for start in starts)
        return one, two, three

    return unpack


def split_order(query: str, key: str, value: str) -> Form:
    return Form(
        "qkv_order_wrong",
        {"project": projected(query, key, value)},
        needs=frozenset({"fused", "fixed_order"}),
        shows=f"the query is taken from the {query} third, the key from the {key} third and the value"
        f" from the {value} third of the fused projection",
    )


def causal(c: Context) -> Tensor:
    return torch.ones(c.seq_len, c.seq_len, dtype=torch.bool).tril()


def causal_always(c: Context) -> Context:
    visible = causal(c) if c.visible is None else c.visible & causal(c)
    return c.but(scores=c.scores.masked_fill(~visible, float("-inf")))


def causal_without_mask(c: Context) -> Context:
    visible = causal(c) if c.visible is None else c.visible
    return c.but(scores=c.scores.masked_fill(~visible, float("-inf")))


def unscaled_when_masked(c: Context) -> Context:
    if c.visible is None:
        return c
    return c.but(scores=(c.scores * math.sqrt(c.hidden_dim)).masked_fill(~c.visible, float("-inf")))


def four_dimensional(c: Context) -> Context:
    """`unsqueeze(1)` as for heads; a (seq_len, seq_len) mask crashes unless seq_len is the batch."""
    return (
        c if c.mask is None else c.but(scores=c.scores.masked_fill(c.mask.unsqueeze(1) == 0, float("-inf")))
    )


def first_key_column(c: Context) -> Context:
    if c.mask is None:
        return c
    return c.but(scores=c.scores.masked_fill(c.mask[..., :1] == 0, float("-inf")))


def first_sample(fill: float) -> Callable[[Context], Context]:
    """`mask[0]` for the whole batch."""
    return lambda c: c if c.mask is None else c.but(scores=c.scores.masked_fill(c.mask[0] == 0, fill))


def first_sample_of_expanded(fill: float) -> Callable[[Context], Context]:
    """The mask is expanded to the shape of the scores before the first sample's is taken for all."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        visible = c.visible.expand(c.scores.shape)
        first = visible.narrow(c.axis("scores", "B"), 0, 1).expand(visible.shape)
        return c.but(scores=c.scores.masked_fill(~first, fill))

    return step


def masked_weights(fill: float) -> Callable[[Context], Context]:
    """Softmax over everything, and the mask afterwards, without renormalising."""

    def step(c: Context) -> Context:
        weights = torch.softmax(c.scores, dim=-1)
        return c.but(weights=weights if c.visible is None else weights.masked_fill(~c.visible, fill))

    return step


def on_embeddings(
    choose: Callable[[Tensor], Tensor], *, query_too: bool = True
) -> Callable[[Context], Context]:
    """Rows of x set to zero by the mask, before the projections; `choose` makes (batch, seq_len) of it."""

    def step(c: Context) -> Context:
        x = c.x
        if c.visible is not None:
            x = x * choose(c.visible.expand(x.shape[0], x.shape[1], x.shape[1])).unsqueeze(-1).to(x.dtype)
        query = c.layers["query"](x if query_too else c.x)
        return c.but(query=query, key=c.layers["key"](x), value=c.layers["value"](x))

    return step


def over_all(scores: Tensor) -> Tensor:
    return torch.softmax(scores.flatten(-2), dim=-1).reshape(scores.shape)


def over_everything(scores: Tensor) -> Tensor:
    return torch.softmax(scores.flatten(-3), dim=-1).reshape(scores.shape)


def exponentials_over(axes: tuple[int, ...], top: int) -> Callable[[Tensor], Tensor]:
    """Exponentials of the scores less their maximum along `top`, divided by their sum over `axes`."""

    def rule(scores: Tensor) -> Tensor:
        grown = torch.exp(scores - scores.amax(dim=top, keepdim=True))
        return grown / grown.sum(dim=axes, keepdim=True)

    return rule


def flat_scores(c: Context) -> Context:
    return c.but(scores=c.query.flatten(-3, -2) @ c.key.flatten(-3, -2).mT)


def flat_mix(c: Context) -> Context:
    return c.but(mixed=(c.weights @ c.value.flatten(-3, -2)).unflatten(-2, c.x.shape[:2]))


def batch_scores(c: Context) -> Context:
    return c.but(scores=c.query.transpose(-3, -2) @ c.key.transpose(-3, -2).mT)


def batch_mix(c: Context) -> Context:
    return c.but(mixed=(c.weights @ c.value.transpose(-3, -2)).transpose(-3, -2))


def feature_scores(c: Context) -> Context:
    return c.but(scores=c.query.transpose(-2, -1) @ c.key)


def layer_norm(out: Tensor) -> Tensor:
    return F.layer_norm(out, out.shape[-1:])


def again(role: str) -> Callable[[Context], Context]:
    """The output passes through a layer that has done its work already."""
    return lambda c: c.but(output=c.layers[role](c.mixed))


def norm_qk(c: Context) -> Context:
    query, key = c.layers["query"](c.x), c.layers["key"](c.x)
    return c.but(query=layer_norm(query), key=layer_norm(key), value=c.layers["value"](c.x))


def rounded(decimals: int) -> Callable[[Context, Tensor], Tensor]:
    return lambda _, out: torch.round(out, decimals=decimals)


def dropped(rule: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(weights=rule(c))


def not_rescaled(c: Context) -> Tensor:
    weights: Tensor = c.weights
    if not c.training:
        return weights
    return weights * (torch.rand_like(weights) >= c.rate)


def renormalised(c: Context) -> Tensor:
    weights = F.dropout(c.weights, c.rate, c.training)
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-12)
