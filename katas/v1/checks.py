"""The hidden checks of v1, in the order of the report."""

from __future__ import annotations

from kata_content.common.checks import (
    the_class_builds_with_a_given_hidden_dim,
    forward_returns_one_tensor_of_the_shape_and_dtype_of_x,
    forward_runs_on_every_batch_size_length_and_width,
    attention_is_written_by_hand,
    query_key_and_value_come_from_their_own_projections,
    scores_compare_every_query_with_every_key,
    scores_are_divided_by_sqrt_hidden_dim,
    each_row_of_weights_sums_to_one,
    the_output_mixes_the_values_with_the_weights,
    gradients_reach_the_input_and_every_projection,
    the_input_and_the_mask_are_not_modified,
    the_module_stays_in_its_mode,
    it_runs_in_float16,
    large_logits_stay_finite,
    the_output_equals_the_formula_on_every_probe,
    samples_of_a_batch_do_not_see_each_other,
    permuting_the_tokens_permutes_the_output,
    training_without_dropout_gives_the_same_output,
    eval_mode_is_deterministic,
)

__all__ = [
    "the_class_builds_with_a_given_hidden_dim",
    "forward_returns_one_tensor_of_the_shape_and_dtype_of_x",
    "forward_runs_on_every_batch_size_length_and_width",
    "attention_is_written_by_hand",
    "query_key_and_value_come_from_their_own_projections",
    "scores_compare_every_query_with_every_key",
    "scores_are_divided_by_sqrt_hidden_dim",
    "each_row_of_weights_sums_to_one",
    "the_output_mixes_the_values_with_the_weights",
    "gradients_reach_the_input_and_every_projection",
    "the_input_and_the_mask_are_not_modified",
    "the_module_stays_in_its_mode",
    "it_runs_in_float16",
    "large_logits_stay_finite",
    "the_output_equals_the_formula_on_every_probe",
    "samples_of_a_batch_do_not_see_each_other",
    "permuting_the_tokens_permutes_the_output",
    "training_without_dropout_gives_the_same_output",
    "eval_mode_is_deterministic",
]
