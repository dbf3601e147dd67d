"""The known wrong ways of single-head self-attention: each form replaces one step (rarely two).

What an interviewer says about a label stands in `mistakes.toml`. The order within a step is the order of
preference when two forms explain the same output. Forms of step "drop", and those that move dropout
elsewhere, show in training mode only.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from kata_content.common.mistakes_masked import DROPOUT, MASK, NEUTRAL, TRAINING
from kata_content.common.steps import pass_on
from kata_content.common.ways import (
    again,
    batch_mix,
    batch_scores,
    bent,
    chunked,
    divided,
    feature_scores,
    finished,
    flat_mix,
    flat_scores,
    interleaved,
    keep,
    layer_norm,
    norm_qk,
    over_all,
    over_everything,
    projected,
    repacked,
    rounded,
    scored,
    split_order,
    viewed,
    weighed,
)

from grader.authoring import Form

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
    Form("softmax_over_batch", {"normalise": weighed(lambda s: torch.softmax(s, dim=-3))}),
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
        {"scores": scored(lambda c: c.query @ c.key.reshape(c.key.mT.shape))},
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
        {"project": lambda c: projected("query", "key", "value")(c.but(x=layer_norm(c.x))).but(x=c.x)},
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

CAUSAL_WITHOUT_MASK_STEP = (
    Form(
        "causal_by_default",
        {"normalise": weighed(lambda s: torch.softmax(s + torch.full_like(s, -1e9).triu(1), -1))},
    ),
)

VALUES = (*SCALE, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT)

MASKED_VALUES = (*SCALE, *MASK, *DROPOUT, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT)

__all__ = ["CAUSAL_WITHOUT_MASK_STEP", "MASKED_VALUES", "NEUTRAL", "TRAINING", "VALUES"]
