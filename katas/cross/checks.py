"""The hidden checks of cross, in the order of the report."""

from __future__ import annotations

from kata_content.common.checks import interface, masks
from kata_content.common.checks.dropout import (
    in_eval_mode_nothing_is_dropped,
    in_training_hidden_keys_stay_hidden,
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
from kata_content.common.checks.masks import (
    hidden_keys_get_weight_exactly_zero,
)
from kata_content.common.checks.robustness import (
    a_row_with_everything_hidden_stays_finite,
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
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Steps,
    Variations,
    check,
    fail,
    problem_line,
    problem_text,
)


def _calls(candidate: Candidate, *, failed: bool) -> list[Observation]:
    """The calls without a mask that raised, or those that did not."""
    return [seen for seen in candidate.unmasked if isinstance(seen.problem, Failure) == failed]


def _are_alike(seen: Observation, one: str, other: str) -> bool:
    return seen.drawn.sizes[one] == seen.drawn.sizes[other]


def _mistake_of_sizes(candidate: Candidate, steps: Steps) -> str | None:
    """What it is called when widths or lengths decide which calls fail, and what runs is right."""
    ran, failed = (_calls(candidate, failed=state) for state in (False, True))
    if not ran or not failed or (steps.explanation is not None and steps.explanation.forms):
        return None
    if [seen.probe.name for seen in failed] == ["width_left_out"]:
        return "context_dim_default_missing"
    for label, one, other in (
        ("context_dim_ignored", "C", "D"),
        ("cross_one_length_for_both", "T", "S"),
    ):
        if all(_are_alike(seen, one, other) for seen in ran) and not any(
            _are_alike(seen, one, other) for seen in failed
        ):
            return label
    return None


def _fail_on_sizes(candidate: Candidate, steps: Steps, label: str, expected: str) -> None:
    if _mistake_of_sizes(candidate, steps) != label:
        return
    first = _calls(candidate, failed=True)[0]
    assert first.problem is not None
    fail(
        f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
        expected=expected,
        actual="an error",
        mistake=label,
        line=problem_line(first.problem),
    )


@check("projections", why="An encoder of another width is the rule, not the exception.")
def keys_and_values_read_the_width_of_the_context(candidate: Candidate, steps: Steps) -> None:
    _fail_on_sizes(candidate, steps, "context_dim_ignored", "keys and values from context_dim features")


@check("heads", why="Two sequences have two lengths.")
def the_two_lengths_are_kept_apart(candidate: Candidate, steps: Steps) -> None:
    _fail_on_sizes(candidate, steps, "cross_one_length_for_both", "x and context of any two lengths")


@check("interface", why="Most callers have equal widths and leave context_dim out.")
def context_dim_may_be_left_out(candidate: Candidate, steps: Steps) -> None:
    _fail_on_sizes(candidate, steps, "context_dim_default_missing", "context_dim=None means hidden_dim")


def _unless_charged_elsewhere(candidate: Candidate, steps: Steps) -> None:
    """A call that fails by a mistake that is known is not held against the interface as well."""
    failed = [seen for seen in candidate.observations if seen.problem is not None]
    if failed and _mistake_of_sizes(candidate, steps) is not None:
        raise NotReached("the sizes of x and the context are confused, and that is charged there")
    if any(steps.explains_crash(seen) for seen in failed):
        raise NotReached("the mistake that was found makes such calls crash as well")


@check("interface", why="Whatever calls your module goes on computing with what it returns.")
def forward_returns_one_tensor_of_the_shape_and_dtype_of_x(
    candidate: Candidate, blame: Blame, variations: Variations, steps: Steps
) -> None:
    _unless_charged_elsewhere(candidate, steps)
    first = candidate.observe(candidate.standard_probes[0])
    explained = steps.explanation is not None and bool(steps.explanation.forms)
    if explained and first.output is not None and not candidate.has_right_shape(first):
        raise NotReached("the mistake that was found gives an output of another length as well")
    interface.forward_returns_one_tensor_of_the_shape_and_dtype_of_x(candidate, blame, variations, steps)


@check("interface", why=RUNS)
def forward_runs_on_every_batch_size_length_and_width(
    candidate: Candidate, blame: Blame, steps: Steps
) -> None:
    _unless_charged_elsewhere(candidate, steps)
    interface.forward_runs_on_every_batch_size_length_and_width(candidate, blame)


@check("mask", why="Most calls have no mask; None must mean that everything is visible.")
def a_call_without_a_mask_works(candidate: Candidate, steps: Steps) -> None:
    _unless_charged_elsewhere(candidate, steps)
    masks.a_call_without_a_mask_works(candidate)


@check("mask", why="Masks come as bool, integers or floats.")
def every_kind_of_mask_is_accepted(candidate: Candidate, blame: Blame, steps: Steps) -> None:
    _unless_charged_elsewhere(candidate, steps)
    masks.every_kind_of_mask_is_accepted(candidate, blame, steps)


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_call_without_a_mask_works",
    "a_row_with_everything_hidden_stays_finite",
    "a_width_that_the_heads_do_not_divide_is_refused",
    "attention_is_written_by_hand",
    "context_dim_may_be_left_out",
    "each_head_projects_the_whole_token",
    "each_row_of_weights_sums_to_one",
    "eval_mode_is_deterministic",
    "every_kind_of_mask_is_accepted",
    "forward_returns_one_tensor_of_the_shape_and_dtype_of_x",
    "forward_runs_in_training_mode_too",
    "forward_runs_on_every_batch_size_length_and_width",
    "gradients_reach_the_input_and_every_projection",
    "heads_are_cut_from_features_and_joined_again",
    "hidden_keys_get_weight_exactly_zero",
    "in_eval_mode_nothing_is_dropped",
    "in_training_hidden_keys_stay_hidden",
    "in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow",
    "it_runs_in_float16",
    "keys_and_values_read_the_width_of_the_context",
    "large_logits_stay_finite",
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
    "the_two_lengths_are_kept_apart",
    "training_without_dropout_gives_the_same_output",
    "unusual_inputs_give_the_formula_as_well",
]
