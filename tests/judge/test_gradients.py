"""Gradients: the formula's where forward is right; where it is not, only asked to arrive."""

from __future__ import annotations

import pytest
import torch

from grader.judge.oracle import Form
from tests.judge.stage import (
    CATALOG,
    LEVELS,
    ONE_HEAD,
    bench,
    content,
    failed,
    forms,
    labels,
    played,
)
from tests.sampling import some

WITH_GRADIENTS = [
    kata for kata in LEVELS if "gradients" in {concept.id for concept in CATALOG.get(kata).concepts}
]


@pytest.mark.parametrize("kata", some(4, WITH_GRADIENTS))
def test_a_right_answer_has_the_formula_s_gradients(kata: str) -> None:
    measured = bench(kata)
    assert measured.steps.right
    assert not measured.gradients.compared()


@pytest.mark.parametrize("kata", ["v1", "v4"])
def test_the_bias_of_the_keys_needs_no_gradient(kata: str) -> None:
    """It shifts every score of a row alike, and softmax does not see that."""
    gradient = bench(kata).gradients.seen.gradients["key_proj.bias"]
    assert float(gradient.abs().max()) < 1e-4


def cut(name: str) -> Form:
    """A right forward whose gradient cannot pass the attention weights."""
    return Form(name, {"mix": lambda c: c.but(mixed=c.weights.detach() @ c.value)})


def test_a_detached_graph_costs_the_gradients_and_nothing_else() -> None:
    in_blocks = "online"  # there the weights are never whole
    mixing = [kata for kata in LEVELS if "mix" in content(kata).plan and kata != in_blocks]
    assert len(mixing) > len(ONE_HEAD)
    for kata in mixing:
        assert failed(played(kata, cut("gradient_detached"))) == {"gradients"}


def test_which_parameters_get_none_is_said() -> None:
    lost = bench("v1", cut("gradient_detached")).gradients.compared()
    assert {"query_proj.weight", "key_proj.weight"} <= set(lost.missing)
    assert "value_proj.weight" not in lost.missing


def test_a_wrong_gradient_is_found_too() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            del ctx
            return x.clone()

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            del ctx
            return 2 * gradient

    doubled = Form("odd", {"mix": lambda c: c.but(mixed=Doubled.apply(c.weights) @ c.value)})
    lost = bench("v1", doubled).gradients.compared()
    assert not lost.missing
    assert {"x", "query_proj.weight"} <= set(lost.wrong)


@pytest.mark.parametrize("label", ["scores_use_value", "output_uses_keys", "no_scale", "shared_projection"])
def test_a_wrong_forward_is_not_asked_for_the_formula_s_gradients(label: str) -> None:
    assert "gradients" not in failed(played("v1", forms("v1", label)[0]))


@pytest.mark.parametrize("label", ["round_output", "floor_division_scale"])
def test_steps_without_a_slope_lose_their_gradients(label: str) -> None:
    grade = played("v1", forms("v1", label)[0])
    assert "gradients" in failed(grade)
    assert labels(grade) == (label,)
