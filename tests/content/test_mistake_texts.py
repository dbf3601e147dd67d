"""What the grader says about a mistake: complete, plain, and said once."""

from __future__ import annotations

import re

import pytest

from tests.content.levels import CATALOG, CONCEPTS, OPTIONAL, toml

MISTAKES = toml(CATALOG.root / "katas" / "common" / "mistakes.toml")
# A promise to the readers of the JSON report: labels are added, never renamed.
LABELS = """
    T_on_3d additive_inf_times_zero api_typo attends_across_batch attends_over_features
    attention_result_discarded attribute_error_wrong_self_name causal_by_default double_scale
    dropout_before_softmax dropout_in_eval dropout_module_created_in_forward dropout_no_rescale
    dropout_not_elementwise dropout_on_output dropout_prob_inverted dropout_rate_ignored
    dropout_renormalised dropout_twice dropout_unasked eval_called_in_forward extra_nonlinearity
    extra_output_proj floor_division_scale forward_missing fp16_overflow fully_masked_row
    functional_dropout_without_training_flag gradient_detached hard_coded_device hard_coded_sizes
    hides_padded_queries inf_nan_fully_masked_row init_misnamed inplace_breaks_backward
    key_mask_not_expanded layers_not_registered mask_added_as_bool mask_after_softmax_no_renorm
    mask_asked_for_truth mask_branch_drops_scale mask_dtype_assumed_bool mask_fill_small
    mask_fill_too_weak mask_fill_wrong_sign mask_fill_wrong_type mask_fill_zero
    mask_first_sample_only mask_ignored mask_inverted mask_not_optional mask_on_embeddings
    mask_on_queries_instead_of_keys mask_only_in_one_mode mask_wrong_broadcast_4d missing_dropout
    missing_keepdim missing_super_init mix_elementwise mutates_input mutates_mask_argument
    name_error_unbound_variable no_output_proj no_scale no_softmax not_single_projection
    output_proj_before_mix output_proj_twice output_uses_keys parameters_created_in_forward
    permute_invalid projection_unused qk_swapped qkv_interleaved qkv_order_wrong
    residual_or_norm_added returns_none_without_mask returns_tuple returns_weights round_output
    scale_after_softmax scale_by_dk scale_by_seq_len scale_multiplied scale_wrong_value
    scores_use_value shared_projection softmax_over_all softmax_over_batch softmax_over_queries
    split_size_confused split_wrong_dim state_across_calls stray_ide_import transpose_wrong_axes
    uses_builtin view_instead_of_transpose weights_transposed wrong_dtype
"""
# The words of all folders; a kata's own come before what common says of the same label.
WORDS = {
    f"{path.parent.name}/{label}": mistake
    for path in sorted((CATALOG.root / "katas").glob("*/mistakes.toml"))
    for label, mistake in toml(path).items()
}
each_mistake = pytest.mark.parametrize("label", WORDS)


def test_no_label_was_lost_or_renamed() -> None:
    assert set(LABELS.split()) <= set(MISTAKES)


@each_mistake
def test_a_mistake_has_all_its_texts_and_a_known_concept(label: str) -> None:
    mistake = WORDS[label]
    assert set(mistake) == {"concept", "seen", "shows", "sentence", "fix", "why"}
    assert mistake["concept"] in CONCEPTS
    assert mistake["seen"] in {"output", "behaviour"}
    assert all(text.strip() == text != "" for text in mistake.values())


@each_mistake
def test_a_mistake_reads_as_a_clause_and_three_sentences(label: str) -> None:
    mistake = WORDS[label]
    assert not mistake["shows"].endswith(".")
    assert not mistake["shows"][0].isupper() or mistake["shows"].startswith("Your")
    assert all(mistake[name].endswith((".", "`?")) for name in ("sentence", "fix", "why"))


@each_mistake
def test_the_texts_of_a_mistake_are_plain(label: str) -> None:
    for text in WORDS[label].values():
        assert text.count("`") % 2 == 0
        prose = re.sub(r"`[^`]+`", "", text)
        assert re.search(r"[*#<>]|\]\(", prose) is None


def test_no_two_mistakes_say_the_same() -> None:
    for name in ("shows", "sentence", "why"):
        said: dict[str, set[str]] = {}
        for key, mistake in WORDS.items():
            said.setdefault(mistake[name], set()).add(key.partition("/")[2])
        assert [labels for labels in said.values() if len(labels) > 1] == [], name


def test_each_required_concept_has_its_mistakes() -> None:
    """An optional point may carry no label: what is missing for it is said by its check."""
    assert CONCEPTS - OPTIONAL <= {mistake["concept"] for mistake in WORDS.values()} <= CONCEPTS
