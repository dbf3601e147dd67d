"""Concepts measured by themselves, whatever else is wrong."""

from __future__ import annotations

import math

import pytest
import torch

from grader.judge.checks import NotReached
from grader.judge.oracle import Form
from tests.judge.stage import LEVELS, SEED, bench, candidate, content, forms

WITH_WEIGHTS = [kata for kata in LEVELS if content(kata).family.reveal is not None]

WIDTH = content("v1").family.base.sizes["D"]


@pytest.mark.parametrize("kata", WITH_WEIGHTS)
def test_the_output_is_the_attention_map(kata: str) -> None:
    found = bench(kata).xray.plain
    torch.testing.assert_close(found.actual, found.expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found.actual.sum(-1), torch.ones(found.actual.shape[:3]))


@pytest.mark.parametrize("kata", ["v3", "v4"])
def test_hidden_keys_are_exactly_zero(kata: str) -> None:
    found = bench(kata).xray.masked
    assert found.visible is not None
    assert bool((found.actual[~found.visible] == 0).all())


@pytest.mark.parametrize("fill", [-20.0, -50.0, -100.0])
def test_a_leak_too_small_for_any_output_is_seen(fill: float) -> None:
    leaky = Form(
        "mask_fill_small",
        {"mask": lambda c: c if c.visible is None else c.but(scores=c.scores.masked_fill(~c.visible, fill))},
    )
    found = bench("v4", leaky).xray.masked
    assert found.visible is not None
    assert float(found.actual[~found.visible].max()) > 0


@pytest.mark.parametrize("divisor", [1.0, math.sqrt(WIDTH), 8.0, float(WIDTH)])
def test_the_divisor_is_measured(divisor: float) -> None:
    scaled = Form("odd", {"scale": lambda c: c.but(scores=c.scores / divisor)})
    assert math.isclose(bench("v1", scaled).xray.divisor, divisor, rel_tol=1e-3)


def test_where_no_softmax_is_there_is_no_divisor() -> None:
    with pytest.raises(NotReached):
        _ = bench("v1", forms("v1", "no_softmax")[0]).xray.divisor


def test_layers_that_cannot_be_told_apart_leave_nothing_to_measure() -> None:
    measured = bench("v1")
    vars(measured.candidate)["hypotheses"] = ()
    with pytest.raises(NotReached, match="could not be told apart"):
        _ = measured.xray.plain


def test_measuring_leaves_the_judge_s_own_values_alone() -> None:
    measured = bench("v3")
    before = {name: value.clone() for name, value in measured.candidate.rig().values.items()}
    _ = measured.xray.plain, measured.xray.masked
    assert all(torch.equal(before[name], value) for name, value in measured.candidate.rig().values.items())


def test_the_same_seed_gives_the_same_map() -> None:
    assert candidate("v1").seed == SEED
    assert torch.equal(bench("v1").xray.plain.actual, bench("v1").xray.plain.actual)
