"""The known wrong ways of masking and of dropout, and the other right ways to mask."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from kata_content.common.fitted import weak_fill
from kata_content.common.step_variants import (
    added,
    causal_always,
    causal_without_mask,
    dropped,
    filled,
    finished,
    first_key_column,
    first_sample,
    first_sample_of_expanded,
    four_dimensional,
    hidden_where,
    keep,
    masked_weights,
    not_rescaled,
    on_embeddings,
    renormalised,
    unscaled_when_masked,
)
from torch import Tensor

from grader.authoring import Context, Form

SMALL_FILLS = (-1e-9, -1e-4, 1e-9)
WEAK_FILLS = (-1e-2, -0.1, -1.0, -2.0, -5.0, -9.0, -10.0, -20.0, -50.0, -100.0)

MASK = (
    Form("mask_ignored", {"mask": keep}, in_one_mode="mask_only_in_one_mode"),
    Form("mask_inverted", {"mask": hidden_where(lambda visible: visible)}),
    Form("mask_inverted", {"mask": hidden_where(lambda visible: visible, -1e9)}),
    Form("mask_inverted", {"mask": added(lambda m: m * -1e9)}),
    Form("mask_inverted", {"mask": added(lambda m: m * -1e4)}),
    Form("mask_fill_zero", {"mask": filled(0.0)}),
    *(Form("mask_fill_small", {"mask": filled(fill)}) for fill in SMALL_FILLS),
    *(
        Form("mask_fill_small", {"mask": added(lambda m, fill=fill: (1 - m) * fill)})  # type: ignore[misc]
        for fill in (*SMALL_FILLS, -10000 * 1e-9)
    ),
    *(weak_fill({"mask": filled(fill)}, fill) for fill in WEAK_FILLS),
    *(
        weak_fill({"mask": added(lambda m, fill=fill: (1 - m) * fill)}, fill, added=True)  # type: ignore[misc]
        for fill in WEAK_FILLS
        if fill != -1.0  # to softmax the same as adding the mask's zeros and ones
    ),
    Form("mask_fill_wrong_sign", {"mask": filled(1e9)}),
    Form("mask_fill_wrong_sign", {"mask": filled(float("inf"))}),
    Form("mask_fill_wrong_sign", {"mask": added(lambda m: (1 - m) * 1e9)}),
    Form(
        "inf_nan_fully_masked_row",
        {"mask": hidden_where(lambda visible: ~visible.all(dim=-1, keepdim=True).expand(visible.shape))},
        shows="one hidden key hides its whole row, and a row of nothing but -inf becomes NaN",
        sentence="One hidden key hides the whole row, and softmax of a row that is all -inf is NaN.",
        fix="Hide only the keys that the mask names: `attention_mask == 0`, as it comes.",
    ),
    Form("mask_added_as_bool", {"mask": added(lambda m: m)}),
    Form(
        "mask_added_as_bool",
        {"mask": added(lambda m: 1 - m)},
        shows="one minus the mask is added to the scores, which favours the hidden keys a little",
        sentence="Adding one minus the mask raises the hidden scores by one; it hides nothing.",
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
        sentence="You took one column of the mask for all keys, so a query sees everything or nothing.",
        fix="Let the mask broadcast as it is: its last axis runs over the keys.",
    ),
    Form(
        "mask_on_queries_instead_of_keys",
        {
            "mask": lambda c: (
                c if c.mask is None else c.but(scores=c.scores.masked_fill(c.mask[..., :1] == 0, -1e9))
            )
        },
        shows="only the first column of the mask is used, so whole query rows are hidden or shown",
        sentence="You took one column of the mask for all keys, so a query sees everything or nothing.",
        fix="Let the mask broadcast as it is: its last axis runs over the keys.",
    ),
    Form("inf_nan_fully_masked_row", {"mask": hidden_where(torch.ones_like)}),
    Form(
        "inf_nan_fully_masked_row",
        {"mask": hidden_where(lambda visible: ~(visible & visible.mT))},
        entails=("hides_padded_queries",),
        shows="the mask hides padded queries as well, and a row of nothing but -inf becomes NaN",
        sentence="You hid the rows of padded queries as well, and softmax of a row that is all -inf is NaN.",
        fix="Hide only the keys that the mask names: `attention_mask == 0`, as it comes.",
    ),
    Form("mask_first_sample_only", {"mask": first_sample(float("-inf"))}),
    Form("mask_first_sample_only", {"mask": first_sample(-1e9)}),
    *(
        Form("mask_first_sample_only", {"mask": first_sample_of_expanded(fill)})
        for fill in (float("-inf"), -1e9)
    ),
    Form("hides_padded_queries", {"mask": hidden_where(lambda visible: ~(visible & visible.mT), -1e9)}),
    Form("mask_branch_drops_scale", {"mask": unscaled_when_masked}),
    Form("mask_wrong_broadcast_4d", {"mask": four_dimensional}),
    Form("causal_by_default", {"mask": causal_without_mask}),
    Form(
        "causal_by_default",
        {"mask": causal_always},
        shows="later tokens are always hidden, whatever the mask says",
        sentence="Nobody asked for a causal mask: what is hidden is for the mask to say.",
    ),
    Form("mask_after_softmax_no_renorm", {"mask": keep, "normalise": masked_weights(0.0)}),
    Form(
        "mask_after_softmax_no_renorm",
        {"mask": keep, "normalise": masked_weights(float("-inf"))},
        shows="hidden weights are set to -inf after softmax",
        sentence="-inf hides a score, before softmax; as a weight it makes the output infinite or NaN.",
        fix="Mask the scores before softmax.",
    ),
    Form(
        "mask_after_softmax_no_renorm",
        {"mask": keep, "normalise": masked_weights(-1e9)},
        shows="hidden weights are set to -1e9 after softmax",
        sentence="-1e9 hides a score, before softmax; as a weight it takes a billion times the hidden"
        " value away.",
        fix="Mask the scores before softmax.",
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

DROPOUT = (
    Form(
        "dropout_no_rescale",
        {"drop": lambda c: c.but(weights=c.weights * (1 - c.rate))},
        shows="the weights are multiplied by 1 - dropout_rate in eval mode",
        sentence="You shrink the weights in eval mode, as dropout did in 2014; today what is kept grows"
        " in training.",
        fix="Use `nn.Dropout`, which leaves the weights alone in eval mode.",
    ),
)


def _dropped(c: Context, weights: Tensor) -> Tensor:
    return F.dropout(weights, c.rate, c.training)


TRAINING = (
    Form("missing_dropout", {"drop": keep}),
    Form("dropout_twice", {"drop": dropped(lambda c: _dropped(c, _dropped(c, c.weights)))}),
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
    Form(
        "output_proj_before_mix",
        {
            "mix": lambda c: c.but(mixed=c.weights @ c.layers["output"](c.value)),
            "output": lambda c: c.but(output=c.mixed),
        },
        needs=frozenset({"output_step", "output_layer"}),
    ),
)
