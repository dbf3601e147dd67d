"""From a label, or where it has no line of its own from its concept, to the line to show."""

from __future__ import annotations

from collections.abc import Callable

from grader.judge import finders
from grader.judge.blame import Blame
from grader.judge.calls import DROPS


def line_of(blame: Blame, label: str, concept: str) -> int | None:
    """The line to show for a mistake."""
    special = _SPECIAL.get(label) if label else _UNNAMED.get(concept)
    found = special(blame) if special else None
    if found is None:
        found = _OF_CONCEPT.get(concept, Blame.last)(blame)
    return found


def line_for(blame: Blame, label: str | None, concept: str, raised_at: int | None) -> int | None:
    """The line to show for a failed check: where it raised, unless the mistake stands elsewhere."""
    if label in _STANDS_ELSEWHERE:
        return _SPECIAL[label](blame) or raised_at
    return raised_at if raised_at is not None else line_of(blame, label or "", concept)


_OF_CONCEPT: dict[str, Callable[[Blame], int | None]] = {
    "projections": Blame.projections,
    "scores": Blame.scores,
    "scale": Blame.scale,
    "mask": Blame.mask,
    "softmax": Blame.softmax,
    "dropout": Blame.dropout,
    "mix": Blame.mix,
    "output": Blame.last,
    "gradients": Blame.cut,
    "end_to_end": finders.foreign,  # a gate has no step of its own
}

# Where a check failed and no label is known.
_UNNAMED: dict[str, Callable[[Blame], int | None]] = {
    "dropout": finders.measured_dropout,
    "interface": finders.entrance,
    "mask": finders.shape_of_the_mask,
}

_SPECIAL: dict[str, Callable[[Blame], int | None]] = {
    "scale_after_softmax": Blame.after_softmax,
    "extra_output_proj": Blame.last_linear,
    "residual_or_norm_added": lambda blame: (
        blame.call_line(frozenset({"layer_norm", "rms_norm", "normalize"})) or blame.last()
    ),
    "extra_nonlinearity": finders.nonlinearity,
    "no_softmax": Blame.no_softmax,
    "scale_by_seq_len": Blame.size,
    "output_proj_twice": Blame.last_linear,
    "dropout_twice": Blame.last_dropout,
    "dropout_on_output": Blame.last_dropout,
    "dropout_unasked": Blame.drops,
    "mask_fill_zero": lambda blame: blame.call_line(frozenset({"nan_to_num", "nan_to_num_"})) or blame.mask(),
    "mask_not_optional": Blame.signature,
    "returns_tuple": finders.returned_pair,
    "wrong_dtype": lambda blame: (
        blame.source.find_in_forward(r"\.(double|half|bfloat16)\(|\.to\(torch\.|dtype=|float64")
        or blame.last()
    ),
    "attention_result_discarded": finders.returned,
    "returns_weights": finders.returned,
    "round_output": Blame.cut,
    "not_single_projection": finders.separate_layers,
    "projection_unused": Blame.raw_input,
    "shared_projection": Blame.shared,
    "output_uses_keys": finders.part_mixed,
    "qkv_order_wrong": finders.unpacking,
    "view_instead_of_transpose": finders.reshaped,
    "inplace_breaks_backward": lambda blame: (
        blame.source.find(r"Dropout\(.{0,80}inplace") or blame.in_place()
    ),
    "attends_over_features": Blame.scores,
    "mutates_input": lambda blame: blame.changed_argument(0),
    "mutates_mask_argument": lambda blame: blame.changed_argument(1),
    "returns_none_without_mask": lambda blame: blame.source.last_return(),
    "forward_missing": lambda blame: blame.source.definition_like("forward"),
    "init_misnamed": lambda blame: blame.source.definition_like("__init__"),
    "hard_coded_sizes": lambda blame: blame.source.written_size(),
    "dropout_rate_ignored": Blame.dropout_layer,
    "dropout_prob_inverted": Blame.dropout_layer,
    "mask_after_softmax_no_renorm": Blame.mask,
    "causal_by_default": lambda blame: (
        blame.call_line(frozenset({"tril", "triu"})) or blame.source.find(r"tril|triu")
    ),
    "missing_dropout": lambda blame: (
        blame.call_line(DROPS)
        or next((e.line for e in blame.trained if e.call in DROPS), None)
        or blame.softmax()
    ),
    "output_proj_before_mix": lambda blame: (
        blame.source.find_in_forward(r"@\s{0,9}self\.\w{1,40}\(|\(\s{0,9}v\w{0,9}\s{0,9}\)")
        or blame.last_linear()
    ),
    "mix_elementwise": Blame.last,
    "qk_swapped": finders.turned_before_softmax,
    "weights_transposed": finders.turned_after_softmax,
    "attends_across_batch": finders.batch_lost,
    "no_output_proj": finders.return_without_output_layer,
    "mask_only_in_one_mode": finders.condition_on_the_mode,
    "mask_inverted": finders.sense_of_the_mask,
    "mask_on_queries_instead_of_keys": finders.shape_of_the_mask,
    "hides_padded_queries": finders.shape_of_the_mask,
    "mask_wrong_broadcast_4d": finders.shape_of_the_mask,
    "dropout_renormalised": finders.rescaled_after_dropout,
    "dropout_not_elementwise": lambda blame: (
        blame.source.find_in_forward(r"\brand\w{0,20}\(|bernoulli|[Dd]ropout\dd?\(") or blame.dropout_layer()
    ),
}

# Mistakes that raise, or show, at another line than the one they stand on.
_STANDS_ELSEWHERE = frozenset(
    {
        "dropout_prob_inverted",
        "dropout_rate_ignored",
        "forward_missing",
        "hard_coded_sizes",
        "init_misnamed",
        "inplace_breaks_backward",
        "mutates_input",
        "mutates_mask_argument",
        "returns_none_without_mask",
        "returns_tuple",
        "wrong_dtype",
        "attends_over_features",
        "dropout_on_output",
        "dropout_twice",
    }
)
