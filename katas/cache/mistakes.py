"""What can go wrong in cache."""

from __future__ import annotations

import torch
from kata_content.common import known as common
from kata_content.common import mistakes as single
from kata_content.common.examples import edited, instead
from kata_content.decoding.finders import KNOWN_LINES, OF_CONCEPT, behind
from kata_content.decoding.steps import keep
from kata_content.decoding.ways import (
    EMPTY,
    Sees,
    Slots,
    buffered,
    causal,
    doubled,
    everything,
    exchanged_scores,
    exchanged_values,
    flat,
    forgotten,
    laid,
    later_only,
    moved,
    old_scores,
    old_values,
    rescaled,
    square,
    tail_shown,
    transposed,
    usual,
    with_tail,
)
from kata_content.heads import examples
from kata_content.heads import mistakes as heads

from grader.authoring import Context, Example, Form


def _kept(label: str, slots: Slots = usual, sees: Sees = causal, shows: str = "", sentence: str = "") -> Form:
    return Form(label, {"lay": laid(slots, sees)}, shows=shows, sentence=sentence)


# --- What a call has at hand ---

KEPT = (
    _kept("kv_cache_not_used", lambda call: call.own),
    _kept("kv_only_last_step_kept", lambda call: (*flat(call.past[-1:]), *call.own)),
    _kept(
        "kv_cache_not_updated",
        lambda call: (*flat(call.past[:1]), *call.own),
        shows="each call sees the tokens of the first call and its own; those in between are lost",
    ),
    _kept(
        "kv_cache_not_returned",
        lambda call: (*flat(call.past[-1:] if len(call.past) % 2 else ()), *call.own),
        shows="a call that was given a cache gives none back, so the next one begins anew",
    ),
    _kept("kv_cache_order", lambda call: (*call.own, *flat(call.past[::-1]))),
    _kept(
        "kv_cache_order",
        lambda call: (*call.own, *flat(call.past[::-1])),
        moved(lambda *_: 0),
        shows="new tokens are put before the old ones, and the triangle lies on them",
    ),
    _kept("kv_new_tokens_missing", lambda call: call.old or call.own, later_only(everything)),
    _kept(
        "kv_new_tokens_missing",
        sees=later_only(moved(lambda ahead, _: ahead - 1)),
        shows="with a cache, a token no longer sees itself",
    ),
    _kept("kv_new_tokens_twice", lambda call: (*usual(call), *(call.own if call.past else ()))),
    _kept("kv_new_tokens_twice", lambda call: (*usual(call), *call.own)),
    _kept(
        "kv_new_tokens_twice",
        lambda call: (*call.old, *call.own, *(call.own if call.past else ())),
        later_only(lambda rows, places, _, call: places % max(1, len(usual(call))) <= len(call.old) + rows),
    ),
    _kept(
        "kv_new_tokens_twice",
        lambda call: (*call.old, *call.old, *call.own),
        shows="old tokens are joined twice, so each counts double",
    ),
    _kept("kv_wrong_write_index", buffered(lambda *_: 0)),
    _kept("kv_wrong_write_index", buffered(lambda length, *_: length - 1)),
    _kept(
        "kv_wrong_write_index",
        buffered(lambda length, *_: length - 1, total=False),
        shows="the first new token is written over the last old one",
    ),
    _kept("kv_wrong_write_index", buffered(lambda _, __, past: len(past))),
    _kept("kv_wrong_write_index", buffered(lambda _, __, past: len(past), total=False)),
    _kept("kv_wrong_write_index", buffered(lambda _, __, past: len(past[-1]) if past else 0)),
    _kept("kv_wrong_write_index", buffered(lambda length, new, _: length - len(new) + 1 if length else 0)),
    _kept("kv_old_tokens_evicted", lambda call: usual(call)[-4:]),
    *(
        _kept("kv_empty_tail_attended", with_tail(capacity), sees)
        for capacity in (
            *(lambda _, size=size: size for size in (16, 32, 64, 128, 256, 512, 1024, 2048)),
            *(doubled(first) for first in (1, 2, 4, 8)),
        )
        for sees in (tail_shown,)
    ),
    *(
        _kept("kv_capacity_as_length", with_tail(lambda _, size=size: size), everything)  # type: ignore[misc]
        for size in (16, 32, 64, 128, 256, 512, 1024, 2048)
    ),
    _kept(
        "kv_empty_tail_attended",
        lambda call: (EMPTY, *usual(call)) if not call.past else usual(call),
        shows="an empty row stands before the first token",
    ),
    _kept("kv_cache_shared", lambda call: (*flat(call.since), *call.own)),
    _kept(
        "kv_cache_shared",
        lambda call: (*flat(call.before), *call.own) if call.past else call.own,
        shows="a sequence goes on from the tokens of all sequences",
    ),
    _kept(
        "kv_cache_not_cleared",
        lambda call: (*flat(call.before), *call.own),
    ),
    Form(
        "kv_first_sample_only",
        {
            "remember": old_scores(lambda c: c.query @ c.key[..., :1, :, :, :].mT),
            "mix": old_values(lambda c: c.value[..., :1, :, :, :]),
        },
    ),
    Form("kv_first_sample_only", {"remember": old_scores(lambda c: c.query @ c.key[..., :1, :, :, :].mT)}),
    Form("kv_first_sample_only", {"mix": old_values(lambda c: c.value[..., :1, :, :, :])}),
    Form("kv_values_not_cached", {"recall": forgotten}),
    Form(
        "kv_values_not_cached",
        {"mix": old_values(lambda c: c.key)},
        shows="old keys stand for the old values",
        sentence="You keep keys and values, and read the keys twice.",
    ),
    Form("kv_keys_not_cached", {"remember": old_scores(lambda c: torch.zeros_like(c.scores))}),
    Form(
        "kv_keys_not_cached",
        {"remember": old_scores(lambda c: c.query @ c.value.mT)},
        shows="old values stand for the old keys",
        sentence="You keep keys and values, and read the values twice.",
    ),
    Form(
        "kv_keys_values_exchanged",
        {"remember": old_scores(lambda c: c.query @ c.value.mT), "mix": old_values(lambda c: c.key)},
    ),
    Form("kv_keys_values_exchanged", {"remember": exchanged_scores, "mix": exchanged_values}),
    Form("kv_keys_scaled_again", {"remember": rescaled}),
)

