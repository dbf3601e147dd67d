"""The known wrong ways of single-head self-attention: each form replaces one step (rarely two).

What an interviewer says about a label stands in `mistakes.toml`. The order within a step is the order of
preference when two forms explain the same output. Forms of step "drop", and those that move dropout
elsewhere, show in training mode only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from kata_content.common.steps import pass_on
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
        out = c.layers["output"](c.mixed) if c.extra.get("output_step") and "output" in c.layers else c.mixed
        return c.but(output=rule(c, out))

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
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def flat_scores(c: Context) -> Context:
    return c.but(scores=c.query.flatten(0, 1) @ c.key.flatten(0, 1).transpose(0, 1))


def flat_mix(c: Context) -> Context:
    return c.but(mixed=(c.weights @ c.value.flatten(0, 1)).reshape(c.x.shape))


def batch_scores(c: Context) -> Context:
    return c.but(scores=c.query.transpose(0, 1) @ c.key.transpose(0, 1).transpose(-2, -1))


def batch_mix(c: Context) -> Context:
    return c.but(mixed=(c.weights @ c.value.transpose(0, 1)).transpose(0, 1))


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
    return lambda c, out: torch.round(out, decimals=decimals)


SCALE = (
    Form("no_scale", {"scale": keep}),
    Form("scale_by_dk", {"scale": divided(lambda c: c.hidden_dim)}),
    Form("double_scale", {"scale": divided(lambda c: math.sqrt(c.hidden_dim) ** 2)}),
    Form("scale_multiplied", {"scale": divided(lambda c: c.hidden_dim**-0.5)}),
    Form(
        "scale_multiplied",
        {"scale": divided(lambda c: 1 / c.hidden_dim)},
        shows="scores are multiplied by hidden_dim instead of divided by √hidden_dim",
    ),
    Form("scale_by_seq_len", {"scale": divided(lambda c: math.sqrt(c.seq_len))}),
    Form(
        "scale_by_seq_len",
        {"scale": divided(lambda c: c.seq_len)},
        shows="scores are divided by seq_len instead of √hidden_dim",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(3 * c.hidden_dim))},
        shows="scores are divided by √(3·hidden_dim), the width of the packed projection",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(c.seq_len + c.hidden_dim))},
        shows="scores are divided by √(seq_len + hidden_dim)",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(c.seq_len * c.hidden_dim))},
        shows="scores are divided by √(seq_len·hidden_dim)",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: c.hidden_dim**0.25)},
        shows="scores are divided by hidden_dim^¼, so only one of query and key was scaled",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(2 * c.hidden_dim))},
        shows="scores are divided by √(2·hidden_dim)",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(c.hidden_dim / 2))},
        shows="scores are divided by √(hidden_dim/2)",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: 2 * c.hidden_dim)},
        shows="scores are divided by 2·hidden_dim",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: c.hidden_dim**2)},
        shows="scores are divided by hidden_dim²",
    ),
    Form("floor_division_scale", {"scale": lambda c: c.but(scores=c.scores // math.sqrt(c.hidden_dim))}),
    Form(
        "floor_division_scale",
        {"scale": lambda c: c.but(scores=c.scores // c.hidden_dim)},
        shows="scores are floor-divided (`//`) by hidden_dim",
    ),
    Form(
        "scale_after_softmax",
        {
            "scale": keep,
            "normalise": lambda c: c.but(weights=torch.softmax(c.scores, -1) / math.sqrt(c.hidden_dim)),
        },
    ),
)

SOFTMAX = (
    Form("softmax_over_queries", {"normalise": weighed(lambda s: torch.softmax(s, dim=-2))}),
    Form("softmax_over_batch", {"normalise": weighed(lambda s: torch.softmax(s, dim=0))}),
    Form("softmax_over_all", {"normalise": weighed(over_all)}),
    Form(
        "softmax_over_all",
        {"normalise": weighed(over_everything)},
        shows="softmax runs over the whole tensor, all samples together",
    ),
    Form("no_softmax", {"normalise": weighed(lambda s: s)}),
    Form("no_softmax", {"normalise": weighed(torch.sigmoid)}, shows="sigmoid stands where softmax belongs"),
    Form("no_softmax", {"normalise": weighed(torch.relu)}, shows="relu stands where softmax belongs"),
    Form("no_softmax", {"normalise": weighed(torch.tanh)}, shows="tanh stands where softmax belongs"),
    Form(
        "no_softmax",
        {"normalise": weighed(torch.exp)},
        shows="the exponentials are never divided by their row sum",
    ),
    Form(
        "no_softmax",
        {"normalise": weighed(lambda s: torch.log_softmax(s, dim=-1))},
        shows="log_softmax stands where softmax belongs, and nothing takes the exponential",
    ),
    Form(
        "no_softmax",
        {"normalise": weighed(lambda s: s / s.sum(dim=-1, keepdim=True))},
        shows="scores are divided by their row sum without exponentials",
    ),
    Form(
        "extra_nonlinearity",
        {"normalise": weighed(lambda s: torch.softmax(torch.softmax(s, dim=-1), dim=-1))},
        shows="softmax is applied twice",
    ),
    Form(
        "extra_nonlinearity",
        {"normalise": weighed(lambda s: torch.softmax(torch.relu(s), dim=-1))},
        shows="relu is applied to the scores before softmax",
    ),
    Form(
        "extra_nonlinearity",
        {"normalise": weighed(lambda s: torch.softmax(torch.tanh(s), dim=-1))},
        shows="tanh is applied to the scores before softmax",
    ),
    Form(
        "extra_nonlinearity",
        {"normalise": weighed(lambda s: torch.softmax(s.abs(), dim=-1))},
        shows="softmax sees the absolute values of the scores",
    ),
    Form(
        "extra_nonlinearity",
        {"normalise": weighed(lambda s: torch.softmax(-s, dim=-1))},
        shows="softmax sees the scores with the opposite sign",
    ),
)

SCORES = (
    Form("scores_use_value", {"scores": scored(lambda c: c.query @ c.value.mT)}),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.query @ c.query.mT)},
        shows="scores compare queries with queries, and the keys are never used",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.key @ c.key.mT)},
        shows="scores compare keys with keys, and the queries are never used",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.key @ c.value.mT)},
        shows="scores compare keys with values, and the queries are never used",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.key.mT)},
        shows="scores compare values with keys, and the queries are never used",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.value.mT)},
        shows="scores compare values with values; queries and keys are never used",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.query.mT)},
        shows="scores compare values with queries, and the keys are never used",
    ),
    Form("qk_swapped", {"scores": scored(lambda c: c.key @ c.query.mT)}),
    Form(
        "view_instead_of_transpose",
        {"scores": scored(lambda c: c.query @ c.key.reshape(c.key.shape[0], c.key.shape[2], c.key.shape[1]))},
    ),
    Form("attends_across_batch", {"scores": flat_scores, "mix": flat_mix}),
    Form(
        "attends_across_batch",
        {"scores": batch_scores, "mix": batch_mix},
        shows="each position attends over the samples of the batch instead of over the sequence",
    ),
    Form(
        "attends_over_features",
        {"scores": feature_scores, "mix": lambda c: c.but(mixed=c.value @ c.weights)},
    ),
    Form(
        "attends_over_features",
        {"scores": feature_scores, "mix": lambda c: c.but(mixed=c.value @ c.weights.mT)},
    ),
)

PROJECTIONS = (
    *(
        Form(
            "shared_projection",
            {"project": projected(q, k, v)},
            shows=f"query, key and value come from the layers {q}, {k} and {v}",
        )
        for q in ("query", "key", "value")
        for k in ("query", "key", "value")
        for v in ("query", "key", "value")
        if len({q, k, v}) < 3
    ),
    Form("projection_unused", {"project": projected("x", "x", "x")}),
    *(
        Form(
            "projection_unused",
            {"project": projected(q, k, v)},
            shows=" and ".join(
                f"the raw input stands in for the {role}"
                for role, layer in (("query", q), ("key", k), ("value", v))
                if layer == "x"
            ),
        )
        for q in ("query", "x")
        for k in ("key", "x")
        for v in ("value", "x")
        if "x" in (q, k, v) and (q, k, v) != ("x", "x", "x")
    ),
    split_order("query", "value", "key"),
    split_order("key", "query", "value"),
    split_order("key", "value", "query"),
    split_order("value", "query", "key"),
    split_order("value", "key", "query"),
    Form("qkv_interleaved", {"project": repacked(interleaved)}, needs=frozenset({"fused"})),
    Form(
        "view_instead_of_transpose",
        {"project": repacked(viewed(batch_first=True))},
        needs=frozenset({"fused"}),
        shows="the packed projection is viewed as (batch, 3, seq_len, hidden_dim), which mixes positions up",
    ),
    Form(
        "view_instead_of_transpose",
        {"project": repacked(viewed(batch_first=False))},
        needs=frozenset({"fused"}),
        shows="the packed projection is viewed as (3, batch, seq_len, hidden_dim), which mixes samples up",
    ),
    Form("split_wrong_dim", {"project": repacked(chunked(0))}, needs=frozenset({"fused"})),
    Form("split_wrong_dim", {"project": repacked(chunked(1))}, needs=frozenset({"fused"})),
    *(
        Form(
            "extra_nonlinearity",
            {"project": bent(function, roles)},
            shows=f"{function.__name__} is applied to {' and '.join(roles)}",
        )
        for roles in (("query", "key", "value"), ("query", "key"), ("value",), ("query",), ("key",))
        for function in (torch.relu, torch.tanh, torch.sigmoid, F.gelu)
    ),
    Form(
        "residual_or_norm_added",
        {"project": lambda c: projected("query", "key", "value")(c.but(x=layer_norm(c.x)))},
        shows="the input goes through LayerNorm before the projections",
    ),
    Form(
        "residual_or_norm_added",
        {"project": norm_qk},
        shows="query and key go through LayerNorm before they are compared",
    ),
)

MIX = (
    Form("weights_transposed", {"mix": lambda c: c.but(mixed=c.weights.mT @ c.value)}),
    Form("output_uses_keys", {"mix": lambda c: c.but(mixed=c.weights @ c.key)}),
    Form(
        "output_uses_keys",
        {"mix": lambda c: c.but(mixed=c.weights @ c.query)},
        shows="the weights mix the queries, and the values are never used",
    ),
    Form(
        "output_uses_keys",
        {"mix": lambda c: c.but(mixed=c.weights @ c.x)},
        shows="the weights mix the raw input, and the values are never used",
    ),
    Form("attention_result_discarded", {"output": lambda c: c.but(output=c.x)}),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.value)},
        shows="the values come out as they are, and no attention weight touches them",
    ),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.query)},
        shows="the queries come out as they are, and no attention weight touches them",
    ),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.x)},
        shows="the input passes by the attention",
        needs=frozenset({"output_step"}),
    ),
)

OUTPUT = (
    Form("no_output_proj", {"output": pass_on}, needs=frozenset({"output_step", "output_layer"})),
    *(
        Form(
            "no_output_proj",
            {"output": again(role)},
            needs=frozenset({"output_step", "output_layer"}),
            shows=f"the {role} layer is applied to the mixed values, where the output layer belongs",
        )
        for role in ("query", "key", "value")
    ),
    Form(
        "extra_output_proj",
        {"output": lambda c: c.but(output=c.layers["output"](c.mixed))},
        needs=frozenset({"output_layer", "no_output_step"}),
    ),
    Form("residual_or_norm_added", {"output": finished(lambda c, out: out + c.x)}),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: layer_norm(out + c.x))},
        shows="the input is added to the output and the sum goes through LayerNorm",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: layer_norm(out))},
        shows="the output goes through LayerNorm",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: c.x + layer_norm(out))},
        shows="the output goes through LayerNorm and the input is added",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: F.normalize(out, dim=-1))},
        shows="each output vector is normalised to length one",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: out + c.value)},
        shows="the values are added to the output",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: out + c.query)},
        shows="the queries are added to the output",
    ),
    *(
        Form(
            "extra_nonlinearity",
            {"output": finished(lambda c, out, function=function: function(out))},  # type: ignore[misc]
            shows=f"{function.__name__} is applied to the output",
        )
        for function in (torch.relu, torch.tanh, torch.sigmoid, F.gelu, F.silu, F.leaky_relu, F.elu)
    ),
    Form(
        "extra_nonlinearity",
        {"output": finished(lambda c, out: torch.softmax(out, dim=-1))},
        shows="softmax is applied to the output",
    ),
    Form("round_output", {"output": finished(rounded(4))}),
    Form("round_output", {"output": finished(rounded(3))}),
    Form("round_output", {"output": finished(rounded(2))}),
    Form("returns_weights", {"output": lambda c: c.but(output=c.weights)}),
    Form(
        "returns_weights",
        {"output": lambda c: c.but(output=c.scores)},
        shows="the scores are returned instead of the mixed values",
    ),
)

SMALL_FILLS = (-1e-9, -1e-4, -1e-2, -0.1, -1.0, -2.0, -5.0, -9.0, -10.0, -20.0, -50.0, -100.0, 1e-9)

MASK = (
    Form("mask_ignored", {"mask": keep}),
    Form("mask_inverted", {"mask": hidden_where(lambda visible: visible)}),
    Form("mask_inverted", {"mask": hidden_where(lambda visible: visible, -1e9)}),
    Form("mask_inverted", {"mask": added(lambda m: m * -1e9)}),
    Form("mask_fill_zero", {"mask": filled(0.0)}),
    *(Form("mask_fill_small", {"mask": filled(fill)}) for fill in SMALL_FILLS),
    *(
        Form("mask_fill_small", {"mask": added(lambda m, fill=fill: (1 - m) * fill)})  # type: ignore[misc]
        for fill in (*SMALL_FILLS, -10000 * 1e-9)
    ),
    Form("mask_fill_wrong_sign", {"mask": filled(1e9)}),
    Form("mask_fill_wrong_sign", {"mask": filled(float("inf"))}),
    Form("mask_fill_wrong_sign", {"mask": added(lambda m: (1 - m) * 1e9)}),
    Form("mask_added_as_bool", {"mask": added(lambda m: m)}),
    Form(
        "mask_added_as_bool",
        {"mask": added(lambda m: 1 - m)},
        shows="one minus the mask is added to the scores, which favours the hidden keys a little",
    ),
    Form("additive_inf_times_zero", {"mask": added(lambda m: (1 - m) * float("-inf"))}),
    Form(
        "additive_inf_times_zero",
        {"mask": added(lambda m: m * float("-inf"))},
        shows="the mask is multiplied by -inf, and 0 · -inf is NaN",
    ),
    Form("mask_on_queries_instead_of_keys", {"mask": hidden_where(lambda visible: ~visible.mT)}),
    Form("mask_on_queries_instead_of_keys", {"mask": hidden_where(lambda visible: ~visible.mT, -1e9)}),
    Form(
        "mask_on_queries_instead_of_keys",
        {"mask": first_key_column},
        shows="only the first column of the mask is used, so whole query rows are hidden or shown",
    ),
    Form(
        "mask_on_queries_instead_of_keys",
        {
            "mask": lambda c: (
                c if c.mask is None else c.but(scores=c.scores.masked_fill(c.mask[..., :1] == 0, -1e9))
            )
        },
        shows="only the first column of the mask is used, so whole query rows are hidden or shown",
    ),
    Form(
        "inf_nan_fully_masked_row",
        {"mask": hidden_where(lambda visible: ~(visible & visible.mT))},
        shows="the mask hides padded queries as well, and a row of nothing but -inf becomes NaN",
    ),
    Form("hides_padded_queries", {"mask": hidden_where(lambda visible: ~(visible & visible.mT), -1e9)}),
    Form("mask_branch_drops_scale", {"mask": unscaled_when_masked}),
    Form("mask_wrong_broadcast_4d", {"mask": four_dimensional}),
    Form("causal_by_default", {"mask": causal_without_mask}),
    Form(
        "causal_by_default",
        {"mask": causal_always},
        shows="later tokens are always hidden, whatever the mask says",
    ),
    Form("mask_after_softmax_no_renorm", {"mask": keep, "normalise": masked_weights(0.0)}),
    Form(
        "mask_after_softmax_no_renorm",
        {"mask": keep, "normalise": masked_weights(float("-inf"))},
        shows="hidden weights are set to -inf after softmax",
    ),
    Form(
        "mask_after_softmax_no_renorm",
        {"mask": keep, "normalise": masked_weights(-1e9)},
        shows="hidden weights are set to -1e9 after softmax",
    ),
    *(
        Form("mask_on_embeddings", {"project": on_embeddings(choose, query_too=query_too), "mask": keep})
        for query_too in (True, False)
        for choose in (
            lambda v: v.any(dim=-2),
            lambda v: v[:, 0],
            lambda v: v[:, -1],
            lambda v: v.all(dim=-2),
            lambda v: v.diagonal(dim1=-2, dim2=-1),
        )
    ),
)

# Other right ways to mask. They differ from -inf only beside a mistake that hides a whole row or column.
NEUTRAL = (
    Form("", {"mask": filled(-1e9)}),
    Form("", {"mask": added(lambda m: (1 - m) * -1e9)}),
)

CAUSAL_WITHOUT_MASK_STEP = (
    Form(
        "causal_by_default",
        {"normalise": weighed(lambda s: torch.softmax(s + torch.full_like(s, -1e9).triu(1), -1))},
    ),
)

DROPOUT = (
    Form(
        "dropout_no_rescale",
        {"drop": lambda c: c.but(weights=c.weights * (1 - c.rate))},
        shows="the weights are multiplied by 1 - dropout_rate in eval mode",
    ),
)

VALUES = (*SCALE, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT)
MASKED_VALUES = (*SCALE, *MASK, *DROPOUT, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT)


def dropped(rule: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(weights=rule(c))


def not_rescaled(c: Context) -> Tensor:
    if not c.training:
        return c.weights
    return c.weights * (torch.rand_like(c.weights) >= c.rate)


def renormalised(c: Context) -> Tensor:
    weights = F.dropout(c.weights, c.rate, c.training)
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-12)


TRAINING = (
    Form("missing_dropout", {"drop": keep}),
    Form("dropout_in_eval", {"drop": dropped(lambda c: F.dropout(c.weights, c.rate, training=True))}),
    Form("dropout_rate_ignored", {"drop": dropped(lambda c: F.dropout(c.weights, 0.1, c.training))}),
    Form("dropout_rate_ignored", {"drop": dropped(lambda c: F.dropout(c.weights, 0.5, c.training))}),
    Form("dropout_prob_inverted", {"drop": dropped(lambda c: F.dropout(c.weights, 1 - c.rate, c.training))}),
    Form("dropout_no_rescale", {"drop": dropped(not_rescaled)}),
    Form("dropout_renormalised", {"drop": dropped(renormalised)}),
    Form(
        "dropout_before_softmax",
        {
            "drop": keep,
            "normalise": lambda c: c.but(
                weights=torch.softmax(F.dropout(c.scores, c.rate, c.training), dim=-1)
            ),
        },
    ),
    Form(
        "dropout_on_output",
        {"drop": keep, "mix": lambda c: c.but(mixed=F.dropout(c.weights @ c.value, c.rate, c.training))},
    ),
    Form(
        "dropout_on_output",
        {"drop": keep, "output": finished(lambda c, out: F.dropout(out, c.rate, c.training))},
    ),
)
