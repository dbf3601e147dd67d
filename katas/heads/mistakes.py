"""The known wrong ways of attention with several heads. What one head knows as well is taken from there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from kata_content.common import mistakes as single
from kata_content.common.fitted import FILLS as FILLED
from kata_content.common.mistakes_masked import DROPOUT, MASK, NEUTRAL
from kata_content.common.mistakes_masked import TRAINING as ONE_HEAD_TRAINING
from kata_content.common.step_variants import (
    divided,
    exponentials_over,
    finished,
    keep,
    layer_norm,
    rounded,
    scored,
    weighed,
)
from kata_content.heads.step_variants import (
    copied_in_other_order,
    cut_positions,
    every_head,
    exchanged,
    head,
    joined,
    joined_as_it_lies,
    last_axes_exchanged,
    no_axis_for_heads,
    one_head,
    shared_weights,
    some_heads,
    uncut,
    unfolded_heads_first,
    unfolded_samples_first,
)
from kata_content.heads.steps import pass_on
from torch import Tensor

from grader.authoring import Context, Fitted, Form, Numbers


def without(forms: tuple[Form, ...], *labels: str) -> tuple[Form, ...]:
    """Those of one head that mean the same with several."""
    return tuple(form for form in forms if form.label not in labels)


def _scale(label: str, divisor: Callable[[Context], float], shows: str = "") -> Form:
    return Form(label, {"scale": divided(divisor)}, shows=shows)


SCALE = (
    _scale("scale_by_model_dim_in_mha", lambda c: math.sqrt(c.hidden_dim)),
    Form("no_scale", {"scale": keep}),
    _scale("scale_by_num_heads", lambda c: math.sqrt(c.num_heads)),
    _scale("scale_by_dk", lambda c: c.head_dim),
    _scale("double_scale", lambda c: math.sqrt(c.head_dim) ** 2),
    _scale(
        "scale_by_model_dim_in_mha",
        lambda c: c.hidden_dim,
        "the scores are divided by hidden_dim instead of √head_dim",
    ),
    _scale(
        "scale_by_num_heads",
        lambda c: c.num_heads,
        "the scores are divided by num_heads instead of √head_dim",
    ),
    _scale("scale_multiplied", lambda c: c.head_dim**-0.5),
    _scale(
        "scale_multiplied",
        lambda c: 1 / c.head_dim,
        "scores are multiplied by head_dim instead of divided by its root",
    ),
    _scale(
        "scale_multiplied",
        lambda c: c.hidden_dim**-0.5,
        "scores are multiplied by √hidden_dim instead of divided by √head_dim",
    ),
    _scale("scale_by_seq_len", lambda c: math.sqrt(c.scores.shape[-1])),
    _scale("scale_by_seq_len", lambda c: c.scores.shape[-1], "scores are divided by the number of keys"),
    _scale(
        "scale_wrong_value",
        lambda c: math.sqrt(3 * c.head_dim),
        "scores are divided by √(3·head_dim), the width of a packed head",
    ),
    _scale("scale_wrong_value", lambda c: math.sqrt(2 * c.head_dim), "scores are divided by √(2·head_dim)"),
    _scale(
        "scale_wrong_value",
        lambda c: c.head_dim**0.25,
        "scores are divided by head_dim^¼, so only one of query and key was scaled",
    ),
    *(
        Form(
            "scale_wrong_value",
            {"scale": divided(lambda c, number=number: number)},  # type: ignore[misc]
            entails=("hard_coded_sizes",),
            shows=f"scores are always divided by {number:.4g}{root}, whatever the width of a head is",
        )
        for number, root in ((8.0, " = √64"), (math.sqrt(768), " = √768"), (math.sqrt(512), " = √512"))
    ),
    Form("floor_division_scale", {"scale": lambda c: c.but(scores=c.scores // math.sqrt(c.head_dim))}),
    Form(
        "scale_after_softmax",
        {
            "scale": keep,
            "normalise": lambda c: c.but(weights=torch.softmax(c.scores, -1) / math.sqrt(c.head_dim)),
        },
    ),
)

IN_ONE = "cut by `view` alone, so its heads hold pieces of other positions"
FIX_CUT = "Cut it as the others: `.view(batch, length, num_heads, head_dim).transpose(1, 2)`."

HEADS = (
    Form("view_instead_of_transpose", {"split": cut_positions("query", "key", "value")}),
    Form(
        "view_instead_of_transpose",
        {"split": cut_positions("query", "key", "value"), "join": joined_as_it_lies},
        shows="heads are cut from the positions instead of the features, and joined in the same way",
    ),
    *(
        Form(
            "view_instead_of_transpose",
            {"split": cut_positions(*roles)},
            shows=f"the heads of {' and '.join(roles)} are cut from the positions instead of the features",
            sentence=f"The {' and '.join(roles)} {'are' if len(roles) > 1 else 'is'} {IN_ONE}.".replace(
                "its heads hold", "their heads hold" if len(roles) > 1 else "its heads hold"
            ),
            fix=FIX_CUT,
        )
        for roles in (
            ("query",),
            ("key",),
            ("value",),
            ("query", "key"),
            ("query", "value"),
            ("key", "value"),
        )
    ),
    Form("heads_merged_without_transpose", {"join": joined_as_it_lies}),
    Form("heads_merged_wrong_axes", {"join": joined(last_axes_exchanged)}),
    Form("heads_folded_in_other_order", {"join": joined(unfolded_heads_first)}),
    Form("heads_folded_in_other_order", {"join": joined(unfolded_samples_first)}),
    Form(
        "attends_over_heads",
        {"split": uncut, "mask": keep, "join": joined(lambda mixed: mixed.flatten(-2))},
    ),
    *(
        Form("attends_over_heads", {"split": uncut, "join": join, **more})
        for more in ({}, {"mask": keep})  # on a length other than the number of heads a mask crashes
        for join in (joined(lambda mixed: mixed.flatten(-2)), joined_as_it_lies)
    ),
    Form("heads_and_width_swapped", {"split": exchanged, "scale": divided(lambda c: math.sqrt(c.num_heads))}),
    Form("heads_and_width_swapped", {"split": exchanged}),
    Form("heads_summed", {"join": joined(every_head(lambda mixed: mixed.sum(-3, keepdim=True)))}),
    Form("heads_averaged", {"join": joined(every_head(lambda mixed: mixed.mean(-3, keepdim=True)))}),
    Form("only_last_head_kept", {"join": joined(every_head(lambda mixed: head(mixed, -1)))}),
    Form("only_last_head_kept", {"join": joined(every_head(lambda mixed: head(mixed, 0)))}),
    Form("only_last_head_kept", {"join": joined(one_head(-1))}),
    Form("only_last_head_kept", {"join": joined(one_head(0))}),
    Form("one_head_weights_for_all", {"mix": shared_weights(lambda weights: head(weights, 0))}),
    Form("one_head_weights_for_all", {"mix": shared_weights(lambda weights: head(weights, -1))}),
    Form(
        "one_head_weights_for_all",
        {"mix": shared_weights(lambda weights: weights.mean(-3, keepdim=True))},
        shows="all heads mix with the mean of their attention weights",
        sentence="Each head has weights of its own; you averaged them before the mix.",
    ),
    Form(
        "one_head_weights_for_all",
        {
            "scores": scored(
                lambda c: (
                    (c.query @ c.key.mT).sum(-3, keepdim=True).expand(*c.query.shape[:-1], c.key.shape[-2])
                )
            )
        },
        shows="the scores of all heads are added, so all heads use the same weights",
        sentence="Each head has scores of its own; you added them up before softmax.",
    ),
)

SCORES = (
    *without(single.SCORES, "attends_across_batch", "view_instead_of_transpose"),
    Form(
        "view_instead_of_transpose",
        {"scores": scored(lambda c: c.query @ c.key.reshape(c.key.mT.shape))},
        shows="the keys of each head are reshaped instead of transposed",
        sentence="`view` and `reshape` re-read the same numbers in the same order; they cannot swap two"
        " axes, so your keys are scrambled.",
        fix="Use `key.transpose(-2, -1)`.",
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
            (lambda key: key.sum(dim=-4, keepdim=True), "of all samples together"),
        )
    ),
)

PROJECTIONS = without(single.PROJECTIONS, "qkv_order_wrong", "qkv_interleaved")


def _over(label: str, axes: tuple[int, ...], shows: str) -> tuple[Form, ...]:
    """Softmax by hand over other axes than the keys."""
    return tuple(
        Form(label, {"normalise": weighed(exponentials_over(axes, top))}, shows=shows)
        for top in (-1, axes[0])
    )


def _whole(scores: Tensor, axes: int) -> Tensor:
    return torch.softmax(scores.flatten(-axes), dim=-1).reshape(scores.shape)


SOFTMAX = (
    *without(single.SOFTMAX, "softmax_over_batch", "softmax_over_all"),
    Form("softmax_over_heads", {"normalise": weighed(lambda s: torch.softmax(s, dim=-3))}),
    *_over(
        "softmax_over_heads",
        (-3,),
        "the exponentials are divided by their sums over the heads (dim=1) instead of the keys",
    ),
    Form("softmax_over_batch", {"normalise": weighed(lambda s: torch.softmax(s, dim=-4))}),
    *(
        Form(
            "softmax_over_all",
            {"normalise": weighed(lambda s, axes=axes: _whole(s, axes))},  # type: ignore[misc]
            shows=f"softmax runs over {what}",
            sentence=f"Normalise each query's row by itself, not {what}.",
        )
        for axes, what in (
            (2, "the whole score matrix of a head"),
            (3, "all heads of a sample together"),
            (4, "the whole tensor"),
        )
    ),
    *_over(
        "softmax_over_all", (-2, -1), "the exponentials are divided by the sum of a head's whole score matrix"
    ),
)

MIX = (
    *single.MIXED_OTHERWISE,
    *(
        Form(
            "attention_result_discarded",
            {"mix": lambda c, role=role: c.but(mixed=getattr(c, role))},  # type: ignore[misc]
            shows=f"the {what} come out as they are, and no attention weight touches them",
            sentence=f"What comes out are the {what} as they are: the weights never mixed them.",
            fix="Mix before you return: `weights @ value`.",
        )
        for role, what in (("value", "values"), ("query", "queries"))
    ),
    Form("attention_result_discarded", {"output": lambda c: c.but(output=c.x)}),
)

NOTHING_ADDED = (
    "The residual and the norm belong to the transformer block around the attention; the task asks for the"
    " formula only."
)

OUTPUT = (
    Form("no_output_proj", {"output": pass_on}, needs=frozenset({"output_step", "output_layer"})),
    Form(
        "output_proj_twice",
        {"output": lambda c: c.but(output=c.layers["output"](c.layers["output"](c.joined)))},
        needs=frozenset({"output_layer"}),
    ),
    *(
        Form(
            "residual_or_norm_added",
            {"output": finished(rule)},
            shows=shows,
            sentence=NOTHING_ADDED,
            fix=f"Return the plain result, without {what}.",
        )
        for rule, shows, what in (
            (lambda c, out: out + c.x, "the input is added to the output", "adding x"),
            (
                lambda c, out: layer_norm(out + c.x),
                "the input is added to the output and the sum goes through LayerNorm",
                "adding x and without the LayerNorm",
            ),
            (lambda c, out: layer_norm(out), "the output goes through LayerNorm", "the LayerNorm"),
            (
                lambda c, out: c.x + layer_norm(out),
                "the output goes through LayerNorm and the input is added",
                "adding x and without the LayerNorm",
            ),
            (
                lambda c, out: F.normalize(out, dim=-1),
                "each output vector is normalised to length one",
                "the normalisation",
            ),
        )
    ),
    *(
        Form(
            "extra_nonlinearity",
            {"output": finished(lambda c, out, function=function: function(out))},  # type: ignore[misc]
            shows=f"{function.__name__} is applied to the output",
        )
        for function in (torch.relu, torch.tanh, torch.sigmoid, F.gelu, F.silu)
    ),
    Form(
        "extra_nonlinearity",
        {"output": finished(lambda c, out: torch.softmax(out, dim=-1))},
        shows="softmax is applied to the output",
        sentence="The softmax belongs on the scores; on the output it has no place.",
        fix="Return the plain result, without the softmax.",
    ),
    *(Form("round_output", {"output": finished(rounded(decimals))}) for decimals in (4, 3, 2)),
)

FILLS = (float("-inf"), -1e9)

MASKS = (
    *without(
        MASK,
        "mask_branch_drops_scale",
        "mask_wrong_broadcast_4d",
        "mask_on_embeddings",
        "causal_by_default",
    ),
    *(Form("mask_without_head_axis", {"mask": no_axis_for_heads(fill)}) for fill in FILLS),
    *(
        Form("mask_head_batch_order", {"mask": copied_in_other_order(heads_outside=outside, fill=fill)})
        for outside in (True, False)
        for fill in FILLS
    ),
    *(
        Form("mask_on_one_head", {"mask": some_heads(chosen, fill)})
        for chosen in (slice(0, 1), slice(-1, None), slice(1, None))
        for fill in FILLS
    ),
)

TRAINING = without(ONE_HEAD_TRAINING, "output_proj_before_mix")

BESIDE_PROJECTIONS = (
    *SCALE,
    *MASKS,
    *DROPOUT,
    *HEADS,
    *SCORES,
    *SOFTMAX,
    *MIX,
    *OUTPUT,
    *single.CONVERTED,
)
VALUES = (*BESIDE_PROJECTIONS, *PROJECTIONS)


def divisor_form(numbers: Numbers, written: Sequence[int]) -> Form:
    """The scores are divided by these numbers instead of √head_dim."""
    widths = {width for width, _ in numbers}
    found = list(numbers.values())
    if len(widths) > 1 and max(found) <= min(found) * 1.01:
        fixed = {round(found[0]), round(found[0] ** 2)} & set(written)
        return Form(
            "scale_wrong_value",
            {},
            shows=f"scores are always divided by {found[0]:.4g}, whatever the width of a head is",
            entails=("hard_coded_sizes",) if fixed else (),
        )
    each = dict.fromkeys(
        f"{number:.4g} at head_dim {width}" for (width, _), number in sorted(numbers.items())
    )
    return Form("scale_wrong_value", {}, shows=f"scores are divided by {', '.join(each)}")


FITTED = (
    Fitted("scale", lambda c, number: c.but(scores=c.scores / number), divisor_form, ("d", "S")),
    *FILLED,
)

__all__ = ["BESIDE_PROJECTIONS", "FITTED", "NEUTRAL", "TRAINING", "VALUES"]
