"""What each mistake costs: the points of its own concept, and no other's but by declaration.

`kata lint` holds every form to this; here stands what it comes to, mistake by mistake.
"""

from __future__ import annotations

import pytest

from grader.linting.oracle_trials import forms_of
from tests.judge.stage import content, exceptions, failed, forms, labels, played
from tests.sampling import one_in

# label -> the concepts that fail in v3, where all concepts exist
V3 = {
    "no_scale": {"scale"},
    "scale_by_dk": {"scale"},
    "double_scale": {"scale"},
    "scale_multiplied": {"scale"},
    "scale_by_seq_len": {"scale"},
    "scale_wrong_value": {"scale"},
    "scale_after_softmax": {"scale"},
    "floor_division_scale": {"scale", "gradients"},
    "softmax_over_queries": {"softmax"},
    "softmax_over_batch": {"softmax"},
    "softmax_over_all": {"softmax"},
    "no_softmax": {"softmax"},
    "weights_transposed": {"mix"},
    "mix_elementwise": {"mix"},
    "qk_swapped": {"scores"},
    "scores_use_value": {"scores"},
    "view_instead_of_transpose": {"scores"},
    "attends_across_batch": {"scores"},
    "attends_over_features": {"scores"},
    "shared_projection": {"projections"},
    "projection_unused": {"projections"},
    "qkv_interleaved": {"projections"},
    "attention_result_discarded": {"mix"},
    "no_output_proj": {"output"},
    "round_output": {"gradients"},
    "returns_weights": {"interface"},
    "mask_ignored": {"mask"},
    "mask_inverted": {"mask"},
    "mask_fill_zero": {"mask"},
    "mask_fill_small": {"mask"},
    "mask_fill_too_weak": {"mask"},
    "mask_first_sample_only": {"mask"},
    "mask_fill_wrong_sign": {"mask"},
    "mask_added_as_bool": {"mask"},
    "additive_inf_times_zero": {"mask"},
    "mask_on_queries_instead_of_keys": {"mask"},
    "inf_nan_fully_masked_row": {"mask"},
    "hides_padded_queries": {"mask"},
    "mask_branch_drops_scale": {"mask"},
    "mask_wrong_broadcast_4d": {"mask"},
    "causal_by_default": {"mask"},
    "mask_after_softmax_no_renorm": {"mask"},
    "mask_on_embeddings": {"mask"},
    "missing_dropout": {"dropout"},
    "dropout_in_eval": {"dropout"},
    "dropout_rate_ignored": {"dropout"},
    "dropout_prob_inverted": {"dropout"},
    "dropout_no_rescale": {"dropout"},
    "dropout_renormalised": {"dropout"},
    "dropout_before_softmax": {"dropout"},
    "dropout_on_output": {"dropout"},
    "dropout_twice": {"dropout"},
    "output_proj_before_mix": {"dropout"},
    "output_proj_twice": {"output"},
    "wrong_dtype": {"interface"},
}


@pytest.mark.parametrize("label", one_in(4, V3))
def test_a_mistake_costs_its_own_concept_and_no_other(label: str) -> None:
    grade = played("v3", forms("v3", label)[0])
    assert grade.verdict == "failed"
    assert failed(grade) == V3[label] or label in ("scores_use_value", "shared_projection")
    assert exceptions().names(label) & set(grade.diagnosis[0].mistakes)


def test_the_table_leaves_no_mistake_of_the_level_out() -> None:
    known = {form.label for form in forms_of(content("v3")) if not form.neutral}
    elsewhere = {
        "output_uses_keys",  # the same numbers as shared_projection
        "extra_nonlinearity",  # these two cost the step that they stand on, see below
        "residual_or_norm_added",
        "split_wrong_dim",  # crashes where an output projection follows
    }
    assert known - set(V3) == elsewhere


@pytest.mark.parametrize(
    ("label", "shows", "concept"),
    [
        ("extra_nonlinearity", "relu is applied to the output", "mix"),
        ("extra_nonlinearity", "softmax is applied twice", "softmax"),
        ("extra_nonlinearity", "relu is applied to query and key and value", "projections"),
        ("residual_or_norm_added", "the input is added to the output", "mix"),
        ("residual_or_norm_added", "the input goes through LayerNorm before the projections", "projections"),
    ],
)
def test_something_more_than_the_formula_costs_the_step_it_stands_on(
    label: str, shows: str, concept: str
) -> None:
    form = next(form for form in forms("v1", label) if form.shows == shows)
    assert failed(played("v1", form)) == {concept}


@pytest.mark.parametrize("label", ["scores_use_value", "shared_projection"])
def test_where_two_names_fit_one_of_their_concepts_is_lost(label: str) -> None:
    for form in forms("v1", label):
        grade = played("v1", form)
        assert failed(grade) in ({"scores"}, {"projections"})


def test_the_points_of_everything_else_are_kept() -> None:
    grade = played("v3", forms("v3", "scale_by_dk")[0])
    lost = {concept.id: concept.max_points - concept.points for concept in grade.concepts}
    assert {name for name, points in lost.items() if points} <= {"scale", "robustness"}
    assert lost["scale"] > 0


def test_two_mistakes_cost_both_concepts() -> None:
    grade = played("v3", forms("v3", "mask_inverted")[0], forms("v3", "missing_dropout")[0])
    assert failed(grade) == {"mask", "dropout"}
    assert {"mask_inverted", "missing_dropout"} == set(labels(grade))


def test_another_right_way_costs_nothing() -> None:
    neutral = [form for form in forms_of(content("v3")) if form.neutral]
    assert neutral
    assert {played("v3", form).verdict for form in neutral} == {"passed"}
