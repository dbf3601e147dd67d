"""The known wrong ways of masking and of dropout, and the other right ways to mask."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from kata_content.common.ways import (
    added,
    causal_always,
    causal_without_mask,
    dropped,
    filled,
    finished,
    first_key_column,
    four_dimensional,
    hidden_where,
    keep,
    masked_weights,
    not_rescaled,
    on_embeddings,
    renormalised,
    unscaled_when_masked,
)

from grader.authoring import Form

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

DROPOUT = (
    Form(
        "dropout_no_rescale",
        {"drop": lambda c: c.but(weights=c.weights * (1 - c.rate))},
        shows="the weights are multiplied by 1 - dropout_rate in eval mode",
    ),
)

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
