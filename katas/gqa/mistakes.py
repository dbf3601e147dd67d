"""What can go wrong in gqa."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from kata_content.common import known
from kata_content.common.examples import edited
from kata_content.common.step_variants import bent, chained, divided, keep, layer_norm, norm_qk, projected
from kata_content.heads import examples
from kata_content.heads import mistakes as heads
from kata_content.heads.groups import (
    Way,
    added_in_groups,
    asked,
    averaged,
    averaged_in_groups,
    behind,
    folded_inside,
    folded_outside,
    in_turns,
    mixed,
    numbered,
    rows_in_other_order,
    runs,
    shared,
)
from kata_content.heads.known_groups import MISTAKES, of_groups, shares
from kata_content.heads.step_variants import joined, joined_as_it_lies, uncut

from grader.authoring import Context, Example, Form

FILLS = (float("-inf"), -1e9)


def _read(label: str, way: Way, shows: str, **words: str) -> tuple[Form, ...]:
    """Both keys and values read in that way, or one of the two."""
    return (
        Form(label, {"share": shared(way, way)}, shows=shows, **words),  # type: ignore[arg-type]
        *(
            Form(label, {"share": shared(key, value)}, shows=f"{shows}, in the {what} alone", **words)  # type: ignore[arg-type]
            for key, value, what in ((way, runs, "keys"), (runs, way, "values"))
        ),
    )


READ = (
    *_read(
        "gqa_repeat_order",
        in_turns,
        "query heads read the key-value heads in turns, 0 1 0 1, instead of in runs, 0 0 1 1",
    ),
    *_read(
        "gqa_all_heads_read_head_0",
        numbered(lambda h, c: torch.zeros_like(h)),
        "every query head reads key-value head 0",
    ),
    *_read(
        "gqa_all_heads_read_head_0",
        numbered(lambda h, c: torch.full_like(h, c.num_kv_heads - 1)),
        "every query head reads the last key-value head",
    ),
    *_read(
        "gqa_all_heads_read_head_0",
        averaged,
        "every query head reads the mean of the key-value heads",
        sentence="Averaged, the key-value heads are one head for all queries; each group has its own.",
    ),
    *(
        form
        for rule in (
            lambda h, c: h // c.num_kv_heads % c.num_kv_heads,
            lambda h, c: (h // c.num_kv_heads).clamp(max=c.num_kv_heads - 1),
            lambda h, c: h // c.num_kv_heads,
        )
        for form in _read(
            "gqa_wrong_group_divisor",
            numbered(rule),
            "query head h reads key-value head h // num_kv_heads",
        )
    ),
    *_read(
        "gqa_repeat_order",
        numbered(lambda h, c: h.flip(0) // c.repeats),
        "the first query heads read the last key-value head, and so on backward",
        sentence="Your groups run backward through the key-value heads; the order is 0 0 1 1.",
    ),
)


def _of_a_group(what: str, step: str, made: Callable[[Context], Context], done: str = "averaged") -> Form:
    return Form("gqa_queries_averaged", {step: made}, shows=f"the {what} of a group's query heads are {done}")


def _mean_weights(c: Context) -> Context:
    return c.but(weights=averaged_in_groups(torch.softmax(c.scores, -1), c))


def _mean_scores(c: Context) -> Context:
    return c.but(scores=averaged_in_groups(c.query @ c.key.mT, c))


GROUPS = (
    _of_a_group("queries", "share", asked(averaged_in_groups)),
    _of_a_group("queries", "share", asked(added_in_groups), "added up"),
    _of_a_group("results", "mix", mixed(averaged_in_groups)),
    _of_a_group("results", "mix", mixed(added_in_groups), "added up"),
    _of_a_group("weights", "normalise", _mean_weights),
    _of_a_group("scores", "scores", _mean_scores),
    *(
        Form("gqa_group_axis_scrambled", {step: made(rule)})
        for rule in (folded_outside, folded_inside)
        for step, made in (("share", asked), ("mix", mixed))
    ),
)

OVER_HEADS = tuple(
    Form("attends_over_heads", {"split": uncut, "share": behind, "join": join, **more})
    for more in ({}, {"mask": keep})  # on a length other than the number of heads a mask crashes
    for join in (joined(lambda mixed: mixed.flatten(-2)), joined_as_it_lies)
)


SCALE = (
    Form("scale_by_kv_width", {"scale": divided(lambda c: math.sqrt(c.num_kv_heads * c.head_dim))}),
    Form(
        "scale_by_num_heads",
        {"scale": divided(lambda c: math.sqrt(c.num_kv_heads))},
        shows="the scores are divided by √num_kv_heads instead of √head_dim",
    ),
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(c.hidden_dim // c.num_kv_heads))},
        shows="the scores are divided by √(hidden_dim / num_kv_heads), the width of a group's queries",
        sentence="A group of query heads is that wide; what was multiplied is one head, head_dim wide.",
    ),
)


MASKS = tuple(
    Form(
        "mask_head_batch_order",
        {"mask": lambda c, turns=turns, fill=fill: rows_in_other_order(c, in_turns_wanted=turns, fill=fill)},  # type: ignore[misc]
        shows="the rows of the mask are repeated in another order than the queries of a group were joined",
    )
    for turns in (True, False)
    for fill in FILLS
)


def _shared_layer(query: str, key: str, value: str, shows: str) -> Form:
    return Form("shared_projection", {"project": projected(query, key, value)}, shows=shows)


PROJECTIONS = (
    _shared_layer("query", "key", "key", "the values come from the layer of the keys"),
    _shared_layer("query", "value", "value", "the keys come from the layer of the values"),
    _shared_layer("query", "value", "key", "keys and values come from one another's layers"),
    *(
        Form(
            "shared_projection",
            {"project": chained(role, "query")},
            shows=f"the layer of the {role} is applied to the query instead of x",
            sentence=f"The {role} is made from the query, not from x: each of the three starts from x.",
            fix=f"Give it the input: `self.{role}_proj(x)`.",
        )
        for role in ("key", "value", "query")
    ),
    Form(
        "projection_unused",
        {"project": projected("x", "key", "value")},
        shows="the raw input stands in for the query",
        sentence="A layer was made and never applied: the raw input stands in its place.",
        fix="Apply it: `query = self.query_proj(x)`.",
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
        sentence=heads.NOTHING_ADDED,
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

VALUES = (
    *READ,
    *GROUPS,
    *SCALE,
    *heads.without(heads.BESIDE_PROJECTIONS, "attends_over_heads", "heads_and_width_swapped"),
    *OVER_HEADS,
    *MASKS,
    *PROJECTIONS,
)
NEUTRAL = heads.NEUTRAL
TRAINING = heads.TRAINING
FITTED = heads.FITTED
KNOWN = replace(
    known.KNOWN,
    mistakes=(*MISTAKES, *known.KNOWN.mistakes),
    crashes=(of_groups, *known.KNOWN.crashes),
    of_concept={**known.KNOWN.of_concept, "groups": shares},
)


KEYS = "key = key.repeat_interleave(self.repeats, dim=1)"
VALUES_READ = "value = value.repeat_interleave(self.repeats, dim=1)"
ALONG_TOKENS = ("self.repeats, dim=1", "self.repeats, dim=2")
WIDE = ("num_kv_heads * self.head_dim)", "num_heads * self.head_dim)")
THINNED = ".repeat_interleave(self.repeats, dim=1)"
MEANS = (THINNED, f".unflatten(1, (-1, self.repeats)).mean(2){THINNED}")
REPEATS = "self.repeats = num_heads // num_kv_heads"
EXAMPLES: tuple[Example, ...] = (
    *examples.EXAMPLES,
    edited("mask_dtype_assumed_bool", ("attention_mask == 0", "~attention_mask")),
    edited("mask_not_optional", ("if attention_mask is not None:\n", "if True:\n")),
    edited("mutates_mask_argument", ("attention_mask == 0", "attention_mask.logical_not_() == 1")),
    edited("gqa_values_not_repeated", (VALUES_READ, "pass")),
    edited("gqa_values_not_repeated", (KEYS, "pass")),
    edited("gqa_values_not_repeated", (KEYS, "pass"), (VALUES_READ, "pass")),
    edited("gqa_repeat_wrong_dim", ALONG_TOKENS),
    edited("gqa_groups_and_repeats_exchanged", (REPEATS, "self.repeats = num_kv_heads")),
    edited(
        "gqa_groups_and_repeats_exchanged",
        (REPEATS, "self.repeats, num_kv_heads = num_kv_heads, num_heads // num_kv_heads"),
    ),
    edited("gqa_projection_too_wide", WIDE, MEANS),
    edited("gqa_kv_heads_ignored", WIDE, (REPEATS, "self.repeats = 1")),
    edited(
        "gqa_kv_heads_ignored",
        ("num_kv_heads * self.head_dim)", "self.head_dim)"),
        (REPEATS, "self.repeats = num_heads"),
    ),
    edited(
        "gqa_queries_averaged",
        (
            "self.output_proj = nn.Linear(hidden_dim,",
            "self.output_proj = nn.Linear(hidden_dim // self.repeats,",
        ),
        ("joined = mixed", "joined = mixed.unflatten(1, (-1, self.repeats)).mean(2)"),
    ),
)
RIGHT: tuple[Example, ...] = examples.RIGHT
GATES: tuple[Example, ...] = (*examples.GATES, examples.ORDER)
