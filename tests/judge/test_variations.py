"""One input changed in one way asks one question."""

from __future__ import annotations

import torch

from grader.judge.oracle import Context, Form
from tests.judge.stage import bench, each_level, failed, forms, labels, played


def remembering() -> Form:
    """Adds something of the values of the call before, from the second call on."""
    last: list[torch.Tensor] = []

    def step(c: Context) -> Context:
        before = last[-1].mean() if last else 0.0
        last[:] = [c.value.detach()]
        return c.but(mixed=c.weights @ c.value + before)

    return Form("", {"mix": step})


@each_level
def test_a_right_answer_keeps_nothing_and_drops_nothing_at_rate_zero(kata: str) -> None:
    variations = bench(kata).variations
    assert not variations.keeps_something
    assert not variations.drops_at_rate_zero


def test_what_a_call_leaves_to_the_next_is_seen_and_named_as_such() -> None:
    assert bench("v1", remembering()).variations.keeps_something
    grade = played("v1", remembering())
    said = {check.id: check.message for check in grade.checks if check.status == "failed"}
    assert "the second time" in (said["a_call_changes_nothing_for_the_next"] or "")
    assert "side_effects" in failed(grade)
    assert "gradient_detached" not in labels(grade)


def test_dropout_that_eval_leaves_on_keeps_nothing_from_call_to_call() -> None:
    assert not bench("v4", *forms("v4", "dropout_in_eval")).variations.keeps_something


def test_other_samples_and_another_order_are_other_inputs() -> None:
    related = bench("v1").variations.related
    base = bench("v1").candidate.observations[0]
    changed = related["samples"].seen
    assert torch.equal(changed.drawn.x[0], base.drawn.x[0])
    assert not torch.equal(changed.drawn.x[1:], base.drawn.x[1:])
    moved = related["tokens"].seen.drawn.x
    assert not (moved == base.drawn.x).all(dim=-1).any()
    assert torch.allclose(moved.sum(dim=1), base.drawn.x.sum(dim=1))


def test_the_hidden_row_is_one_of_many() -> None:
    visible = bench("v3").variations.all_hidden.seen.drawn.visible
    assert visible is not None
    assert (~visible).all(dim=-1).sum() == 1


def test_half_precision_and_large_inputs_are_what_they_say() -> None:
    variations = bench("v3").variations
    assert variations.in_half.seen.dtype == torch.float16
    assert variations.in_half.seen.drawn.mask is not None
    assert float(variations.large_input.seen.drawn.x.abs().max()) > 60
