"""The known wrong ways of single-head self-attention: each form replaces one step (rarely two).

What an interviewer says about a label stands in `mistakes.toml`. The order within a step is the order of
preference when two forms explain the same output. Forms of step "drop", and those that move dropout
elsewhere, show in training mode only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from operator import eq

import torch
import torch.nn.functional as F
from kata_content.common.mistakes_masked import DROPOUT, MASK, NEUTRAL, TRAINING
from kata_content.common.step_variants import (
    again,
    batch_mix,
    batch_scores,
    bent,
    chained,
    chunked,
    divided,
    exponentials_over,
    feature_scores,
    finished,
    flat_mix,
    flat_scores,
    in_a_chain,
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
    sliced,
    split_order,
    viewed,
    weighed,
    with_bias_of,
)
from kata_content.common.steps import pass_on
from torch import Tensor

from grader.authoring import Context, Form

SCALE = (
    Form("no_scale", {"scale": keep}),
    Form("scale_by_dk", {"scale": divided(lambda c: c.hidden_dim)}),
    Form("double_scale", {"scale": divided(lambda c: math.sqrt(c.hidden_dim) ** 2)}),
    Form("scale_multiplied", {"scale": divided(lambda c: c.hidden_dim**-0.5)}),
    Form(
        "scale_multiplied",
        {"scale": divided(lambda c: 1 / c.hidden_dim)},
        shows="scores are multiplied by hidden_dim instead of divided by √hidden_dim",
        sentence="You multiplied by the width where you should divide by its root, which makes the saturation"
        " worse instead of better.",
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
    *(
        Form(
            "scale_wrong_value",
            {"scale": divided(lambda c, number=number: number)},  # type: ignore[misc]
            entails=("hard_coded_sizes",),
            shows=f"scores are always divided by {number:.4g}{root}, whatever hidden_dim is",
        )
        for number, root in (
            (math.sqrt(728), " = √728"),
            (27.0, ""),
            (math.sqrt(768), " = √768"),
            (8.0, " = √64"),
            (math.sqrt(512), " = √512"),
            (32.0, " = √1024"),
        )
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

USE_SOFTMAX = "Write `weights = torch.softmax(scores, dim=-1)` in its place."


def _instead_of_softmax(
    rule: Callable[[Tensor], Tensor], shows: str, sentence: str, fix: str = USE_SOFTMAX
) -> Form:
    return Form("no_softmax", {"normalise": weighed(rule)}, shows=shows, sentence=sentence, fix=fix)


def _over_their_sum(rule: Callable[[Tensor], Tensor], shows: str, sentence: str) -> Form:
    return _instead_of_softmax(lambda s: rule(s) / rule(s).sum(dim=-1, keepdim=True), shows, sentence)


def _bent_scores(rule: Callable[[Tensor], Tensor], shows: str, sentence: str = "", fix: str = "") -> Form:
    step = weighed(lambda s: torch.softmax(rule(s), dim=-1))
    return Form("extra_nonlinearity", {"normalise": step}, shows=shows, sentence=sentence, fix=fix)


def _sums(label: str, axes: tuple[int, ...], shows: str, sentence: str) -> tuple[Form, ...]:
    """Softmax by hand with the sum over the wrong axes, beside the maximum of another axis."""
    return tuple(
        Form(
            label,
            {"normalise": weighed(exponentials_over(axes, top))},
            shows=shows,
            sentence=sentence,
            fix="Sum over the last axis: `e / e.sum(dim=-1, keepdim=True)`.",
        )
        for top in (-1, -2)
        if (top,) != axes
    )


SOFTMAX = (
    Form("softmax_over_queries", {"normalise": weighed(lambda s: torch.softmax(s, dim=-2))}),
    Form("softmax_over_batch", {"normalise": weighed(lambda s: torch.softmax(s, dim=-3))}),
    Form("softmax_over_all", {"normalise": weighed(over_all)}),
    Form(
        "softmax_over_all",
        {"normalise": weighed(over_everything)},
        shows="softmax runs over the whole tensor, all samples together",
        sentence="Normalise each query's row by itself, not the whole tensor with all its samples.",
    ),
    *_sums(
        "softmax_over_queries",
        (-2,),
        "the exponentials are divided by the sums of their columns (dim=-2) instead of their rows",
        "Each query must get a distribution over the keys, and you divided by the sums of the columns.",
    ),
    *_sums(
        "softmax_over_all",
        (-2, -1),
        "the exponentials are divided by the sum of the whole score matrix instead of their row's",
        "Divide each query's row by its own sum, not by the sum of the whole matrix.",
    ),
    *_sums(
        "softmax_over_all",
        (-3, -2, -1),
        "the exponentials are divided by the sum of the whole tensor, all samples together",
        "Divide each query's row by its own sum, not by the sum of the whole tensor.",
    ),
    *_sums(
        "softmax_over_batch",
        (-3,),
        "the exponentials are divided by their sums over the batch (dim=0)",
        "Each query must get a distribution over the keys, and you divided by sums over the samples.",
    ),
    Form("no_softmax", {"normalise": weighed(lambda s: s)}),
    _instead_of_softmax(
        torch.sigmoid,
        "sigmoid stands where softmax belongs",
        "Sigmoid weighs each key by itself; the weights of a query must share one unit, and that is softmax.",
    ),
    _instead_of_softmax(
        torch.relu,
        "relu stands where softmax belongs",
        "Relu cuts each score by itself; the weights of a query must share one unit, and that is softmax.",
    ),
    _instead_of_softmax(
        torch.tanh,
        "tanh stands where softmax belongs",
        "Tanh bends each score by itself; the weights of a query must share one unit, and that is softmax.",
    ),
    *(
        _instead_of_softmax(
            rule,
            "the exponentials are never divided by their row sum",
            "You took the exponentials and stopped there; divided by the sum of their row they are weights.",
            "Divide each row by its sum, `weights = e / e.sum(dim=-1, keepdim=True)`, or call"
            " `torch.softmax`.",
        )
        for rule in (torch.exp, lambda s: torch.exp(s - s.amax(dim=-1, keepdim=True)))
    ),
    _instead_of_softmax(
        lambda s: torch.log_softmax(s, dim=-1),
        "the logarithm of softmax stands where softmax belongs, and nothing takes the exponential",
        "log_softmax gives the logarithms of the weights; the values must be mixed with the weights"
        " themselves.",
        "Write `torch.softmax(scores, dim=-1)`, or take `.exp()` of what you have.",
    ),
    _over_their_sum(
        lambda s: s,
        "scores are divided by their row sum without exponentials",
        "Scores can be negative, and so can their sum: only exponentials over their row sum are weights.",
    ),
    _over_their_sum(
        torch.sigmoid,
        "the weights are sigmoids divided by their row sum",
        "Your rows sum to one, but over sigmoids of the scores; attention takes exponentials.",
    ),
    _over_their_sum(
        torch.relu,
        "the weights are the positive parts of the scores divided by their row sum",
        "Your rows sum to one, but over relu of the scores; attention takes exponentials.",
    ),
    _instead_of_softmax(
        lambda s: torch.relu(s) / (torch.relu(s).sum(dim=-1, keepdim=True) + 1e-6),
        "the weights are the positive parts of the scores divided by their row sum",
        "Your rows sum to one, but over relu of the scores; attention takes exponentials.",
    ),
    _over_their_sum(
        F.softplus,
        "the weights are softplus of the scores divided by their row sum",
        "Your rows sum to one, but over softplus of the scores; attention takes exponentials.",
    ),
    _over_their_sum(
        lambda s: F.elu(s) + 1,
        "the weights are elu of the scores plus one, divided by their row sum",
        "Your rows sum to one, but over elu of the scores plus one; attention takes exponentials.",
    ),
    _over_their_sum(
        torch.square,
        "the weights are the squares of the scores divided by their row sum",
        "Your rows sum to one, but over squares of the scores; attention takes exponentials.",
    ),
    _over_their_sum(
        torch.abs,
        "the weights are the absolute values of the scores divided by their row sum",
        "Your rows sum to one, but over absolute values of the scores; attention takes exponentials.",
    ),
    *(
        _instead_of_softmax(
            lambda s, base=base: torch.softmax(s * math.log(base), dim=-1),  # type: ignore[misc]
            f"the weights are powers of {base} instead of powers of e, divided by their row sum",
            f"Softmax takes powers of e, and you took powers of {base}, which makes every row {shape}.",
            f"Take `torch.exp(scores)` in place of the power of {base}, or call `torch.softmax(scores,"
            " dim=-1)`.",
        )
        for base, shape in ((2, "flatter"), (10, "sharper"))
    ),
    _bent_scores(
        lambda s: torch.softmax(s, dim=-1),
        "softmax is applied twice",
        "Softmax of a softmax is nearly uniform, whatever the scores say; it belongs there once.",
        "Keep one softmax: what the other gives are weights already.",
    ),
    _bent_scores(torch.relu, "relu is applied to the scores before softmax"),
    _bent_scores(torch.tanh, "tanh is applied to the scores before softmax"),
    _bent_scores(torch.sigmoid, "sigmoid is applied to the scores before softmax"),
    _bent_scores(
        torch.abs,
        "softmax sees the absolute values of the scores",
        "A score below zero means that query and key point apart; its absolute value says the opposite.",
        "Take out the absolute value: softmax takes the scores as they are.",
    ),
    _bent_scores(
        torch.neg,
        "softmax sees the scores with the opposite sign",
        "You turned the sign of the scores around, so each query looks at what fits it least.",
        "Take out the minus: softmax takes the scores as they are.",
    ),
)

SCORES = (
    Form("scores_use_value", {"scores": scored(lambda c: c.query @ c.value.mT)}),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.query @ c.query.mT)},
        shows="scores compare queries with queries, and the keys are never used",
        sentence="Your scores compare queries with queries; the keys are computed and then forgotten.",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.key @ c.key.mT)},
        shows="scores compare keys with keys, and the queries are never used",
        sentence="Your scores compare keys with keys; the queries are computed and then forgotten.",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.key @ c.value.mT)},
        shows="scores compare keys with values, and the queries are never used",
        sentence="Your scores compare keys with values; the queries are computed and then forgotten.",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.key.mT)},
        shows="scores compare values with keys, and the queries are never used",
        sentence="Your scores compare values with keys; the queries are computed and then forgotten.",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.value.mT)},
        shows="scores compare values with values; queries and keys are never used",
        sentence="Your scores compare values with values; queries and keys are computed and then forgotten.",
    ),
    Form(
        "scores_use_value",
        {"scores": scored(lambda c: c.value @ c.query.mT)},
        shows="scores compare values with queries, and the keys are never used",
        sentence="Your scores compare values with queries; the keys are computed and then forgotten.",
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
        sentence="Your map runs over the samples: each position attends to the same position of the"
        " others, and to no other token.",
    ),
    *(
        Form(
            "attends_across_batch",
            {"scores": scored(lambda c, keys=keys: c.query @ keys(c.key).mT)},  # type: ignore[misc]
            shows=f"the queries of every sample are compared with the keys {whose}",
            sentence="The samples of a batch must not see each other, and yours share their keys.",
        )
        for keys, whose in (
            (lambda key: key[:1], "of the first sample"),
            (lambda key: key.sum(dim=0, keepdim=True), "of all samples together"),
        )
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
        for q, k, v in sorted(
            itertools.product(("query", "key", "value"), repeat=3),
            key=lambda taken: -sum(map(eq, taken, ("query", "key", "value"))),  # the likely ones first
        )
        if len({q, k, v}) < 3
    ),
    *(
        Form(
            "shared_projection",
            {"project": with_bias_of(layer)},
            needs=frozenset({"fused"}),
            shows=f"the value gets the bias of the {layer}",
            sentence=f"The bias of the {layer} is added to the value, whose own is never used.",
            fix="Add to each part its own third of the bias, or apply the layer as a whole: `self.proj(x)`.",
        )
        for layer in ("query", "key")
    ),
    *(
        Form(
            "shared_projection",
            {"project": chained(role, source)},
            shows=f"the layer of the {role} is applied to the {source} instead of x",
            sentence=f"The {role} is made from the {source}, not from x: each of the three starts from"
            " the input.",
            fix=f"Give it the input: `self.{role}_proj(x)`.",
        )
        for role, source in (
            ("key", "query"),
            ("value", "key"),
            ("value", "query"),
            ("query", "query"),
            ("key", "key"),
            ("value", "value"),
        )
    ),
    Form(
        "shared_projection",
        {"project": in_a_chain},
        shows="the layer of the key is applied to the query, and that of the value to the key",
        sentence="The key is made from the query and the value from the key: each of the three starts from"
        " the input.",
        fix="Give each layer the input: `self.key_proj(x)`, `self.value_proj(x)`.",
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
            sentence="A layer was made and never applied: the raw input stands in its place.",
            fix="Apply it: "
            + ", ".join(
                f"`{role} = self.{role}_proj(x)`"
                for role, layer in (("query", q), ("key", k), ("value", v))
                if layer == "x"
            )
            + ".",
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
    *(
        Form(
            "split_wrong_dim",
            {"project": repacked(viewed(batch_first=batch_first))},
            entails=("view_instead_of_transpose",),
            needs=frozenset({"fused"}),
            shows=f"the packed projection is viewed as {shape}, which mixes {what} up",
            sentence="`view` and `reshape` re-read the same numbers in the same order: they cannot move"
            " the axis"
            f" of the three parts to the front, so {what} are mixed up.",
            fix="Cut the last axis: `query, key, value = packed.chunk(3, dim=-1)`.",
        )
        for batch_first, shape, what in (
            (True, "(batch, 3, seq_len, hidden_dim)", "positions"),
            (False, "(3, batch, seq_len, hidden_dim)", "samples"),
        )
    ),
    Form("split_wrong_dim", {"project": repacked(chunked(0))}, needs=frozenset({"fused"})),
    Form("split_wrong_dim", {"project": repacked(chunked(1))}, needs=frozenset({"fused"})),
    *(
        Form(
            "split_wrong_dim",
            {"project": repacked(sliced(key, value))},
            needs=frozenset({"fused"}),
            shows=f"{what} off by one feature",
            sentence="A slice of the packed projection begins one feature too early or too late, so two"
            " of query,"
            " key and value share a feature and another is lost.",
            fix="Cut at multiples of hidden_dim: `query, key, value = packed.chunk(3, dim=-1)`.",
        )
        for key, value, what in (
            (1, 0, "the slice of the key begins"),
            (-1, 0, "the slice of the key begins"),
            (0, -1, "the slice of the value begins"),
            (-1, -1, "the slices of key and value begin"),
        )
    ),
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
        sentence="The norm belongs to the transformer block around the attention; the task asks for"
        " the formula only.",
        fix="Project x as it comes, without the LayerNorm.",
    ),
    Form(
        "residual_or_norm_added",
        {"project": norm_qk},
        shows="query and key go through LayerNorm before they are compared",
        sentence="Normalising query and key is a later invention; the task asks for the formula only.",
        fix="Compare query and key as they are, without the LayerNorm.",
    ),
)

MIXED_OTHERWISE = (  # in one head and in several
    Form("weights_transposed", {"mix": lambda c: c.but(mixed=c.weights.mT @ c.value)}),
    Form("output_uses_keys", {"mix": lambda c: c.but(mixed=c.weights @ c.key)}),
    Form(
        "output_uses_keys",
        {"mix": lambda c: c.but(mixed=c.weights @ c.query)},
        shows="the weights mix the queries, and the values are never used",
        sentence="Queries ask where to look, values are what is read there; you read the queries.",
    ),
)

MIX = (
    Form(
        "mix_elementwise",
        {"mix": lambda c: c.but(mixed=c.weights.sum(dim=-2).unsqueeze(-1) * c.value)},
        shows="each value is multiplied by the sum of its column of the weights, and nothing is mixed",
    ),
    *MIXED_OTHERWISE,
    Form(
        "output_uses_keys",
        {"mix": lambda c: c.but(mixed=c.weights @ c.x)},
        shows="the weights mix the raw input, and the values are never used",
        sentence="Values are what is read, and you mixed the raw input instead.",
    ),
    Form("attention_result_discarded", {"output": lambda c: c.but(output=c.x)}),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.value)},
        shows="the values come out as they are, and no attention weight touches them",
        sentence="What comes out are the values as they are: the weights never mixed them.",
        fix="Mix before you return: `weights @ value`.",
    ),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.query)},
        shows="the queries come out as they are, and no attention weight touches them",
        sentence="What comes out are the queries as they are: no weight mixed any values.",
        fix="Mix before you return: `weights @ value`.",
    ),
    Form(
        "attention_result_discarded",
        {"mix": lambda c: c.but(mixed=c.x)},
        shows="the input passes by the attention",
        sentence="What comes out is the input: no weight mixed any values.",
        fix="Mix before you return: `weights @ value`.",
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
            sentence=f"The mixed values pass through the {role} layer once more, and the output layer is"
            " never"
            " called.",
            fix="Finish with the output layer: `return self.output_proj(weights @ value)`.",
        )
        for role in ("query", "key", "value")
    ),
    Form(
        "extra_output_proj",
        {"output": lambda c: c.but(output=c.layers["output"](c.mixed))},
        needs=frozenset({"output_layer", "no_output_step"}),
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: out + c.x)},
        shows="the input is added to the output",
        sentence="The residual belongs to the transformer block around the attention; the task asks for the"
        " formula only.",
        fix="Return the plain result, without adding x.",
    ),
    *(
        Form(
            "residual_or_norm_added",
            {"output": finished(lambda c, out, rule=rule: rule(c, out))},  # type: ignore[misc]
            shows=shows,
            sentence="Nothing is added to the mix and nothing taken from it; the task asks for the"
            " formula only.",
            fix=f"Return the plain result, without {what}.",
        )
        for rule, shows, what in (
            (lambda c, out: out + c.x - c.x.mean(-1, True), "the centred input is added to the output", "it"),
            (lambda c, out: out + c.x - c.x.mean(-2, True), "the centred input is added to the output", "it"),
            (lambda c, out: out + layer_norm(c.x), "the normalised input is added to the output", "it"),
            (lambda c, out: out - c.x, "the input is taken from the output", "subtracting it"),
            (lambda c, out: out + c.key, "the keys are added to the output", "them"),
        )
    ),
    Form(
        "output_proj_twice",
        {"output": lambda c: c.but(output=c.layers["output"](c.layers["output"](c.mixed)))},
        needs=frozenset({"output_step", "output_layer"}),
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: layer_norm(out + c.x))},
        shows="the input is added to the output and the sum goes through LayerNorm",
        sentence="The residual and the norm belong to the transformer block around the attention; the"
        " task asks for the formula only.",
        fix="Return the plain result, without adding x and without the LayerNorm.",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: layer_norm(out))},
        shows="the output goes through LayerNorm",
        sentence="The norm belongs to the transformer block around the attention; the task asks for"
        " the formula only.",
        fix="Return the plain result, without the LayerNorm.",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: c.x + layer_norm(out))},
        shows="the output goes through LayerNorm and the input is added",
        sentence="The residual and the norm belong to the transformer block around the attention; the"
        " task asks for the formula only.",
        fix="Return the plain result, without adding x and without the LayerNorm.",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: F.normalize(out, dim=-1))},
        shows="each output vector is normalised to length one",
        sentence="Nothing is normalised after the mix: the length of an output vector means something.",
        fix="Return the plain result, without the normalisation.",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: out + c.value)},
        shows="the values are added to the output",
        sentence="You added the values to the result; the task asks for the formula only.",
        fix="Return the plain result, without adding the values.",
    ),
    Form(
        "residual_or_norm_added",
        {"output": finished(lambda c, out: out + c.query)},
        shows="the queries are added to the output",
        sentence="You added the queries to the result; the task asks for the formula only.",
        fix="Return the plain result, without adding the queries.",
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
        sentence="The softmax belongs on the scores; on the output it has no place.",
        fix="Return the plain result, without the softmax.",
    ),
    Form("round_output", {"output": finished(rounded(4))}),
    Form("round_output", {"output": finished(rounded(3))}),
    Form("round_output", {"output": finished(rounded(2))}),
    Form("returns_weights", {"output": lambda c: c.but(output=c.weights)}),
    Form(
        "returns_weights",
        {"output": lambda c: c.but(output=c.scores)},
        shows="the scores are returned instead of the mixed values",
        sentence="You stopped two steps early: the scores are no weights yet, and nothing is mixed.",
        fix="Go on to the end: `weights = torch.softmax(scores, dim=-1)`, then `return weights @ value`.",
    ),
)

CAUSAL_WITHOUT_MASK_STEP = (
    Form(
        "causal_by_default",
        {"normalise": weighed(lambda s: torch.softmax(s + torch.full_like(s, -1e9).triu(1), -1))},
    ),
)


def _converted(what: str, step: str, rule: Callable[[Context, torch.dtype], Context]) -> tuple[Form, ...]:
    return tuple(
        Form(
            "wrong_dtype",
            {step: lambda c, dtype=dtype: rule(c, dtype)},  # type: ignore[misc]
            shows=f"{what} in {str(dtype).removeprefix('torch.')}",
            sentence=f"{what.capitalize()} in half precision, which leaves two or three digits of the"
            " result.",
            fix="Take the conversion out: every tensor has the dtype of x.",
        )
        for dtype in (torch.bfloat16, torch.float16)
    )


CONVERTED = (
    *_converted(
        "the values are mixed",
        "mix",
        lambda c, to: c.but(mixed=(c.weights.to(to) @ c.value.to(to)).to(c.x.dtype)),
    ),
    *_converted(
        "the scores are computed",
        "scores",
        lambda c, to: c.but(scores=(c.query.to(to) @ c.key.mT.to(to)).to(c.x.dtype)),
    ),
    *_converted(
        "the weights are kept",
        "normalise",
        lambda c, to: c.but(weights=torch.softmax(c.scores, dim=-1).to(to).to(c.x.dtype)),
    ),
    *_converted(
        "softmax is taken",
        "normalise",
        lambda c, to: c.but(weights=torch.softmax(c.scores.to(to), dim=-1).to(c.x.dtype)),
    ),
)

VALUES = (*SCALE, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT, *CONVERTED)

MASKED_VALUES = (*SCALE, *MASK, *DROPOUT, *SCORES, *PROJECTIONS, *SOFTMAX, *MIX, *OUTPUT, *CONVERTED)

__all__ = ["CAUSAL_WITHOUT_MASK_STEP", "MASKED_VALUES", "NEUTRAL", "TRAINING", "VALUES"]
