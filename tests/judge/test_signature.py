"""How the answer's constructor and forward are called: by their names, by the kata's where they take any."""

from __future__ import annotations

import pytest

from grader.judge.signature import call_arguments, constructor_arguments
from grader.protocol import Argument
from grader.signature import Construct, Input, Output, Signature
from tests.judge.stage import content

ONE_HEAD = content("v3").kata.signature
HEADS = Signature(
    kind="module",
    name="A",
    construct=(
        *ONE_HEAD.construct[:1],
        Construct(name="num_heads", axis="H", aliases=("heads", "n_heads")),
        Construct(name="context_dim", axis="C", optional=True),
        *ONE_HEAD.construct[1:],
    ),
    inputs=(
        Input(name="x", axes="B S D"),
        Input(name="context", axes="B T C"),
        Input(name="context_mask", kind="mask", axes="B T", optional=True),
        Input(name="scale", kind="number", optional=True),
    ),
    outputs=(Output(axes="B S D"),),
)
ARGS = Argument(name="args", has_default=False, variadic=True)
KWARGS = Argument(name="kwargs", has_default=False, variadic=True, keyword_only=True)


def named(name: str, *, keyword_only: bool = False) -> Argument:
    return Argument(name=name, has_default=True, keyword_only=keyword_only)


@pytest.mark.parametrize(
    ("signature", "args", "kwargs"),
    [
        ([named("hidden_dim"), named("dropout_rate")], (16,), {"dropout_rate": 0.35}),
        ([named("d"), named("p_drop")], (16,), {"p_drop": 0.35}),
        ([named("d"), named("second")], (16,), {"second": 0.35}),
        ([named("dropout"), named("d_model")], (), {"d_model": 16, "dropout": 0.35}),
        ([named("dim", keyword_only=True)], (), {"dim": 16}),
        ([named("hidden_dim")], (16,), {}),
        ([named("hidden_dim"), KWARGS], (16,), {"dropout_rate": 0.35}),
        ([ARGS, KWARGS], (16,), {"dropout_rate": 0.35}),
        ([KWARGS], (), {"hidden_dim": 16, "dropout_rate": 0.35}),
        ([ARGS], (16,), {}),
        ([], (16,), {}),
    ],
)
def test_width_and_rate_reach_the_constructor(
    signature: list[Argument], args: tuple[int, ...], kwargs: dict[str, float]
) -> None:
    assert constructor_arguments(signature, ONE_HEAD, {"D": 16}, 0.35) == (args, kwargs)


def test_without_a_rate_none_is_passed() -> None:
    asked = content("v1").kata.signature
    assert constructor_arguments([named("hidden_dim"), KWARGS], asked, {"D": 16}, None) == ((16,), {})


@pytest.mark.parametrize(
    ("signature", "args", "kwargs"),
    [
        ([named("d"), named("n_heads"), named("p")], (24,), {"n_heads": 4, "p": 0.35}),
        (
            [named("heads"), named("d_model"), named("dropout")],
            (),
            {"d_model": 24, "heads": 4, "dropout": 0.35},
        ),
        ([named("a"), named("b"), named("c"), named("e")], (24,), {"b": 4, "e": 0.35}),
        ([named("d")], (24, 4), {}),
        ([KWARGS], (), {"hidden_dim": 24, "num_heads": 4, "dropout_rate": 0.35}),
    ],
)
def test_several_sizes_reach_the_constructor_by_name_else_by_place(
    signature: list[Argument], args: tuple[int, ...], kwargs: dict[str, float]
) -> None:
    assert constructor_arguments(signature, HEADS, {"D": 24, "H": 4}, 0.35) == (args, kwargs)


@pytest.mark.parametrize(
    ("signature", "args", "kwargs"),
    [
        ([named("x"), named("attention_mask")], ("x", "attention_mask"), {}),
        ([named("x"), named("mask", keyword_only=True)], ("x",), {"mask": "attention_mask"}),
        ([named("x"), named("scale"), named("mask")], ("x",), {"mask": "attention_mask"}),
        ([named("x"), ARGS], ("x", "attention_mask"), {}),
    ],
)
def test_the_mask_goes_by_position_or_by_its_name(
    signature: list[Argument], args: tuple[str, ...], kwargs: dict[str, str]
) -> None:
    assert call_arguments(signature, ONE_HEAD, {"x", "attention_mask"}) == (args, kwargs)


def test_what_is_left_out_sends_all_behind_it_by_name() -> None:
    made = [named(name) for name in ("x", "context", "mask", "scale")]
    assert call_arguments(made, HEADS, {"x", "context", "scale"}) == (("x", "context"), {"scale": "scale"})