# --- What of it is seen ---

SEEN = (
    _kept("causal_mask_missing", sees=everything),
    _kept("kv_prefill_unmasked", sees=later_only(everything)),
    _kept("kv_mask_only_with_cache", sees=later_only(causal, everything)),
    _kept("kv_causal_alignment", sees=moved(lambda *_: 0)),
    _kept(
        "kv_causal_alignment",
        sees=moved(lambda _, call: len(call.past[-1]) if call.past else 0),
        shows="the triangle is moved by the length of the last call, not by that of all calls before",
    ),
    _kept(
        "kv_causal_alignment",
        sees=moved(lambda _, call: len(call.past)),
        shows="the triangle is moved by the number of calls, not by that of the tokens before",
    ),
    _kept("kv_offset_counted_twice", sees=moved(lambda ahead, _: 2 * ahead)),
    _kept(
        "kv_mask_ignores_prefix",
        sees=later_only(square),
        shows="the triangle of the new tokens lies on the first keys, which are old",
    ),
    _kept("causal_off_by_one_hides_self", sees=moved(lambda ahead, _: ahead - 1)),
    _kept("causal_off_by_one_leaks_next", sees=moved(lambda ahead, _: ahead + 1)),
    _kept(
        "causal_off_by_one_leaks_next",
        sees=later_only(moved(lambda ahead, _: ahead + 1)),
        shows="with a cache, each token sees the next one of its call as well",
    ),
    _kept("causal_direction_inverted", sees=lambda rows, places, ahead, _: places >= ahead + rows),
)


def _filled(number: float) -> Form:
    return Form(
        "mask_fill_zero" if not number else "mask_fill_too_weak",
        {"mask": lambda c: c.but(scores=c.scores.masked_fill(c.copies == 0, number))},
        shows="" if not number else f"later scores are filled with {number:g}, which hides them in part",
    )


MASKS = (
    *(_filled(number) for number in (0.0, -1.0, -2.0, -5.0, -10.0)),
    Form("mask_added_as_bool", {"mask": lambda c: c.but(scores=c.scores + c.copies)}),
    Form(
        "mask_after_softmax_no_renorm",
        {"mask": keep, "recall": lambda c: c.but(weights=c.weights * (c.copies > 0))},
    ),
)


def _finite(c: Context) -> Context:
    """A large negative number instead of -inf."""
    return c.but(scores=c.scores.masked_fill(c.copies == 0, -1e9))


VALUES = (
    *SEEN,
    *KEPT,
    *MASKS,
    *heads.SCALE,
    *heads.HEADS,
    *heads.SCORES,
    *heads.SOFTMAX,
    *heads.without(heads.MIX, "weights_transposed"),
    Form("weights_transposed", {"mix": transposed}),
    *heads.OUTPUT,
    *single.CONVERTED,
    *heads.PROJECTIONS,
)
NEUTRAL: tuple[Form, ...] = (Form("", {"mask": _finite}, shows="later scores are filled with -1e9"),)
TRAINING: tuple[Form, ...] = ()
FITTED = tuple(fitted for fitted in heads.FITTED if fitted.step == "scale")
KNOWN = common.KNOWN.with_more(*KNOWN_LINES, crashes=(behind,), of_concept=OF_CONCEPT)

