"""What is known of the mistakes of self-attention besides their forms and words, one record each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kata_content.common import finders, lines
from kata_content.common.calls import DROPS, SCALINGS
from kata_content.common.crashes import name_of

from grader.authoring import Blame, Borrowing, Knowledge, Layout, Mistake, Sizes, TraceEntry

INFINITE = 1e308  # how the recorder writes an infinity
ATTENTION_CALLS = frozenset({"scaled_dot_product_attention"})


def _numbers(trace: Sequence[TraceEntry], calls: frozenset[str] = frozenset()) -> list[float]:
    """The numbers among the arguments of these calls, or of all."""
    return [
        number for entry in trace if entry.call in calls or not calls for number in entry.numbers.values()
    ]


def _scaled_twice(trace: Sequence[TraceEntry], _: Layout) -> int:
    scalings = sum(entry.call in SCALINGS for entry in trace)
    return 1 if {entry.call for entry in trace} & ATTENTION_CALLS or scalings > 1 else -1


def _a_small_fill(trace: Sequence[TraceEntry], _: Layout) -> int:
    return 1 if any(0 < abs(number) < 1e-3 for number in _numbers(trace)) else -1


def _infinite_factor(trace: Sequence[TraceEntry], _: Layout) -> int:
    return 1 if any(abs(number) >= INFINITE for number in _numbers(trace, SCALINGS)) else -1


def _a_large_number(trace: Sequence[TraceEntry], _: Layout) -> int:
    return int(any(number > 1e3 for number in _numbers(trace)))


def _minus_infinity(trace: Sequence[TraceEntry], _: Layout) -> int:
    return int(any(number <= -INFINITE for number in _numbers(trace)))


def _idle_layer(trace: Sequence[TraceEntry], layout: Layout) -> int:
    """Whether the layer of query, key or value is never called: its role was taken by another one."""
    used = {name for entry in trace for name in entry.parameters}
    weights = {slot.unit.weight.name for role, slot in layout.slots.items() if role != "output"}
    return 1 if used and not weights <= used else -1


def _by_the_width(sizes: Sizes) -> str:
    width = sizes["D"]
    return f"(here {width} instead of √{width} = {math.sqrt(width):.3g})"


def _root_missing(sizes: Sizes) -> str:
    width = sizes["D"]
    return f"(here √{width} = {math.sqrt(width):.3g} is missing)"


def _by_the_width_in_all(sizes: Sizes) -> str:
    width = sizes["D"]
    return f"(so by {width} in all instead of √{width} = {math.sqrt(width):.3g})"


MISTAKES = (
    Mistake("scale_after_softmax", line=lines.after_softmax),
    Mistake("extra_output_proj", line=lines.last_linear),
    Mistake(
        "residual_or_norm_added",
        line=lambda blame: (
            blame.call_line(frozenset({"layer_norm", "rms_norm", "normalize"})) or blame.last()
        ),
        hints=frozenset({"layer_norm", "rms_norm", "batch_norm", "normalize"}),
    ),
    Mistake(
        "extra_nonlinearity",
        line=finders.nonlinearity,
        hints=frozenset(
            {
                "clamp",
                "clamp_",
                "clip",
                "relu",
                "tanh",
                "sigmoid",
                "gelu",
                "silu",
                "elu",
                "leaky_relu",
                "softplus",
            }
        ),
    ),
    Mistake("no_softmax", line=lines.no_softmax),
    Mistake("scale_by_seq_len", line=lines.size),
    Mistake("output_proj_twice", line=lines.last_linear),
    Mistake("dropout_twice", line=lines.last_dropout, elsewhere=True),
    Mistake("dropout_on_output", line=lines.last_dropout, elsewhere=True),
    Mistake("dropout_unasked", line=lines.drops),
    Mistake(
        "mask_fill_zero",
        line=lambda blame: blame.call_line(frozenset({"nan_to_num", "nan_to_num_"})) or lines.mask(blame),
    ),
    Mistake("mask_not_optional", line=Blame.signature),
    Mistake("returns_tuple", line=finders.returned_pair, elsewhere=True),
    Mistake(
        "wrong_dtype",
        line=lambda blame: (
            blame.source.find_in_forward(r"\.(double|half|bfloat16)\(|\.to\(torch\.|dtype=|float64")
            or blame.last()
        ),
        elsewhere=True,
    ),
    Mistake("attention_result_discarded", line=finders.returned),
    Mistake("returns_weights", line=finders.returned),
    Mistake("round_output", line=Blame.cut, hints=frozenset({"round"})),
    Mistake("not_single_projection", line=finders.separate_layers),
    Mistake("projection_unused", line=lines.raw_input),
    Mistake("shared_projection", line=lines.shared, speaks=_idle_layer),
    Mistake("output_uses_keys", line=finders.part_mixed),
    Mistake("qkv_order_wrong", line=finders.unpacking, speaks=lambda *_: 1),
    Mistake("view_instead_of_transpose", line=finders.reshaped),
    Mistake(
        "inplace_breaks_backward",
        line=lambda blame: blame.source.find(r"Dropout\(.{0,80}inplace") or blame.in_place(),
        elsewhere=True,
    ),
    Mistake("attends_over_features", line=lines.scores, elsewhere=True),
    Mistake("mutates_input", line=lambda blame: blame.changed_argument(0), elsewhere=True),
    Mistake("mutates_mask_argument", line=lambda blame: blame.changed_argument(1), elsewhere=True),
    Mistake("returns_none_without_mask", line=lambda blame: blame.source.last_return(), elsewhere=True),
    Mistake("forward_missing", line=lambda blame: blame.source.definition_like("forward"), elsewhere=True),
    Mistake("init_misnamed", line=lambda blame: blame.source.definition_like("__init__"), elsewhere=True),
    Mistake(
        "hard_coded_sizes",
        line=lambda blame: blame.source.written_size(),
        elsewhere=True,
        covered_by=(
            "split_wrong_dim",
            "returns_weights",
            "mask_wrong_broadcast_4d",
        ),
    ),
    Mistake("dropout_rate_ignored", line=lines.dropout_layer, elsewhere=True),
    Mistake(
        "dropout_prob_inverted",
        line=lambda blame: lines.drawn_by_hand(blame) or lines.dropout_layer(blame),
        elsewhere=True,
    ),
    Mistake("mask_after_softmax_no_renorm", line=lines.mask),
    Mistake(
        "causal_by_default",
        line=lambda blame: blame.call_line(frozenset({"tril", "triu"})) or blame.source.find(r"tril|triu"),
    ),
    Mistake(
        "missing_dropout",
        line=lambda blame: (
            blame.call_line(DROPS)
            or next((e.line for e in blame.trained if e.call in DROPS), None)
            or lines.softmax(blame)
        ),
    ),
    Mistake(
        "output_proj_before_mix",
        line=lambda blame: (
            blame.source.find_in_forward(r"@\s{0,9}self\.\w{1,40}\(|\(\s{0,9}v\w{0,9}\s{0,9}\)")
            or lines.last_linear(blame)
        ),
    ),
    Mistake("mix_elementwise", line=finders.entry_by_entry),
    Mistake("inf_nan_fully_masked_row", line=finders.shape_of_the_mask, speaks=_minus_infinity),
    Mistake("qk_swapped", line=finders.turned_before_softmax),
    Mistake("weights_transposed", line=finders.turned_after_softmax),
    Mistake("attends_across_batch", line=finders.batch_lost),
    Mistake("no_output_proj", line=finders.return_without_output_layer),
    Mistake("mask_only_in_one_mode", line=finders.condition_on_the_mode),
    Mistake("mask_inverted", line=finders.sense_of_the_mask),
    Mistake("mask_on_queries_instead_of_keys", line=finders.shape_of_the_mask),
    Mistake("hides_padded_queries", line=finders.shape_of_the_mask),
    Mistake("mask_wrong_broadcast_4d", line=finders.shape_of_the_mask),
    Mistake("split_wrong_dim", line=finders.wrong_cut),
    Mistake(
        "dropout_no_rescale", line=lambda blame: finders.shrunk_in_eval(blame) or lines.drawn_by_hand(blame)
    ),
    Mistake(
        "dropout_renormalised",
        line=finders.rescaled_after_dropout,
        covered_by=("dropout_before_softmax",),  # whose softmax makes the rows sum to one
    ),
    Mistake("dropout_not_elementwise", line=finders.lines_dropped),
    Mistake(
        "gradient_detached",
        covered_by=(
            "round_output",
            "floor_division_scale",
        ),
    ),
    Mistake("dropout_before_softmax", covered_by=("additive_inf_times_zero",)),
    Mistake("split_size_confused", covered_by=("split_wrong_dim",)),
    Mistake("floor_division_scale", hints=frozenset({"floor_divide"})),
    Mistake("double_scale", speaks=_scaled_twice, adds=_by_the_width_in_all),
    Mistake("mask_fill_small", speaks=_a_small_fill),
    Mistake("additive_inf_times_zero", speaks=_infinite_factor),
    Mistake("mask_fill_wrong_sign", speaks=_a_large_number),
    Mistake("scale_by_dk", adds=_by_the_width),
    Mistake("no_scale", adds=_root_missing),
)

OF_CONCEPT: dict[str, Callable[[Blame], int | None]] = {
    "projections": lines.projections,
    "scores": lines.scores,
    "scale": lines.scale,
    "mask": lines.mask,
    "softmax": lines.softmax,
    "dropout": lines.dropout,
    "mix": lines.mix,
    "output": Blame.last,
    "gradients": Blame.cut,
    "end_to_end": finders.foreign,  # a gate has no step of its own
}

# Where a check failed and no label is known.
UNNAMED: dict[str, Callable[[Blame], int | None]] = {
    "dropout": finders.measured_dropout,
    "interface": finders.entrance,
    "mask": finders.shape_of_the_mask,
}

# What is wrong with a reading of dropout, and how it is called.
DROPOUT = {
    "none": "missing_dropout",
    "output": "dropout_on_output",
    "scores": "dropout_before_softmax",
    "renormalised": "dropout_renormalised",
    "lines": "dropout_not_elementwise",
    "not rescaled": "dropout_no_rescale",
    "inverted": "dropout_prob_inverted",
    "twice": "dropout_twice",
    "another rate": "dropout_rate_ignored",
}

KNOWN = Knowledge(
    mistakes=MISTAKES,
    crashes=(name_of,),
    of_concept=OF_CONCEPT,
    unnamed=UNNAMED,
    dropout=DROPOUT,
    # "Something more than the formula" can stand at any step; where it stands is what it costs.
    roaming={"mix": frozenset({"projections", "softmax"})},
    borrowing=Borrowing(
        concept="projections",
        sentence="Query, key and value do not have a layer each.",
        raw="projection_unused",
        shared="shared_projection",
    ),
)
