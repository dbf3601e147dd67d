"""The hidden checks of gqa, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks import interface, masks
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
    RUNS,
    attention_is_written_by_hand,
    forward_runs_in_training_mode_too,
    the_class_builds_with_a_given_hidden_dim,
)
from kata_content.common.checks.masks import hidden_keys_get_weight_exactly_zero
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
from kata_content.gqa.family import SHARED_MASK
from kata_content.heads.checks import (
    a_width_that_the_heads_do_not_divide_is_refused,
    each_head_projects_the_whole_token,
    heads_are_cut_from_features_and_joined_again,
    scores_are_divided_by_sqrt_head_dim,
    shared_by_all,
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
    line_of,
    mistake_behind,
    problem_line,
    problem_text,
    same,
)

ALL_OF_THEM = (
    "num_kv_heads heads of keys and values, each read by num_heads / num_kv_heads query heads in a row"
)


def _failed(candidate: Candidate) -> list[Observation]:
    return [seen for seen in candidate.observations if isinstance(seen.problem, Failure)]


def _crash_of_groups(candidate: Candidate) -> tuple[str | None, Observation] | None:
    """A call in which query heads and key-value heads do not meet, and what the mistake is called."""
    failed = _failed(candidate)
    for seen in failed:
        assert seen.problem is not None
        label = mistake_behind(seen.problem, candidate)
        if label is not None and candidate.content.labels[label].concept == "groups":
            return label, seen
    ran = [seen for seen in candidate.observations if seen.output is not None]
    apart = [seen for seen in failed if seen.drawn.sizes["G"] != seen.drawn.sizes["H"]]
    alike = all(seen.drawn.sizes["G"] in (1, seen.drawn.sizes["H"]) for seen in ran)
    return (None, failed[0]) if ran and failed and alike and len(apart) == len(failed) else None


def _layers_of_other_heads(candidate: Candidate) -> tuple[str, str] | None:
    """The mistake that the shapes of the weights give away, and what they are."""
    built, likely = candidate.rig().built, candidate.likely_layout
    if built is None or candidate.layout is not None:
        return None
    sizes = candidate.sizes
    width, narrow, turned = sizes["D"], sizes["F"], sizes["r"] * sizes["d"]
    shapes = [info.shape for info in built.parameters if len(info.shape) == 2]
    squares = shapes.count((width, width))
    made = {size for shape in shapes for size in shape} - {width}
    if (width, narrow) in shapes and squares == 1:
        return "gqa_queries_averaged", f"the output layer reads {narrow} features, one head a group"
    if likely is not None and not likely.borrowed:
        return None
    if made & {turned, 2 * turned} or (squares < 2 and width + 2 * turned in made):
        return "gqa_groups_and_repeats_exchanged", f"keys or values have {turned} features"
    if _is_the_same_for_any_number(candidate):
        return "gqa_kv_heads_ignored", "num_kv_heads changes neither the parameters nor the output"
    if squares > 2 or made & {2 * width, 3 * width}:
        return "gqa_projection_too_wide", f"keys or values have {width} features"
    return None


def _of_every_number(candidate: Candidate) -> tuple[Observation, ...]:
    """The first call with the same parameters, on instances with several numbers of key-value heads."""
    base, built = candidate.family.base, candidate.rig().built
    drawn = candidate.draw(base)
    generator = torch.Generator().manual_seed(candidate.seed)
    values = {
        info.name: torch.randn(info.shape, generator=generator) / 4
        for info in (() if built is None else built.parameters)
    }
    rigs = (candidate.rig({**base.sizes, "G": groups}) for groups in (base.sizes["G"], 1, base.sizes["H"]))
    return tuple(candidate.ask(rig, drawn, values=values).seen for rig in rigs)


def _is_the_same_for_any_number(candidate: Candidate) -> bool:
    first, *others = (seen.output for seen in candidate.once(_of_every_number))
    return first is not None and all(other is not None and same(other, first) for other in others)


@check(
    "groups",
    why="Fewer keys and values are the point; which of them a query head reads is part of the model.",
)
def each_run_of_query_heads_reads_its_own_key_value_head(
    candidate: Candidate, steps: Steps, blame: Blame
) -> None:
    found = _crash_of_groups(candidate)
    if found is not None:
        label, seen = found
        assert seen.problem is not None
        fail(
            f"On {seen.drawn.says}, with {seen.drawn.sizes['H']} query heads and {seen.drawn.sizes['G']} of"
            f" keys and values: {problem_text(candidate, seen.problem)}",
            expected=ALL_OF_THEM,
            actual=f"{len(_failed(candidate))} of {len(candidate.observations)} calls fail",
            mistake=label,
            line=problem_line(seen.problem),
        )
    shaped = _layers_of_other_heads(candidate)
    if shaped is not None:
        label, actual = shaped
        fail(
            f"The layers are not those of {candidate.sizes['G']} key-value heads: {actual}.",
            expected="key and value layers with num_kv_heads · head_dim outputs",
            actual=actual,
            mistake=label,
            line=line_of(blame, label, "groups"),
        )
    steps.expect("groups", ALL_OF_THEM)


def _unless_charged_elsewhere(candidate: Candidate, steps: Steps) -> None:
    """A call that fails by a mistake that is known is not held against another concept as well."""
    if _crash_of_groups(candidate) is not None:
        raise NotReached("query heads and key-value heads do not meet, and that is charged there")
    if any(steps.explains_crash(seen) for seen in _failed(candidate)):
        raise NotReached("the mistake that was found makes such calls crash as well")


@check("interface", why="Whatever calls your module goes on computing with what it returns.")
def forward_returns_one_tensor_of_the_shape_and_dtype_of_x(
    candidate: Candidate, blame: Blame, variations: Variations, steps: Steps
) -> None:
    _unless_charged_elsewhere(candidate, steps)
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


def _under_a_shared_mask(candidate: Candidate) -> None:
    candidate.ask_probe(SHARED_MASK)


@check(
    "shared_mask",
    why="A causal mask comes as (seq_len, seq_len), so callers will try it.",
    asks=_under_a_shared_mask,
)
def a_mask_of_two_axes_works_too(candidate: Candidate) -> None:
    if _crash_of_groups(candidate) is not None:
        raise NotReached("query heads and key-value heads do not meet, and that is charged there")
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
    "each_run_of_query_heads_reads_its_own_key_value_head",
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
