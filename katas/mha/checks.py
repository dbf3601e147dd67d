"""The hidden checks of mha, in the order of the report."""

from __future__ import annotations

from kata_content.common.checks.dropout import (
    in_eval_mode_nothing_is_dropped,
    in_training_hidden_keys_stay_hidden,
    in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow,
)
from kata_content.common.checks.end_to_end import (
    eval_mode_is_deterministic,
    permuting_the_tokens_permutes_the_output,
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
    forward_returns_one_tensor_of_the_shape_and_dtype_of_x,
    forward_runs_in_training_mode_too,
    forward_runs_on_every_batch_size_length_and_width,
    the_class_builds_with_a_given_hidden_dim,
)
from kata_content.common.checks.masks import (
    a_call_without_a_mask_works,
    every_kind_of_mask_is_accepted,
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
    shared_by_all,
    the_joined_heads_pass_through_the_output_projection,
)
from kata_content.mha.family import SHARED_MASK

from grader.authoring import Candidate, check


def _under_a_shared_mask(candidate: Candidate) -> None:
    candidate.ask_probe(SHARED_MASK)


@check(
    "shared_mask",
    why="A causal mask comes as (seq_len, seq_len), so callers will try it.",
    asks=_under_a_shared_mask,
)
def a_mask_of_two_axes_works_too(candidate: Candidate) -> None:
    shared_by_all(candidate, SHARED_MASK)


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_call_without_a_mask_works",
    "a_mask_of_two_axes_works_too",
    "a_row_with_everything_hidden_stays_finite",
    "a_width_that_the_heads_do_not_divide_is_refused",
    "attention_is_written_by_hand",
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
    "large_logits_stay_finite",
    "permuting_the_tokens_permutes_the_output",
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
