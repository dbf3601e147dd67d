"""The oracle's steps are attention, and mistakes compose."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from grader.judge.oracle import Affine, Context, Form, compose, run, same
from tests.judge.stage import ONE_HEAD, content

BATCH, SEQ_LEN, WIDTH = 3, 5, 8


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(math.prod(shape)))


def context(mask: Tensor | None = None) -> Context:
    generator = torch.Generator().manual_seed(3)
    layers = {
        role: Affine(
            torch.randn(WIDTH, WIDTH, generator=generator) / 2, torch.randn(WIDTH, generator=generator)
        )
        for role in ("query", "key", "value", "output")
    }
    visible = None if mask is None else mask != 0
    stage = content("v3")
    return Context(
        stage.plan,
        {"x": drawn(BATCH, SEQ_LEN, WIDTH)},
        layers,
        mask=mask,
        visible=visible,
        sizes={"B": BATCH, "S": SEQ_LEN, "D": WIDTH},
        names=stage.kata.signature.axes,
    )


def formula(c: Context, kata: str) -> Tensor:
    """Attention one query at a time, over the keys that it may see."""
    query, key, value = (c.layers[role](c.x) for role in ("query", "key", "value"))
    rows = torch.zeros(BATCH, SEQ_LEN, WIDTH)
    for sample, row in itertools.product(range(BATCH), range(SEQ_LEN)):
        seen = [n for n in range(SEQ_LEN) if c.visible is None or bool(c.visible[sample, row, n])]
        exps = [math.exp(float(query[sample, row] @ key[sample, n]) / math.sqrt(WIDTH)) for n in seen]
        for weight, n in zip(exps, seen, strict=True):
            rows[sample, row] += weight / sum(exps) * value[sample, n]
    return c.layers["output"](rows) if kata == "v3" else rows


def asymmetric_mask() -> Tensor:
    mask = drawn(BATCH, SEQ_LEN, SEQ_LEN) > 0
    mask[..., 0] = True
    return mask


@pytest.mark.parametrize("kata", ONE_HEAD)
def test_the_steps_give_the_formula(kata: str) -> None:
    masks = [None, asymmetric_mask()] if content(kata).kata.takes_mask else [None]
    for mask in masks:
        c = context(mask)
        torch.testing.assert_close(run(content(kata).plan, c).output, formula(c, kata), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kata", ["v1", "v4"])
def test_the_steps_give_what_the_library_gives(kata: str) -> None:
    mask = asymmetric_mask() if kata == "v4" else None
    c = context(mask)
    library = F.scaled_dot_product_attention(*(c.layers[r](c.x) for r in ("query", "key", "value")), mask)
    torch.testing.assert_close(run(content(kata).plan, c).output, library, rtol=1e-4, atol=1e-5)


def test_dropout_falls_in_training_only() -> None:
    c = context().but(rate=0.5)
    plan = content("v4").plan
    assert torch.equal(run(plan, c).output, run(plan, c).output)
    assert bool((run(plan, c.but(training=True)).weights == 0).any())


def test_a_variant_replaces_its_steps_and_no_other() -> None:
    c = context()
    unscaled = run(content("v1").plan, c, {"scale": lambda at: at})
    torch.testing.assert_close(unscaled.weights, torch.softmax(unscaled.query @ unscaled.key.mT, -1))


def test_mistakes_compose_unless_they_replace_the_same_step() -> None:
    one, other, same_step = (Form("a", {"scale": abs}), Form("b", {"mix": abs}), Form("c", {"scale": abs}))
    assert compose([one, other]) == {"scale": abs, "mix": abs}
    assert compose([one, same_step]) is None
    assert compose([]) == {}


def test_a_context_is_changed_by_copy_and_only_where_it_has_fields() -> None:
    c = context()
    assert c.but(rate=0.3).rate == 0.3
    assert c.rate == 0.0
    with pytest.raises(TypeError, match="weigths"):
        c.but(weigths=c.x)


def test_equal_means_shape_nan_and_tolerance() -> None:
    one = torch.tensor([1.0, float("nan"), float("inf")])
    assert same(one, one.clone())
    assert same(one, one + torch.tensor([1e-6, 0, 0]))
    assert not same(one, one + torch.tensor([1e-2, 0, 0]))
    assert not same(one, one.nan_to_num())
    assert not same(one, one.unsqueeze(0))
    assert not same(one, None)


@pytest.mark.parametrize(
    ("expected", "off", "equal"),
    [(1.0, 1e-4, True), (1.0, 2e-4, False), (0.0, 9e-6, True), (0.0, 2e-5, False), (100.0, 2e-2, False)],
)
def test_the_tolerance_is_that_of_float32(expected: float, off: float, equal: bool) -> None:
    """Rounding differs by some 1e-6; the nearest mistakes by more than 2e-4."""
    right = torch.full((3,), expected)
    assert same(right + off, right) is equal
    assert same(right - off, right) is equal
