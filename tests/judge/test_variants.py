"""Thousands of variants at once give what each gives by itself, whatever a step does to a stack of rows."""

from __future__ import annotations

import pytest
import torch

from grader.judge.oracle import ATOL, RTOL, Context, Form, Plan, Step, compose, run, same
from grader.judge.variants import Outcomes, Variants, chosen, every
from tests.judge.stage import candidate, content, each_level

RIGHT = Form("", {})


def a_context(kata: str, masked: bool = False) -> Context:
    played = candidate(kata)
    assert played.likely_layout is not None
    probe = played.standard_probes[-1 if masked else 0]
    context = played.context(played.draw(probe), played.likely_layout)
    assert context is not None
    return context


def counted(calls: list[str], name: str) -> Plan:
    def step(c: Context) -> Context:
        calls.append(name)
        return c.but(output=c.x)

    return {name: Step(step, "mix", {"output": "B S D"})}


def two_step(form: Form) -> tuple[Variants, Context]:
    """A plan whose first step can be done in twenty ways, and whose second `form` replaces."""
    plan: Plan = {
        "mix": Step(lambda c: c.but(mixed=c.x), "mix", {"mixed": "B S D"}),
        "output": Step(lambda c: c.but(output=c.mixed), "mix", {"output": "B S D"}),
    }
    ways = [Form("", {"mix": lambda c, n=n: c.but(mixed=c.x * n)}) for n in range(20)]
    return Variants(plan, [*ways, form]), Context(plan, {"x": torch.randn(2, 3, 4)}, {})


def both(variants: Variants, c: Context) -> Outcomes:
    """Each of the twenty ways, and the form after it."""
    return variants.run(every(chosen(torch.arange(20), 1), torch.tensor([[20]])), c)


@each_level
@pytest.mark.parametrize("size", [1, 2])
def test_variants_together_equal_each_by_itself(kata: str, size: int) -> None:
    """Of pairs a sample: every 23rd."""
    stage = content(kata)
    forms = [form for form in stage.values if form.fits(stage.plan, stage.features)]
    variants = Variants(stage.plan, forms)
    c = a_context(kata, masked=True)
    sets = variants.composable(chosen(torch.arange(len(forms)), size))[:: 1 if size == 1 else 23]
    for places, output in zip(sets.tolist(), variants.run(sets, c).each(), strict=True):
        if output is not None:
            assert same(run(stage.plan, c, compose([forms[n] for n in places])).output, output, RTOL, ATOL)


def test_a_beginning_that_variants_share_is_run_once() -> None:
    calls: list[str] = []
    plan = {**counted(calls, "first"), **counted(calls, "second")}
    seconds = [Form("", {"second": lambda c, n=n: c.but(output=c.x * n)}) for n in range(9)]
    Variants(plan, [RIGHT, *seconds]).run(
        chosen(torch.arange(10), 1), Context(plan, {"x": torch.ones(1, 2, 3)}, {})
    )
    assert calls == ["first", "second"]


def test_a_step_for_many_rows_is_one_call_and_its_check() -> None:
    calls: list[str] = []

    def doubled(c: Context) -> Context:
        calls.append("doubled")
        return c.but(output=c.mixed * 2)

    variants, c = two_step(Form("", {"output": doubled}))
    outputs = both(variants, c).each()
    assert all(same(output, c.x * n * 2) for n, output in enumerate(outputs) if output is not None)
    assert len(calls) == 2
    both(variants, Context(c.plan, {"x": torch.randn(2, 3, 4)}, {}))
    assert len(calls) == 3  # it is known to do to a stack of such rows what it does to each
    both(variants, Context(c.plan, {"x": torch.randn(2, 5, 4)}, {}))
    assert len(calls) == 5


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(lambda t: torch.softmax(t, dim=0), id="an axis from the front"),
        pytest.param(lambda t: t.reshape(t.shape[1], t.shape[0], -1), id="another shape"),
        pytest.param(lambda t: t - t.mean(), id="all rows together"),
    ],
)
def test_a_step_that_a_stack_confuses_is_taken_row_by_row(count: object) -> None:
    assert callable(count)
    variants, c = two_step(Form("", {"output": lambda at: at.but(output=count(at.mixed))}))
    for n, output in enumerate(both(variants, c).each()):
        assert output is not None
        assert same(count(c.x * n), output)


def test_a_step_that_only_a_stack_crashes_is_taken_row_by_row() -> None:
    def three_axes(c: Context) -> Context:
        batch, seq_len, width = c.mixed.shape
        return c.but(output=c.mixed.reshape(batch, width, seq_len))

    variants, c = two_step(Form("", {"output": three_axes}))
    assert [tuple(output.shape) for output in both(variants, c).each() if output is not None] == [
        (2, 4, 3)
    ] * 20


def test_what_no_row_has_changed_stands_in_every_row() -> None:
    variants, c = two_step(Form("", {"output": lambda at: at.but(output=at.x)}))
    outputs = both(variants, c).each()
    assert all(output is not None and torch.equal(output, c.x) for output in outputs)
    assert len(outputs) == 20


def test_a_variant_that_crashes_explains_nothing_and_disturbs_no_other() -> None:
    crash = Form("", {"mix": lambda c: c.but(mixed=c.weights[..., :2] @ c.value)})
    variants = Variants(content("v1").plan, [RIGHT, crash, *(Form("", {"scale": lambda c: c}) for _ in "12")])
    outcomes = variants.run(chosen(torch.arange(4), 1), a_context("v1"))
    assert [output is None for output in outcomes.each()] == [False, True, False, False]
    right = outcomes.each()[0]
    assert right is not None
    assert outcomes.equal_to(right).tolist() == [True, False, False, False]


def test_a_crash_in_all_rows_leaves_nothing() -> None:
    def crash(c: Context) -> Context:
        return c.but(output=c.mixed @ c.mixed)

    variants, c = two_step(Form("", {"output": crash}))
    outcomes = both(variants, c)
    assert outcomes.each() == [None] * 20
    assert not bool(outcomes.equal_to(c.x).any())


def test_equal_are_those_of_the_same_shape_and_values_and_nan_equals_nan() -> None:
    variants, c = two_step(Form("", {"output": lambda at: at.but(output=at.mixed / at.mixed)}))
    outcomes = both(variants, c)
    zero = outcomes.each()[0]
    assert zero is not None
    assert bool(zero.isnan().all())
    assert outcomes.equal_to(zero).tolist() == [True, *[False] * 19]
    assert outcomes.equal_to(torch.ones(2, 3, 4)).tolist() == [False, *[True] * 19]
    assert not bool(outcomes.equal_to(torch.ones(3, 4)).any())


def test_two_forms_on_one_step_do_not_compose() -> None:
    forms = [Form("", {"scale": abs}), Form("", {"scale": abs, "mix": abs}), Form("", {"output": abs})]
    assert Variants(content("v1").plan, forms).composable(chosen(torch.arange(3), 2)).tolist() == [
        [0, 2],
        [1, 2],
    ]


def test_no_form_at_all_is_one_set_and_too_few_are_none() -> None:
    assert chosen(torch.arange(3), 0).shape == (1, 0)
    assert chosen(torch.arange(1), 2).shape == (0, 2)
    assert every(torch.tensor([[1], [2]]), torch.tensor([[7], [8]])).tolist() == [
        [1, 7],
        [1, 8],
        [2, 7],
        [2, 8],
    ]
