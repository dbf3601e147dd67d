"""The hidden checks of cache, in the order of the report."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from kata_content.cache.family import in_calls, turn, turned
from kata_content.common.checks.end_to_end import (
    eval_mode_is_deterministic,
    samples_of_a_batch_do_not_see_each_other,
    the_output_equals_the_formula_on_every_probe,
    training_without_dropout_gives_the_same_output,
    unusual_inputs_give_the_formula_as_well,
)
from kata_content.common.checks.formula import (
    each_row_of_weights_sums_to_one,
    query_key_and_value_come_from_their_own_projections,
    scores_compare_every_query_with_every_key,
    the_output_mixes_the_values_with_the_weights,
)
from kata_content.common.checks.interface import (
    attention_is_written_by_hand,
    forward_runs_in_training_mode_too,
    the_class_builds_with_a_given_hidden_dim,
)
from kata_content.common.checks.preconditions import require_call, require_some_output, unmeasured
from kata_content.common.checks.robustness import (
    it_runs_in_float16,
    large_logits_stay_finite,
)
from kata_content.common.checks.training import (
    a_call_changes_nothing_for_the_next,
    gradients_reach_the_input_and_every_projection,
    the_input_and_the_mask_are_not_modified,
    the_module_stays_in_its_mode,
)
from kata_content.decoding.finders import kept_on_the_side, old_projected, returned
from kata_content.heads.checks import (
    a_width_that_the_heads_do_not_divide_is_refused,
    each_head_projects_the_whole_token,
    heads_are_cut_from_features_and_joined_again,
    scores_are_divided_by_sqrt_head_dim,
    the_joined_heads_pass_through_the_output_projection,
)

from grader.authoring import (
    Asked,
    Blame,
    Candidate,
    NotReached,
    Observation,
    Steps,
    Variations,
    apart,
    ask_in_turns,
    check,
    fail,
    mistake_behind,
    no_tensor,
    problem_line,
    problem_text,
    require,
)

WIDE, LATE = 64, 96
MOST_WORK = 400_000  # multiplications: one step needs 57,600 of them, projecting again 844,032 and more
TWICE = turned("twice", 2, (turn(0, 3, "a"), turn(3, 5, "b", "a"), turn(5, 7, "c", "a")))
LONG = turned("long_text", 1, in_calls(7, 1014, 1, 2), 6, 2)
PAIR = "the output of the new tokens, and a cache"
CRASHES_OF_THE_MASK = frozenset({"kv_mask_ignores_prefix"})


def _single(candidate: Candidate) -> tuple[Observation, ...]:
    return tuple(seen for seen in candidate.observations if not seen.probe.turns)


def _in_turns(candidate: Candidate) -> tuple[Observation, ...]:
    return tuple(seen for seen in candidate.observations if seen.probe.turns)


def _first_call(candidate: Candidate) -> tuple[Asked, ...]:
    """What the first call of several gives, and the second."""
    probe = candidate.family.turned
    assert probe is not None
    return ask_in_turns(candidate, candidate.rig(), probe)


@check(
    "interface",
    why="Whoever generates a text needs both: the output now, the cache for the next call.",
    asks=_first_call,
)
def forward_returns_the_output_of_the_new_tokens_and_a_cache(
    candidate: Candidate, blame: Blame, variations: Variations, steps: Steps
) -> None:
    _unless_explained(candidate, steps)
    seen = candidate.observe(candidate.standard_probes[0])
    require_call(candidate, seen, f"forward(x) returns {PAIR}", variations)
    called = seen.called
    assert called is not None
    if called.length != 2:
        what = "no tuple" if called.length == 1 else f"a {called.type} of {called.length}"
        fail(
            f"forward returned {what}; {PAIR} are asked for.",
            expected="(output, cache)",
            actual=what,
            mistake="kv_cache_not_returned" if called.length == 1 else None,
            line=returned(blame),
        )
    if seen.output is None:
        fail(no_tensor(seen), expected="(output, cache)", actual=called.odd or called.type, line=blame.last())
    _require_shape(candidate, seen, blame)
    for call in candidate.once(_first_call):
        if call.seen.output is not None:
            _require_shape(candidate, call.seen, blame)
    for one in candidate.observations:
        if one.output is not None and one.dtype != one.drawn.x.dtype:
            fail(
                f"forward returned another dtype than x has on {one.drawn.says}.",
                expected=str(one.drawn.x.dtype),
                actual=str(one.dtype),
                mistake="wrong_dtype",
                line=blame.last(),
            )
    steps.expect("interface", "computed in the dtype of x", unmeasured)


def _unless_explained(candidate: Candidate, steps: Steps) -> None:
    if any(steps.explains_crash(seen) for seen in candidate.observations if seen.problem is not None):
        raise NotReached("the mistake that was found makes such calls crash as well")
    if steps.explanation is not None and "attends_over_heads" in steps.explanation.labels:
        raise NotReached("scores of heads with heads meet no mask, and that is charged there")


def _require_shape(candidate: Candidate, seen: Observation, blame: Blame) -> None:
    """One row of output for each new token."""
    if candidate.has_right_shape(seen):
        return
    assert seen.output is not None
    found, wanted = tuple(seen.output.shape), candidate.output_shape(seen.drawn)
    rows = found[1] if len(found) == 3 else wanted[1]
    label = None
    if rows < wanted[1]:
        label = "kv_only_last_output"
    elif rows > wanted[1]:
        label = "kv_output_for_all_tokens"
    fail(
        "forward returned a tensor of another shape than x.",
        expected=f"shape {wanted}: one row for each new token",
        actual=f"shape {found}",
        mistake=label,
        line=returned(blame),
    )


@check("interface", why="A model that only works on the shapes of one example is not finished.")
def forward_runs_on_every_batch_size_length_and_width(
    candidate: Candidate, blame: Blame, steps: Steps
) -> None:
    _unless_explained(candidate, steps)
    first, *others = _single(candidate)
    if first.problem is not None:
        raise NotReached("forward does not run at all")
    if _keeps_on_the_side(candidate):
        raise NotReached("the module keeps tokens of earlier calls, and that is charged there")
    for seen in others:
        if seen.problem is not None and not steps.explains_crash(seen):
            fail(
                f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
                expected=f"a tensor of shape {candidate.output_shape(seen.drawn)}",
                mistake=mistake_behind(seen.problem, candidate) or "hard_coded_sizes",
                line=problem_line(seen.problem),
            )
        if seen.output is not None and candidate.has_right_shape(first):
            require(
                candidate.has_right_shape(seen),
                f"On {seen.drawn.says} the output has another shape than x.",
                expected=f"shape {candidate.output_shape(seen.drawn)}",
                actual=f"shape {tuple(seen.output.shape)}",
            )


def _keeps_on_the_side(candidate: Candidate) -> bool:
    """Whether the same call without a cache gives something else the second time, or fails then."""
    one, again = (call.seen for call in candidate.twice[0])
    if one.output is None:
        return False
    return again.output is None or not candidate.alike(one, again)


def _crashed(candidate: Candidate, steps: Steps, *, of_mask: bool) -> Observation | None:
    """The first of several calls that raises, where all do by a mistake of the mask, or by another one.

    What the calls of a probe say that was traced holds for the others too. Sizes on which a single call
    raises as well say nothing of a cache.
    """
    built = candidate.signature.built
    singly = [built(seen.drawn.sizes) for seen in _single(candidate) if seen.problem is not None]
    failed = [
        (seen, mistake_behind(seen.problem, candidate))
        for seen in sorted(_in_turns(candidate), key=lambda seen: not seen.probe.traced)
        if seen.problem is not None and not steps.explains_crash(seen)
        if built(seen.drawn.sizes) not in singly
    ]
    if not failed or any(label in CRASHES_OF_THE_MASK for _, label in failed) != of_mask:
        return None
    return failed[0][0]


def _fail_on(candidate: Candidate, seen: Observation) -> None:
    assert seen.problem is not None
    fail(
        f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
        expected="every call goes on from the cache that the one before gave back",
        actual="an error",
        mistake=mistake_behind(seen.problem, candidate),
        line=problem_line(seen.problem),
    )


@check(
    "mask", why="A prompt is read in one call, a draft in another: both hold tokens that must not see ahead."
)
def no_token_sees_a_later_one_in_any_call(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    if _keeps_on_the_side(candidate):
        raise NotReached("the module keeps tokens of earlier calls, and that is charged there")
    crashed = _crashed(candidate, steps, of_mask=True)
    if crashed is not None:
        _fail_on(candidate, crashed)
    steps.expect("mask", "query i of a call sees the old tokens and the new ones up to i")


@check(
    "cache", why="The point of a cache: one call after the other gives what one call over all of it gives."
)
def each_call_goes_on_from_all_earlier_tokens(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    if _keeps_on_the_side(candidate):
        raise NotReached("the module keeps tokens of earlier calls, and that is charged there")
    states = [seen for seen in _in_turns(candidate) if seen.called is not None]
    if states and _single(candidate)[0].called is not None and states[0].called is not None:
        called = states[0].called
        if called.length == 2 and called.state == "NoneType":
            fail(
                "forward gives back None for the cache.",
                expected="(output, cache), with the keys and values of all tokens so far",
                actual="(output, None)",
                mistake="kv_cache_not_returned",
                line=returned(blame),
            )
        if called.length == 1:
            raise NotReached("no cache comes back, and that is charged there")
    crashed = _crashed(candidate, steps, of_mask=False)
    if crashed is not None:
        _fail_on(candidate, crashed)
    steps.expect("cache", "all tokens of the sequence so far, old ones first, each of them once")
    if not steps.right or any(seen.problem is not None for seen in candidate.observations):
        return
    seen = candidate.once(_a_long_text).seen
    right = None if candidate.layout is None else candidate.expected(seen.drawn, candidate.layout)
    fine = right is not None and seen.output is not None and right.shape == seen.output.shape
    require(
        fine
        and right is not None
        and torch.allclose(seen.output.to(right.dtype), right, rtol=1e-3, atol=1e-4),  # type: ignore[union-attr]
        "With 1024 tokens, in calls of 7, 1014, 1 and 2, the output is another one."
        if seen.problem is None
        else "With 1024 tokens: " + problem_text(candidate, seen.problem),
        expected="the same as one call with all of them",
        actual="an error" if seen.output is None or right is None else apart(seen.output, right),
        mistake="kv_old_tokens_evicted",
        line=None if seen.problem is None else problem_line(seen.problem),
    )


def _a_long_text(candidate: Candidate) -> Asked:
    return candidate.ask_probe(LONG)


@check(
    "cache",
    why="A server has many texts under way, on one model.",
    asks=_a_long_text,
)
def a_call_without_a_cache_begins_a_new_sequence(candidate: Candidate, blame: Blame) -> None:
    require_some_output(candidate)
    require(
        not _keeps_on_the_side(candidate),
        "The same call without a cache gives something else the second time: the first is still in it.",
        expected="cache=None begins a new sequence",
        actual="tokens of an earlier call take part",
        mistake="kv_cache_not_cleared",
        line=kept_on_the_side(blame),
    )


def _one_late_step(candidate: Candidate) -> Sequence[Asked]:
    """A prompt of 95 tokens and one step, with every multiplication counted."""
    probe = turned("late", 1, in_calls(LATE - 1, 1), WIDE)
    return ask_in_turns(candidate, candidate.rig(probe.sizes), probe, trace=True, dispatch=True, below=True)


@check("work", why="Without that, a step costs as much as reading the whole text again.", asks=_one_late_step)
def a_late_step_projects_its_own_token_only(candidate: Candidate) -> None:
    require_some_output(candidate)
    seen = candidate.once(_one_late_step)[-1].seen
    if seen.called is None or not candidate.has_right_shape(seen):
        raise NotReached("a prompt and a step did not both give what they should")
    work = seen.called.work
    require(
        work <= MOST_WORK,
        f"A step of one token after {LATE - 1} others took {work:,} multiplications, at hidden_dim {WIDE}.",
        expected=f"some 60,000: four projections of one token, and {LATE} scores a head",
        actual=f"{work:,}",
        mistake="kv_recomputed",
        line=old_projected(seen.called.trace),
    )


def _two_continuations(candidate: Candidate) -> Asked:
    return candidate.ask_probe(TWICE)


@check(
    "continuations",
    why="Beam search and several samples from one prompt go on from one cache.",
    asks=_two_continuations,
)
def one_cache_can_be_continued_in_two_ways(candidate: Candidate, steps: Steps) -> None:
    if not steps.right or candidate.layout is None or any(one.problem for one in candidate.observations):
        raise NotReached("the output is not right where each cache is used once")
    seen = candidate.once(_two_continuations).seen
    require(
        candidate.reproduces(seen, candidate.layout),
        "Continued twice, one cache gives something else the second time: the first continuation is in it.",
        expected="what came in stays as it was",
        actual="the cache is changed in place",
    )


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_call_without_a_cache_begins_a_new_sequence",
    "a_late_step_projects_its_own_token_only",
    "a_width_that_the_heads_do_not_divide_is_refused",
    "attention_is_written_by_hand",
    "each_call_goes_on_from_all_earlier_tokens",
    "each_head_projects_the_whole_token",
    "each_row_of_weights_sums_to_one",
    "eval_mode_is_deterministic",
    "forward_returns_the_output_of_the_new_tokens_and_a_cache",
    "forward_runs_in_training_mode_too",
    "forward_runs_on_every_batch_size_length_and_width",
    "gradients_reach_the_input_and_every_projection",
    "heads_are_cut_from_features_and_joined_again",
    "it_runs_in_float16",
    "large_logits_stay_finite",
    "no_token_sees_a_later_one_in_any_call",
    "one_cache_can_be_continued_in_two_ways",
    "query_key_and_value_come_from_their_own_projections",
    "samples_of_a_batch_do_not_see_each_other",
    "scores_are_divided_by_sqrt_head_dim",
    "scores_compare_every_query_with_every_key",
    "the_class_builds_with_a_given_hidden_dim",
    "the_input_and_the_mask_are_not_modified",
    "the_joined_heads_pass_through_the_output_projection",
    "the_module_stays_in_its_mode",
    "the_output_equals_the_formula_on_every_probe",
    "the_output_mixes_the_values_with_the_weights",
    "training_without_dropout_gives_the_same_output",
    "unusual_inputs_give_the_formula_as_well",
]
