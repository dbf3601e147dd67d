"""How the answer's constructor and forward are called: by their names, by the kata's where they take any."""

from __future__ import annotations

import pytest

from grader.judge.signature import constructor_arguments, mask_keyword
from grader.protocol import Argument

WANTED = ("hidden_dim", "dropout_rate")
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
    assert constructor_arguments(signature, WANTED, 16, 0.35) == (args, kwargs)


def test_without_a_rate_none_is_passed() -> None:
    assert constructor_arguments([named("hidden_dim"), KWARGS], ("hidden_dim",), 16, None) == ((16,), {})


@pytest.mark.parametrize(
    ("signature", "keyword"),
    [
        ([named("x"), named("attention_mask")], None),
        ([named("x"), named("mask", keyword_only=True)], "mask"),
        ([named("x"), named("scale"), named("mask")], "mask"),
        ([named("x"), ARGS], None),
    ],
)
def test_the_mask_goes_by_position_or_by_its_name(signature: list[Argument], keyword: str | None) -> None:
    assert mask_keyword(signature) == keyword
