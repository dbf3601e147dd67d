"""The hidden checks of v2, in the order of the report."""

from __future__ import annotations

from kata_content.common.checks.dropout import nothing_is_dropped_in_any_mode
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
    scores_are_divided_by_sqrt_hidden_dim,
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

from grader.authoring import Blame, Candidate, NotReached, check, fail, line_of


@check(
    "projections",
    why="One matrix product of width 3·hidden_dim keeps the hardware busier than three small ones.",
)
def one_fused_projection_makes_query_key_and_value(candidate: Candidate, blame: Blame) -> None:
    if not candidate.rig().units:
        raise NotReached("no projection was found")
    units = candidate.rig().units
    if len(units) == 1 and units[0].parts > 3:
        fail(
            f"Level 2 asks for one projection to 3·hidden_dim; this one has {units[0].parts} parts.",
            expected="one weight of shape (3·hidden_dim, hidden_dim)",
            actual=f"a weight of shape {tuple(units[0].weight.shape)}",
            mistake="not_single_projection",
            line=line_of(blame, "not_single_projection", "projections"),
            sentence="Query, key and value are three parts, and your projection makes more than that.",
            fix="Make it `nn.Linear(hidden_dim, 3 * hidden_dim)` and split it in three.",
        )
    if not any(unit.parts == 3 for unit in candidate.rig().units):
        shapes = ", ".join(str(tuple(unit.weight.shape)) for unit in candidate.rig().units[:4])
        fail(
            "Level 2 asks for one fused projection to 3·hidden_dim; this answer has separate ones."
            " Whether the attention is right is judged by the other checks.",
            expected="one weight of shape (3·hidden_dim, hidden_dim)",
            actual=f"weights of shape {shapes}",
            mistake="not_single_projection",
            line=line_of(blame, "not_single_projection", "projections"),
        )
    if candidate.layout is not None and not candidate.layout.fused:
        fail(
            "The fused projection is there, and query, key and value come from separate layers.",
            expected="query, key and value are three parts of what one projection gives",
            actual=", ".join(slot.unit.name for slot in candidate.layout.slots.values()),
            mistake="not_single_projection",
            line=line_of(blame, "not_single_projection", "projections"),
        )


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "attention_is_written_by_hand",
    "each_row_of_weights_sums_to_one",
    "eval_mode_is_deterministic",
    "forward_returns_one_tensor_of_the_shape_and_dtype_of_x",
    "forward_runs_in_training_mode_too",
    "forward_runs_on_every_batch_size_length_and_width",
    "gradients_reach_the_input_and_every_projection",
    "it_runs_in_float16",
    "large_logits_stay_finite",
    "nothing_is_dropped_in_any_mode",
    "one_fused_projection_makes_query_key_and_value",
    "permuting_the_tokens_permutes_the_output",
    "query_key_and_value_come_from_their_own_projections",
    "samples_of_a_batch_do_not_see_each_other",
    "scores_are_divided_by_sqrt_hidden_dim",
    "scores_compare_every_query_with_every_key",
    "the_class_builds_with_a_given_hidden_dim",
    "the_input_and_the_mask_are_not_modified",
    "the_module_stays_in_its_mode",
    "the_output_equals_the_formula_on_every_probe",
    "the_output_mixes_the_values_with_the_weights",
    "training_without_dropout_gives_the_same_output",
    "unusual_inputs_give_the_formula_as_well",
]