BEGIN = "        # x: (batch, seq_len, hidden_dim), the new tokens only"
RETURN = "return self.output_proj(joined), (key, value)"
JOIN_KEYS = "torch.cat((cache[0], key), dim=2)"
JOIN_VALUES = "torch.cat((cache[1], value), dim=2)"
TRIANGLE = "torch.ones(seq_len, total, dtype=torch.bool, device=x.device).triu(total - seq_len + 1)"
PROJECT = """\
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)
        if cache is not None:
            # Old tokens first. A new tensor, so that the cache that came in stays as it was.
            key = torch.cat((cache[0], key), dim=2)
            value = torch.cat((cache[1], value), dim=2)
"""
PROJECT_AGAIN = """\
        query = self.split(self.query_proj(x))
        if cache is not None:
            old = cache
            whole = torch.cat((old, x), dim=1)
        else:
            whole = x
        key = self.split(self.key_proj(whole))
        value = self.split(self.value_proj(whole))
"""
ALL_TOKENS = "x if cache is None else torch.cat((cache, x), dim=1)"
NO_DROPOUT = (
    "dropout_module_created_in_forward",
    "functional_dropout_without_training_flag",
    "dropout_in_eval",
)
EXAMPLES: tuple[Example, ...] = (
    *(
        example
        for example in examples.EXAMPLES
        if example.label not in (*NO_DROPOUT, "returns_tuple", "eval_called_in_forward")
    ),
    edited("eval_called_in_forward", (BEGIN, f"        self.eval()\n{BEGIN}")),
    edited("kv_cache_not_returned", (RETURN, "return self.output_proj(joined), cache")),
    edited("kv_cache_not_returned", (RETURN, "return self.output_proj(joined)")),
    edited("kv_recomputed", (PROJECT, PROJECT_AGAIN), (RETURN, "return self.output_proj(joined), whole")),
    edited("kv_cache_wrong_axis", (JOIN_KEYS, JOIN_KEYS.replace("dim=2", "dim=1"))),
    edited(
        "kv_cache_wrong_axis",
        (JOIN_KEYS, JOIN_KEYS.replace("dim=2", "dim=0")),
        (JOIN_VALUES, JOIN_VALUES.replace("dim=2", "dim=0")),
    ),
    edited("kv_mask_ignores_prefix", (TRIANGLE, "torch.ones(seq_len, seq_len).triu(1).bool()")),
    edited(
        "kv_output_for_all_tokens",
        (PROJECT, PROJECT_AGAIN.replace("self.query_proj(x)", f"self.query_proj({ALL_TOKENS})")),
        ("seq_len, total = x.shape[1], key.shape[2]", "seq_len = total = key.shape[2]"),
        (RETURN, "return self.output_proj(joined), whole"),
    ),
    edited("kv_only_last_output", (RETURN, "return self.output_proj(joined[:, -1:]), (key, value)")),
    edited(
        "kv_cache_not_cleared",
        ("if cache is not None:", "cache = getattr(self, 'kept', None)\n        if cache is not None:"),
        (RETURN, "self.kept = (key, value)\n        return self.output_proj(joined), self.kept"),
    ),
    *instead(JOIN_VALUES, "kv_values_not_cached", "value"),
    *instead(JOIN_KEYS, "kv_keys_not_cached", "key"),
    edited("hard_coded_sizes", ("self.num_heads = num_heads", "self.num_heads = 4")),
)
SHARED = frozenset({"softmax by hand", "heads joined by reshape", "the exponent in place of the root"})
RIGHT: tuple[Example, ...] = (
    *(example for example in examples.RIGHT if example.label in SHARED),
    edited(
        "a dictionary",
        ("cache[0]", 'cache["k"]'),
        ("cache[1]", 'cache["v"]'),
        (RETURN, 'return self.output_proj(joined), {"k": key, "v": value}'),
    ),
    edited("a list", (RETURN, "return self.output_proj(joined), [key, value]")),
    edited("detached", (RETURN, "return self.output_proj(joined), (key.detach(), value.detach())")),
    edited("a list of both", (RETURN, "return [self.output_proj(joined), (key, value)]")),
)
GATES: tuple[Example, ...] = (
    edited("the_output_equals_the_formula_on_every_probe", (BEGIN, f"        x = x + 1\n{BEGIN}")),
    edited(
        "unusual_inputs_give_the_formula_as_well",
        (BEGIN, f"        x = x if x.shape[2] != 7 else x.flip(1)\n{BEGIN}"),
    ),
    edited("samples_of_a_batch_do_not_see_each_other", (BEGIN, f"        x = x - x.mean(0)\n{BEGIN}")),
    edited(
        "training_without_dropout_gives_the_same_output",
        (BEGIN, f"        x = 2 * x if self.training else x\n{BEGIN}"),
    ),
    edited("eval_mode_is_deterministic", (BEGIN, f"        x = x + torch.rand_like(x)\n{BEGIN}")),
)
__all__ = ["EXAMPLES", "FITTED", "GATES", "KNOWN", "NEUTRAL", "RIGHT", "TRAINING", "VALUES"]
