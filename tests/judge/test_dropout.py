"""Dropout by measurement: each wrong way has its reading, and a right answer has no bad luck."""

from __future__ import annotations

import math

import pytest

from grader.judge.dropout_reading import SIGMAS, Reading
from grader.judge.probes import OTHER_RATE, RATE
from tests.judge.stage import bench, failed, forms, labels, played

LABELS = (
    "missing_dropout",
    "dropout_in_eval",
    "dropout_rate_ignored",
    "dropout_prob_inverted",
    "dropout_no_rescale",
    "dropout_renormalised",
    "dropout_before_softmax",
    "dropout_on_output",
)


@pytest.mark.parametrize("rate", [RATE, OTHER_RATE])
def test_a_right_answer_is_rejected_less_than_once_in_a_thousand_million_grades(rate: float) -> None:
    """The share of zeros among n weights strays by more than SIGMAS deviations with at most this probability.

    Hoeffding's and Bernstein's inequalities bound the tail of a sum of independent yes/no draws.
    """
    probe = bench("v4").dropout.probe.sizes
    n = probe["B"] * probe["S"] ** 2
    tolerance = SIGMAS * math.sqrt(rate * (1 - rate) / n)
    hoeffding = 2 * math.exp(-2 * n * tolerance**2)
    bernstein = 2 * math.exp(-n * tolerance**2 / (2 * rate * (1 - rate) + 2 * tolerance / 3))
    assert min(hoeffding, bernstein) < 1e-9


def test_the_tolerance_still_tells_the_wrong_rates_apart() -> None:
    reading = bench("v4").dropout.main
    for wrong in (1 - RATE, 0.1, 0.5, OTHER_RATE):
        assert abs(wrong - RATE) > reading.tolerance


@pytest.mark.parametrize("seed", range(12))
def test_right_dropout_reads_right_whatever_the_seed(seed: int) -> None:
    assert played("v4", seed=seed).verdict == "passed"


@pytest.mark.parametrize("label", LABELS)
def test_each_way_of_getting_it_wrong_is_named(label: str) -> None:
    training = [form for form in forms("v4", label) if form in bench("v4").candidate.content.training]
    for form in training:
        grade = played("v4", form)
        assert labels(grade) == (label,)
        assert failed(grade) == {"dropout"}


def test_a_reading_says_what_was_measured() -> None:
    right = bench("v4").dropout.main
    assert right.fault is None
    assert right.says.startswith(f"{RATE:.0%}"[:1])
    assert "multiplied by 1.54" in right.says
    missing = bench("v4", *forms("v4", "missing_dropout")[:1]).dropout.main
    assert missing.says == "nothing is dropped in training mode"


def test_another_step_s_mistake_is_not_dropout_s() -> None:
    for label in ("shared_projection", "residual_or_norm_added", "weights_transposed", "round_output"):
        assert "dropout" not in failed(played("v4", forms("v4", label)[0]))


def test_where_the_weights_never_reach_the_output_dropout_is_not_reached() -> None:
    grade = played("v4", forms("v4", "attention_result_discarded")[0])
    status = {concept.id: concept.status for concept in grade.concepts}
    assert (status["mix"], status["dropout"]) == ("failed", "not_reached")


def test_a_missing_dropout_shows_beside_another_mistake() -> None:
    grade = played("v4", forms("v4", "weights_transposed")[0], forms("v4", "missing_dropout")[0])
    assert set(labels(grade)) == {"weights_transposed", "missing_dropout"}


def test_readings_are_alike_but_for_chance() -> None:
    one = bench("v4").dropout.main
    assert one.like(one)
    other = bench("v4", *forms("v4", "missing_dropout")[:1]).dropout.main
    assert isinstance(other, Reading)
    assert not one.like(other)
