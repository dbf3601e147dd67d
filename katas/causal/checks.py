"""The hidden checks of causal, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks import interface
from kata_content.common.checks.dropout import (
    in_eval_mode_nothing_is_dropped,
    in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow,
)
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
    RUNS,
    attention_is_written_by_hand,
    forward_runs_in_training_mode_too,
    the_class_builds_with_a_given_hidden_dim,
)
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
    Failure,
    NotReached,
    Observation,
    Reading,
    Steps,
    Variations,
    XRay,
    check,
    fail,
    line_of,
    problem_line,
    problem_text,
    require,
)

HUGE = 30.0  # logits up to a thousand
LAST = 2  # the tokens that stay as they are


def _lengths(candidate: Candidate) -> str | None:
    """The mistake behind calls that fail, where the length of the text decides which."""
    longest = {seen.drawn.sizes["L"] == seen.drawn.sizes["S"] for seen in _ran(candidate, failed=False)}
    failed = _ran(candidate, failed=True)
    if not failed or not longest:
        return None
    if longest == {True} and all(seen.drawn.sizes["L"] > seen.drawn.sizes["S"] for seen in failed):
        return "causal_mask_not_cut"
    built = candidate.signature.built
    base = candidate.sizes
    ran = _ran(candidate, failed=False)
    same = [seen for seen in ran if built(seen.drawn.sizes) == built(base)]
    if {seen.drawn.sizes["S"] for seen in same} == {base["S"]}:
        return "causal_mask_of_first_length"
    return None


def _ran(candidate: Candidate, *, failed: bool) -> list[Observation]:
    return [seen for seen in candidate.observations if isinstance(seen.problem, Failure) == failed]


def _under_one_seed(candidate: Candidate) -> tuple[Asked, ...]:
    """The same in training twice, and with other tokens at the end."""
    base = candidate.family.base
    before = candidate.draw(base.named("leak", sizes={**base.sizes, "B": 8}))
    other = before.x.clone()
    other[:, LAST:] = other[:, LAST:].flip(-1)
    drawn = (before, before, before.but(x=other))
    return tuple(candidate.ask(candidate.rig(), one, training=True, seed=7) for one in drawn)


@check(
    "dropout",
    why="A mask with holes in it shows the future, in training only, where it does harm.",
    asks=_under_one_seed,
)
def in_training_nothing_leaks_either(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    if not steps.right or candidate.still_random:
        raise NotReached("the output is not right in eval mode")
    first, again, changed = (call.seen.output for call in candidate.once(_under_one_seed))
    if first is None or again is None or changed is None or not torch.equal(first, again):
        raise NotReached("training is random in a way that a seed does not hold")
    require(
        bool(torch.equal(first[:, :LAST], changed[:, :LAST])),
        "In training, under one seed, a change of later tokens changes earlier outputs.",
        expected="later tokens change nothing before, in training as in eval mode",
        actual="the output moved",
        mistake="dropout_of_the_mask",
        line=blame.source.find_in_forward(r"[Dd]rop"),
    )


@check("mask", why="One instance reads texts of every length up to the longest.")
def the_mask_fits_every_length(candidate: Candidate) -> None:
    label = _lengths(candidate)
    if label is None:
        return
    failed = _ran(candidate, failed=True)
    assert failed[0].problem is not None
    fail(
        f"On {failed[0].drawn.says}: " + problem_text(candidate, failed[0].problem),
        expected="any length up to max_seq_len, in any order",
        actual=f"{len(failed)} of {len(candidate.observations)} calls fail",
        mistake=label,
        line=problem_line(failed[0].problem),
    )


def _unless_of_lengths(candidate: Candidate, steps: Steps) -> None:
    if _lengths(candidate) is not None:
        raise NotReached("the mask does not fit this length, and that is charged there")
    if any(steps.explains_crash(seen) for seen in _ran(candidate, failed=True)):
        raise NotReached("the mistake that was found makes such calls crash as well")


@check("interface", why="Whatever calls your module goes on computing with what it returns.")
def forward_returns_one_tensor_of_the_shape_and_dtype_of_x(
    candidate: Candidate, blame: Blame, variations: Variations, steps: Steps
) -> None:
    _unless_of_lengths(candidate, steps)
    interface.forward_returns_one_tensor_of_the_shape_and_dtype_of_x(candidate, blame, variations, steps)


@check("interface", why=RUNS)
def forward_runs_on_every_batch_size_length_and_width(
    candidate: Candidate, blame: Blame, steps: Steps
) -> None:
    _unless_of_lengths(candidate, steps)
    interface.forward_runs_on_every_batch_size_length_and_width(candidate, blame)


@check("mask", why="The next token is the target: a position that sees it learns to copy.")
def each_position_sees_itself_and_what_came_before(steps: Steps, xray: XRay) -> None:
    def measure() -> Reading:
        found = xray.plain.actual
        leak = float(found.triu(1).abs().nan_to_num().max())
        sums = found.sum(dim=-1)
        if leak > 0:
            return Reading(False, f"later keys get weights up to {leak:.3g}")
        fine = bool(((sums - 1).abs() < 1e-3).all())
        return Reading(fine, f"rows sum to {float(sums.min()):.3g} … {float(sums.max()):.3g}")

    steps.expect("mask", "a later key gets weight 0, and the rest of the row sums to 1", measure)


def _with_huge_logits(candidate: Candidate) -> tuple[Asked, ...]:
    """Logits up to a thousand, and the same with other tokens at the end."""
    base = candidate.family.base
    before = candidate.draw(base.named("huge", sizes={**base.sizes, "B": 64}))
    x = HUGE * before.x
    other = x.clone()
    other[:, LAST:] = other[:, LAST:].flip(-1)
    return tuple(candidate.ask(candidate.quiet_rig, before.but(x=tokens)) for tokens in (x, other))


@check(
    "mask",
    why="What a position outputs must be what it would be if the text ended there.",
    asks=_with_huge_logits,
)
def a_change_of_a_later_token_changes_nothing_before(
    candidate: Candidate, variations: Variations, steps: Steps, blame: Blame
) -> None:
    if candidate.still_random:
        raise NotReached("the output is random in eval mode")
    if variations.keeps_something:
        raise NotReached("something that forward keeps changes the output from call to call")
    if not steps.right:
        raise NotReached("the output is not right on usual inputs")
    calls = candidate.once(_with_huge_logits)
    x = calls[0].seen.drawn.x
    one, two = (call.seen.output for call in calls)
    if one is None or two is None or one.shape != x.shape or two.shape != x.shape:
        raise NotReached("forward gave no output of x's shape")
    moved = (one[:, :LAST] - two[:, :LAST]).abs().amax(dim=(1, 2)) > 1e-4 * one.abs().amax()
    require(
        not bool(moved.any()),
        "With logits up to a thousand, later tokens change earlier outputs in"
        f" {int(moved.sum())} of 64 samples.",
        expected="outputs before a token do not depend on it",
        actual="the output moved",
        mistake="mask_fill_too_weak",
        line=line_of(blame, "mask_fill_too_weak", "mask"),
    )


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_change_of_a_later_token_changes_nothing_before",
    "a_width_that_the_heads_do_not_divide_is_refused",
    "attention_is_written_by_hand",
    "each_head_projects_the_whole_token",
    "each_position_sees_itself_and_what_came_before",
    "each_row_of_weights_sums_to_one",
    "eval_mode_is_deterministic",
    "forward_returns_one_tensor_of_the_shape_and_dtype_of_x",
    "forward_runs_in_training_mode_too",
    "forward_runs_on_every_batch_size_length_and_width",
    "gradients_reach_the_input_and_every_projection",
    "heads_are_cut_from_features_and_joined_again",
    "in_eval_mode_nothing_is_dropped",
    "in_training_nothing_leaks_either",
    "in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow",
    "it_runs_in_float16",
    "large_logits_stay_finite",
    "query_key_and_value_come_from_their_own_projections",
    "samples_of_a_batch_do_not_see_each_other",
    "scores_are_divided_by_sqrt_head_dim",
    "scores_compare_every_query_with_every_key",
    "the_class_builds_with_a_given_hidden_dim",
    "the_input_and_the_mask_are_not_modified",
    "the_joined_heads_pass_through_the_output_projection",
    "the_mask_fits_every_length",
    "the_module_stays_in_its_mode",
    "the_output_equals_the_formula_on_every_probe",
    "the_output_mixes_the_values_with_the_weights",
    "training_without_dropout_gives_the_same_output",
    "unusual_inputs_give_the_formula_as_well",
]
