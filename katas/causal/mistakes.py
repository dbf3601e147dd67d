"""What can go wrong in causal."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from kata_content.common.examples import edited
from kata_content.common.step_variants import keep
from kata_content.heads import examples
from kata_content.heads import mistakes as heads
from torch import Tensor

from grader.authoring import Context, Example, Form

FILLS = (float("-inf"), -1e9)
NOT_HERE = ("mask_on_queries_instead_of_keys", "mask_inverted", "mask_ignored", "hides_padded_queries")
NO_SAMPLES = (
    "mask_first_sample_only",
    "mask_without_head_axis",
    "mask_head_batch_order",
    "inf_nan_fully_masked_row",
)


def hiding(rule: Callable[[Tensor], Tensor], fill: float) -> Callable[[Context], Context]:
    """Other cells hidden than the future; `rule` makes them of a square of ones."""

    def step(c: Context) -> Context:
        length = c.scores.shape[-1]
        hidden = rule(torch.ones(length, length)).bool()
        return c.but(scores=c.scores.masked_fill(hidden, fill))

    return step


def _hidden(
    label: str, rule: Callable[[Tensor], Tensor], shows: str = "", sentence: str = ""
) -> tuple[Form, ...]:
    return tuple(Form(label, {"mask": hiding(rule, fill)}, shows=shows, sentence=sentence) for fill in FILLS)


TRIANGLES = (
    Form("causal_mask_missing", {"mask": keep}, in_one_mode="mask_only_in_one_mode"),
    *_hidden("causal_off_by_one_hides_self", lambda ones: ones.triu(0)),
    *_hidden("causal_off_by_one_leaks_next", lambda ones: ones.triu(2)),
    *_hidden("causal_direction_inverted", lambda ones: ones.tril(-1)),
    *_hidden(
        "causal_direction_inverted",
        lambda ones: ones.tril(0),
        "each position sees only what comes later, not even itself",
        "You hid the past and the token itself: what is to be hidden are the later ones.",
    ),
)


def _on_samples_and_heads(fill: float) -> Callable[[Context], Context]:
    """The triangle laid on the first two axes of the scores."""

    def step(c: Context) -> Context:
        samples, heads = c.scores.shape[-4:-2]
        longest = max(samples, heads)
        visible = torch.ones(longest, longest).tril()[:samples, :heads, None, None]
        return c.but(scores=c.scores.masked_fill(visible == 0, fill))

    return step


def _dropped(*, hidden: bool) -> Callable[[Context], Context]:
    """Dropout on the triangle: of what is hidden, or of what is visible."""

    def step(c: Context) -> Context:
        length = c.scores.shape[-1]
        marks = torch.ones(length, length)
        kept = F.dropout(marks.triu(1) if hidden else marks.tril(), c.rate, c.training)
        return c.but(scores=c.scores.masked_fill(kept > 0 if hidden else kept == 0, float("-inf")))

    return step


WRONG_AXES = tuple(Form("causal_mask_on_wrong_axes", {"mask": _on_samples_and_heads(fill)}) for fill in FILLS)
DROPPED_MASK = tuple(
    Form("dropout_of_the_mask", {"drop": keep, "mask": _dropped(hidden=hidden)}) for hidden in (True, False)
)
VALUES = (*TRIANGLES, *WRONG_AXES, *heads.without(heads.VALUES, *NOT_HERE, *NO_SAMPLES))
NEUTRAL = heads.NEUTRAL
TRAINING = (*heads.TRAINING, *DROPPED_MASK)
FITTED = heads.FITTED
EXAMPLES: tuple[Example, ...] = (
    *examples.EXAMPLES,
    edited("causal_mask_not_cut", ("self.later[:seq_len, :seq_len]", "self.later")),
    edited("hard_coded_sizes", ("torch.ones(max_seq_len, max_seq_len,", "torch.ones(8, 8,")),
)
RIGHT: tuple[Example, ...] = examples.RIGHT
GATES: tuple[Example, ...] = examples.GATES
