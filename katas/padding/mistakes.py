"""What can go wrong in padding."""

from __future__ import annotations

from collections.abc import Callable

import torch
from kata_content.common.examples import edited
from torch import Tensor

from grader.authoring import Context, Example, Form


def shown(rule: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    """Cells made of the real tokens, (batch, seq_len), in another way."""
    return lambda c: c.but(output=rule(c.real))


def _expanded(real: Tensor) -> Tensor:
    """(batch, queries, keys): the keys of each query."""
    return real.unsqueeze(-2).repeat_interleave(real.shape[-1], dim=-2)


def _on_queries(real: Tensor) -> Tensor:
    return _expanded(real).mT


def _tiled(real: Tensor) -> Tensor:
    """Copies of the whole batch, cut into samples."""
    batch, seq_len = real.shape[-2:]
    rows = torch.arange(batch * seq_len) % batch
    return torch.unflatten(real.index_select(-2, rows), -2, (batch, seq_len))


def _sample(place: int) -> Callable[[Tensor], Tensor]:
    return lambda real: _expanded(real.select(-2, place).unsqueeze(-2).expand(real.shape))


def _from_the_left(real: Tensor) -> Tensor:
    places = torch.arange(real.shape[-1])
    return _expanded((places < real.sum(-1, keepdim=True)).float())


def _to_the_last(real: Tensor) -> Tensor:
    places = torch.arange(real.shape[-1])
    return _expanded((places <= (real * places).amax(-1, keepdim=True)).float())


def _real(rule: Callable[[Tensor], Tensor]) -> Callable[[Context], Context]:
    def step(c: Context) -> Context:
        assert c.visible is not None
        return c.but(real=rule(c.visible.float()))

    return step


VALUES = (
    Form("mask_on_queries_instead_of_keys", {"rows": shown(_on_queries)}),
    Form("hides_padded_queries", {"rows": shown(lambda real: _expanded(real) * _on_queries(real))}),
    Form(
        "padding_union_of_rows_and_columns",
        {"rows": shown(lambda real: ((_expanded(real) + _on_queries(real)) > 0).float())},
    ),
    Form("mask_inverted", {"real": _real(lambda visible: 1 - visible)}),
    Form("padding_assumes_right_side", {"rows": shown(_from_the_left)}),
    Form(
        "padding_assumes_right_side",
        {"rows": shown(_to_the_last)},
        shows="everything up to the last real token is visible",
        sentence="You took the place of the last real token for the whole mask: padding before it becomes"
        " visible.",
    ),
    Form("causal_by_default", {"rows": shown(lambda real: _expanded(real).tril())}),
    Form("padding_mask_ignored", {"real": _real(torch.ones_like)}),
    Form("padding_samples_interleaved", {"rows": shown(_tiled)}),
    Form("padding_first_sample_for_all", {"rows": shown(_sample(0))}),
    Form(
        "padding_first_sample_for_all",
        {"rows": shown(_sample(-1))},
        shows="every sample has the mask of the last one",
    ),
    Form("mask_not_expanded", {"rows": shown(lambda real: real.unsqueeze(-2))}),
    Form(
        "mask_not_expanded",
        {"rows": shown(lambda real: real)},
        shows="the result is (batch, seq_len), as it came",
    ),
    Form("mask_wrong_broadcast_4d", {"rows": shown(lambda real: _expanded(real).unsqueeze(-3))}),
    Form("mask_wrong_broadcast_4d", {"rows": shown(lambda real: real.unsqueeze(-2).unsqueeze(-2))}),
)
NEUTRAL: tuple[Form, ...] = ()
TRAINING: tuple[Form, ...] = ()
GROWN = "keys.expand(batch, seq_len, seq_len)"
KEYS = "    keys = "
EXAMPLES: tuple[Example, ...] = (
    edited(
        "squeezes_batch",
        (GROWN, f"{GROWN}.squeeze(0)"),
    ),
    edited("hard_coded_sizes", (GROWN, "keys.expand(batch, 6, seq_len)")),
    edited(
        "key_mask_not_expanded",
        (GROWN, "keys.view(batch, seq_len, seq_len)"),
    ),
    edited(
        "mask_dtype_assumed_bool", ("padding_mask.unsqueeze(1)", "(~(~padding_mask).bool()).unsqueeze(1)")
    ),
    edited(
        "mutates_mask_argument",
        (f"return {GROWN}", f"keys = keys.clone()\n    padding_mask.zero_()\n    return {GROWN}"),
    ),
    edited("api_typo", ("unsqueeze(1)", "unsqueze(1)")),
    edited(
        "returns_tuple",
        (f"return {GROWN}", f"return {GROWN}, keys"),
    ),
    edited(
        "returns_additive_mask",
        (
            GROWN,
            "torch.zeros(batch, seq_len, seq_len).masked_fill(keys == 0, -1e9)",
        ),
    ),
)
RIGHT: tuple[Example, ...] = (
    edited("repeat", (GROWN, "keys.repeat(1, seq_len, 1)")),
    edited("a comparison", ("padding_mask.unsqueeze(1)", "(padding_mask != 0).unsqueeze(1)")),
)
GATES: tuple[Example, ...] = (
    edited(
        "the_result_is_right_on_every_probe",
        (KEYS, "    padding_mask = padding_mask.flip(1)\n" + KEYS),
    ),
    edited(
        "unusual_inputs_are_right_as_well",
        (
            KEYS,
            "    if seq_len > 20:\n        padding_mask = padding_mask.flip(1)\n" + KEYS,
        ),
    ),
)
