"""What can go wrong in window."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from kata_content.common import known, lines
from kata_content.common.examples import edited
from kata_content.common.mistakes_masked import MASK
from kata_content.common.step_variants import divided, finished, keep
from kata_content.heads import mistakes as heads
from kata_content.window.family import places, window_of
from torch import Tensor

from grader.authoring import Blame, Context, Example, Form, Mistake

Rule = Callable[
    [Tensor, Tensor, int], Tensor
]  # of queries' places, keys' places and the window: what is visible
FILLS = (float("-inf"), -1e9)


def seen(rule: Rule, fill: float = float("-inf")) -> Callable[[Context], Context]:
    """Other keys visible than the last `window`."""

    def step(c: Context) -> Context:
        i, j = places(c)
        return c.but(scores=c.scores.masked_fill(~rule(i, j, window_of(c)), fill))

    return step


def _or_nothing(c: Context) -> Context:
    """An empty slice of keys mixes to zeros."""
    return c.but(weights=torch.softmax(c.scores, dim=-1).nan_to_num(0.0))


def _seen(label: str, rule: Rule, shows: str = "", sentence: str = "", fix: str = "") -> tuple[Form, ...]:
    """The form in the three ways in which a row that sees nothing can come out."""
    hidden = ({"mask": seen(rule, fill)} for fill in FILLS)
    return tuple(
        Form(label, steps, shows=shows, sentence=sentence, fix=fix)
        for steps in (*hidden, {"mask": seen(rule), "normalise": _or_nothing})
    )


def _causal(rule: Rule) -> Rule:
    return lambda i, j, w: (j <= i) & rule(i, j, w)


WINDOWS = (
    *_seen("window_too_narrow", _causal(lambda i, j, w: j > i - w + 1)),
    *_seen("window_too_wide", _causal(lambda i, j, w: j >= i - w)),
    *_seen("window_two_sided", lambda i, j, w: (i - j).abs() < w),
    *_seen(
        "window_two_sided",
        lambda i, j, w: (i - j).abs() <= w,
        "a query sees window keys on both sides, and its own",
    ),
    *_seen(
        "window_two_sided",
        lambda i, j, w: (i - j).abs() <= w // 2,
        "the window is centred on the query: half of it lies ahead",
    ),
    *_seen(
        "window_two_sided",
        lambda i, j, w: ((i - j) <= w // 2) & ((j - i) < w - w // 2),
        "the window is centred on the query: half of it lies ahead",
    ),
    *_seen(
        "window_two_sided",
        lambda i, j, w: ((i - j) < w) & ((j - i) <= w),
        "a query sees the window behind it and another one ahead",
    ),
    Form("window_not_applied", {"mask": seen(lambda i, j, w: j <= i)}),
    Form("causal_mask_missing", {"mask": seen(lambda i, j, w: j > i - w)}),
    Form(
        "causal_mask_missing",
        {"mask": keep},
        entails=("window_not_applied",),
        shows="every query sees every key: nothing is hidden",
    ),
    *_seen(
        "causal_off_by_one_hides_self",
        lambda i, j, w: (j < i) & (j >= i - w),
        "a query sees the window keys before it, and not its own",
    ),
    *_seen(
        "causal_off_by_one_hides_self",
        lambda i, j, w: (j < i) & (j > i - w),
        "a query sees window - 1 keys before it, and not its own",
    ),
    *_seen("window_looks_ahead", lambda i, j, w: (j >= i) & (j < i + w)),
    *_seen(
        "window_looks_ahead",
        lambda i, j, w: (j <= i + 1) & (j > i - w),
        "a query sees the next key as well",
    ),
    *_seen(
        "window_looks_ahead",
        lambda i, j, w: (j <= i + 1) & (j > i + 1 - w),
        "the window lies one place too late, so a query sees the next key",
    ),
    *_seen(
        "window_looks_ahead",
        lambda i, j, w: (j >= i) & (j <= i + w),
        "a query sees its own key and the window keys after it",
    ),
    *_seen("window_doubled", _causal(lambda i, j, w: j > i - 2 * w)),
    *_seen(
        "window_doubled",
        _causal(lambda i, j, w: j >= i - 2 * w),
        "a query sees 2·window keys before its own",
    ),
    *_seen(
        "window_too_narrow",
        _causal(lambda i, j, w: j > i - max(1, w // 2)),
        "a query sees half as many keys as it should",
        "The window counts window keys, and yours half of them.",
    ),
    *_seen(
        "window_too_narrow",
        _causal(lambda i, j, w: j > i - w + 2),
        "a query sees window - 2 keys",
    ),
    *_seen("window_too_wide", _causal(lambda i, j, w: j >= i - w - 1), "a query sees window + 2 keys"),
    *_seen("window_dilated", _causal(lambda i, j, w: ((i - j) % 2 == 0) & (i - j < 2 * w))),
    *_seen(
        "window_dilated",
        _causal(lambda i, j, w: (i - j) % w == 0),
        "a query sees every window-th key before it",
    ),
    *_seen("window_fixed_at_start", _causal(lambda i, j, w: j < w)),
    *_seen("window_fixed_at_start", lambda i, j, w: (j < w) & (i >= 0)),
    *_seen("window_fixed_at_end", _causal(lambda i, j, w: j >= len(i) - w)),
    *_seen("window_fixed_at_end", lambda i, j, w: (j >= len(i) - w) & (i >= 0)),
    *_seen("window_blocks_isolated", _causal(lambda i, j, w: i // w == j // w)),
    *_seen(
        "window_blocks_isolated",
        lambda i, j, w: i // w == j // w,
        "the sequence is cut into blocks of window tokens that see all of themselves and nothing else",
    ),
    *_seen("window_chunk_unbanded", _causal(lambda i, j, w: i // w - j // w <= 1)),
    *_seen("window_chunk_unbanded", _causal(lambda i, j, w: j > i // w * w - w)),
    *_seen(
        "window_chunk_unbanded",
        lambda i, j, w: (i // w - j // w <= 1) & (i // w >= j // w),
        "every query of a chunk sees the whole chunk and the one before",
    ),
    *_seen("window_wraps_around", lambda i, j, w: (i - j) % len(i) < w),
    Form(
        "window_larger_than_sequence",
        {"mask": seen(lambda i, j, w: (j >= 0) & (i >= 0) if w >= len(i) else (j <= i) & (j > i - w))},
        shows="where the window holds the whole sequence, nothing is hidden at all",
        sentence="A window as long as the sequence is causal attention, and yours shows the future there.",
        fix="Let the same rule hold for every window: `(j <= i) & (j > i - window)`.",
    ),
    Form(
        "window_larger_than_sequence",
        {"mask": seen(lambda i, j, w: (j >= 0) & (i >= 0) if w > len(i) else (j <= i) & (j > i - w))},
        shows="where the window is longer than the sequence, nothing is hidden at all",
        sentence="A window longer than the sequence is causal attention, and yours shows the future there.",
        fix="Let the same rule hold for every window: `(j <= i) & (j > i - window)`.",
    ),
    *_seen(
        "causal_direction_inverted",
        lambda i, j, w: (j >= i) & (j < len(i) + w),
        "every query sees its own key and all later ones",
    ),
    *_seen("mask_inverted", lambda i, j, w: (j > i) | (j <= i - w)),
)


def duplicated(c: Context) -> Context:
    """Places before the start clamped to 0, so the first key counts for each of them."""
    i, j = places(c)
    times = (window_of(c) - 1 - i).clamp(min=0) + 1
    more = torch.where(j == 0, times.to(c.scores.dtype).log(), 0.0)
    hidden = (j > i) | (j <= i - window_of(c))
    return c.but(scores=(c.scores + more).masked_fill(hidden, float("-inf")))


def padded(c: Context) -> Context:
    """Zeros stand before the start and take part, with the score 0."""
    i, _ = places(c)
    missing = (window_of(c) - 1 - i).clamp(min=0).to(c.scores.dtype).log()
    padding = missing.expand(*c.scores.shape[:-1], 1)
    return c.but(weights=torch.softmax(torch.cat([c.scores, padding], -1), -1)[..., :-1])


def values_of_the_start(c: Context) -> Context:
    """The weights of a window always meet the first values."""
    i, j = places(c)
    first = (i - window_of(c) + 1).clamp(min=0)
    source = (j + first).clamp(max=len(i) - 1)
    moved = c.weights.gather(-1, source.expand(c.weights.shape))
    moved = moved.masked_fill(j + first > i, 0.0)
    return c.but(mixed=moved @ c.value)


CHUNKS = (
    Form("window_clamped_duplicates", {"mask": duplicated}),
    Form("window_padding_attended", {"normalise": padded}),
    Form(
        "window_values_not_shifted", {"mix": lambda c: c.but(mixed=c.value * c.weights.sum(-1, keepdim=True))}
    ),
    Form(
        "window_values_not_shifted",
        {"mix": values_of_the_start},
        shows="the weights of each window are laid on the first values of the sequence",
    ),
    Form(
        "window_values_not_shifted",
        {"mix": lambda c: c.but(mixed=c.weights @ c.value.roll(1, -2))},
        shows="the values stand one place later than their keys",
    ),
    Form(
        "window_values_not_shifted",
        {"mix": lambda c: c.but(mixed=c.weights @ c.value.roll(-1, -2))},
        shows="the values stand one place earlier than their keys",
    ),
)

HIDING = heads.without(
    MASK,
    "mask_ignored",
    "mask_inverted",
    "mask_branch_drops_scale",
    "mask_wrong_broadcast_4d",
    "mask_on_embeddings",
    "causal_by_default",
    "mask_first_sample_only",
    "hides_padded_queries",
    "inf_nan_fully_masked_row",
    "mask_on_queries_instead_of_keys",
)
SCALE = (
    *heads.SCALE,
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(window_of(c)))},
        shows="the scores are divided by √window",
        sentence="The window says how many keys a query sees; what makes dot products large is head_dim.",
    ),
)
OUTPUT = (
    *(
        Form(
            "residual_or_norm_added",
            {"output": finished(rule)},
            shows=shows,
            sentence="The task asks for the attention only; nothing is added to it.",
            fix="Return `weights @ value` as it is.",
        )
        for rule, shows in (
            (lambda c, out: out + c.query, "the query is added to the output"),
            (lambda c, out: out + c.value, "the value is added to the output"),
            (lambda c, out: F.layer_norm(out, out.shape[-1:]), "the output goes through LayerNorm"),
        )
    ),
    *(
        Form(
            "extra_nonlinearity",
            {"output": finished(lambda c, out, function=function: function(out))},  # type: ignore[misc]
            shows=f"{function.__name__} is applied to the output",
        )
        for function in (torch.relu, torch.tanh, F.gelu)
    ),
)
MIX = heads.without(heads.MIX, "attention_result_discarded")
VALUES = (*WINDOWS, *CHUNKS, *HIDING, *SCALE, *heads.SCORES, *heads.SOFTMAX, *MIX, *OUTPUT)
NEUTRAL = heads.NEUTRAL
TRAINING: tuple[Form, ...] = ()
FITTED = heads.FITTED


def bounds(blame: Blame) -> int | None:
    """Where the window is reckoned with, else where it hides."""
    return blame.source.find(
        r"\b(?:window|w|W|size)\b\s{0,3}[-+*/)]{1,2}[^:=]|[-+*<>=]\s{0,3}\(?(?:window|w|W)\b"
    ) or lines.mask(blame)


def future(blame: Blame) -> int | None:
    """Where the upper triangle is cut, else as above."""
    return blame.call_line(frozenset({"triu"})) or bounds(blame)


LINES = {
    **{form.label: bounds for form in (*WINDOWS, *CHUNKS) if form.label.startswith("window_")},
    **dict.fromkeys(("window_looks_ahead", "causal_off_by_one_hides_self"), future),
}
KNOWN = replace(
    known.KNOWN,
    mistakes=(
        Mistake("window_larger_than_sequence", line=bounds, covered_by=("window_wraps_around",)),
        Mistake(
            "hard_coded_sizes",
            line=lambda blame: blame.source.written_size(),
            elsewhere=True,
            covered_by=("window_larger_than_sequence",),
        ),
        *(Mistake(label, line=line) for label, line in LINES.items()),
        *known.KNOWN.mistakes,
    ),
    of_concept={**known.KNOWN.of_concept, "window": lines.mask},
)

HIDDEN = "hidden = (back < 0) | (back >= window)"
SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
SCALE_LINE = "scores = scores / math.sqrt(head_dim)"
RETURN = "return torch.cat(pieces, dim=2)"
FIRST = "    positions = torch.arange(seq_len,"
EXAMPLES: tuple[Example, ...] = (
    edited("api_typo", ("torch.softmax(", "torch.sofmax(")),
    edited("name_error_unbound_variable", ("weights @ values", "weights @ vals")),
    edited("wrong_dtype", (RETURN, f"{RETURN}.double()")),
    edited("gradient_detached", (SOFTMAX, "weights = torch.softmax(scores.detach(), dim=-1)")),
    edited("inplace_breaks_backward", (SOFTMAX, f"{SOFTMAX}\n        weights *= 1.0")),
    edited("mutates_input", (RETURN, f"value.zero_()\n    {RETURN}")),
    edited("returns_tuple", (RETURN, f"{RETURN}, weights")),
    edited("hard_coded_sizes", (FIRST, FIRST.replace("seq_len", "13"))),
    edited(
        "window_larger_than_sequence",
        (FIRST, f"    if window > seq_len:\n        raise ValueError('the window is too long')\n{FIRST}"),
    ),
    edited(
        "uses_builtin",
        (SOFTMAX, f"{SOFTMAX}\n        torch.nn.functional.scaled_dot_product_attention(query, key, value)"),
    ),
)
RIGHT: tuple[Example, ...] = (
    edited("a finite fill", ('float("-inf")', "torch.finfo(scores.dtype).min")),
    edited(
        "exponentials by hand",
        (SOFTMAX, "weights = scores.exp()\n        weights = weights / weights.sum(-1, keepdim=True)"),
    ),
    edited(
        "all queries in one chunk",
        ("range(0, seq_len, window)", "range(0, seq_len, seq_len)"),
        ("begin + window", "begin + seq_len"),
    ),
    edited("the exponent in place of the root", (SCALE_LINE, "scores = scores * head_dim**-0.5")),
)
BEGIN = "    pieces = []\n"
GATES: tuple[Example, ...] = (
    edited("the_result_is_right_on_every_probe", (BEGIN, f"    query = query + 1\n{BEGIN}")),
    edited(
        "unusual_inputs_are_right_as_well",
        (BEGIN, f"    query = query if query.shape[2] < 64 else query * 2\n{BEGIN}"),
    ),
    edited(
        "samples_of_a_batch_do_not_see_each_other", (BEGIN, f"    value = value - value.mean(0)\n{BEGIN}")
    ),
)
