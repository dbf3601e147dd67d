"""The explanation finds what was done: each mistake alone, two at once, a scale that no formula gives."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Sequence

import pytest
import torch

from grader.engine.private import PrivateEngine
from grader.judge.explain import explain
from grader.judge.oracle import ATOL, RTOL, Context, Form, compose
from grader.judge.variants import Variants
from grader.linting.oracle_trials import forms_of
from grader.records import Grade
from tests.judge.stage import (
    LEVELS,
    Outputs,
    bench,
    candidate,
    content,
    each_level,
    exceptions,
    failed,
    forms,
    graded,
    labels,
    played,
    solution,
)

SAMPLE = 6  # pairs a level, of thousands


def halved(c: Context) -> Context:
    """Stands in for a mistake of dropout where outputs are compared: it shows wherever weights show."""
    return c.but(weights=c.weights * 0.5)


def pairs(kata: str, made: Sequence[Form] | None = None, some: int | None = None) -> list[tuple[Form, Form]]:
    """Pairs of mistakes that both show: other labels, other steps, and no single mistake gives the same.

    `some` of them, drawn before anything is run, or all.

    Softmax over the queries whose weights are then transposed *is* query and key swapped: the simplest
    explanation is the right one.
    """
    stage = content(kata)
    known = exceptions()
    features = stage.features | ({"fused"} if kata == "v2" else set())
    fitting = [form for form in forms_of(stage) if not form.neutral and form.needs <= features]
    chosen = [form for form in fitting if made is None or form in made]
    found = [
        (one, other)
        for one, other in itertools.combinations(chosen, 2)
        if other.label not in known.names(one.label) and compose((one, other)) is not None
    ]
    if some is not None:
        found = random.Random(11).sample(found, some)
    places = {id(form): place for place, form in enumerate(fitting)}
    training = {id(form) for form in stage.training}
    shown = [Form("", {"drop": halved}) if id(form) in training else form for form in fitting]
    alone = outputs(kata, shown, [(place,) for place in range(len(shown))])
    together = outputs(kata, shown, [(places[id(one)], places[id(other)]) for one, other in found])
    kinds: dict[tuple[object, ...], list[Outputs]] = defaultdict(list)
    for single in alone:
        kinds[_shapes(single)].append(single)
    stacks = {kind: [_stacked(column) for column in zip(*rows, strict=True)] for kind, rows in kinds.items()}
    return [
        pair
        for pair, row in zip(found, together, strict=True)
        if any(output is not None for output in row) and not _is_among(row, stacks.get(_shapes(row)))
    ]


def _shapes(row: Outputs) -> tuple[object, ...]:
    return tuple(None if output is None else output.shape for output in row)


def _stacked(column: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    return None if column[0] is None else torch.stack([output for output in column if output is not None])


def _is_among(row: Outputs, stacks: Sequence[torch.Tensor | None] | None) -> bool:
    """Whether one of the stacked rows is alike, crashes included."""
    if stacks is None:
        return False
    equal = [
        torch.isclose(many, one, rtol=RTOL, atol=ATOL, equal_nan=True).flatten(1).all(dim=1)
        for one, many in zip(row, stacks, strict=True)
        if one is not None and many is not None
    ]
    return bool(torch.stack(equal).all(dim=0).any())


def outputs(kata: str, made: Sequence[Form], sets: Sequence[tuple[int, ...]]) -> list[Outputs]:
    """What each set of the forms gives on the first unmasked probe, and the first masked one."""
    played = candidate(kata)
    layout = played.likely_layout
    assert layout is not None
    variants = Variants(content(kata).plan, made)
    columns = []
    for probe in (played.standard_probes[0], played.standard_probes[-1]):
        context = played.context(played.draw(probe), layout)
        assert context is not None
        columns.append(variants.run(torch.tensor(sets), context).each())
    return list(zip(*columns, strict=True))


def both_named(grade: Grade, pair: tuple[Form, Form]) -> bool:
    said = set(labels(grade)) | {n for d in grade.diagnosis for names in d.alternatives for n in names}
    return all(exceptions().names(form.label) & said for form in pair)


@each_level
def test_a_right_answer_needs_no_explanation(kata: str) -> None:
    found = explain(candidate(kata))
    assert found is not None
    assert found.forms == ()


@each_level
def test_each_mistake_alone_is_found_on_other_numbers_too(kata: str) -> None:
    """`kata lint` tries every form at one seed; here a sample at others."""
    made = [form for form in forms_of(content(kata)) if not form.neutral and form.label != "split_wrong_dim"]
    for number, form in enumerate(random.Random(7).sample(made, 6)):
        grade = played(kata, form, seed=1000 + number)
        assert grade.verdict == "failed"
        assert exceptions().names(form.label) & set(grade.diagnosis[0].mistakes), form.label


@pytest.mark.parametrize("kata", ["v1", "v3"])
def test_two_mistakes_at_once_are_both_named(kata: str) -> None:
    """Pairs with the usual form of one of the two in them: of two unusual forms at once none is searched."""
    usual = {id(form) for form in {form.label: form for form in reversed(forms_of(content(kata)))}.values()}
    drawn = pairs(kata, some=10 * SAMPLE)
    sample = [pair for pair in drawn if {id(form) for form in pair} & usual][:SAMPLE]
    found = [both_named(played(kata, *pair), pair) for pair in sample]
    assert len(sample) == SAMPLE
    assert sum(found) >= SAMPLE - 1


def test_each_of_several_mistakes_has_its_line_and_its_fix(engine: PrivateEngine) -> None:
    text = solution("v1", ("math.sqrt(self.hidden_dim)", "self.hidden_dim"), ("dim=-1", "dim=-2"))
    grade = graded(engine, "v1", text)
    first, second = grade.diagnosis
    assert (first.mistakes, second.mistakes) == (("scale_by_dk",), ("softmax_over_queries",))
    lines = text.splitlines()
    assert "/ self.hidden_dim" in lines[(first.line or 0) - 1]
    assert "dim=-2" in lines[(second.line or 0) - 1]
    assert "exactly what you get when" in first.sentence
    assert first.fix != second.fix


@pytest.mark.parametrize(
    ("kata", "names"),
    [
        ("v1", ("no_scale", "output_uses_keys", "shared_projection")),
        ("v2", ("scale_by_dk", "weights_transposed", "residual_or_norm_added")),
        ("v3", ("no_scale", "mask_inverted", "softmax_over_queries")),
        ("v4", ("scale_by_seq_len", "mask_fill_zero", "weights_transposed")),
    ],
)
def test_three_mistakes_at_once_are_all_named(kata: str, names: tuple[str, ...]) -> None:
    grade = played(kata, *(forms(kata, name)[0] for name in names))
    said = set(labels(grade))
    assert all(exceptions().names(name) & said for name in names), said


def test_two_mistakes_are_named_though_a_mask_shows_what_nothing_explains() -> None:
    """Under a mask the weights are bent in a way that no form has; without one all is explained."""
    odd = Form("", {"mask": lambda c: c if c.visible is None else c.but(scores=c.scores.sin() * c.visible)})
    grade = played("v4", *forms("v4", "no_scale"), forms("v4", "weights_transposed")[0], odd)
    assert {"no_scale", "weights_transposed"} <= set(labels(grade))
    assert "mask" in failed(grade)


@pytest.mark.slow
@pytest.mark.parametrize("kata", LEVELS)
def test_of_all_pairs_nearly_every_one_is_rejected_with_both_named(kata: str) -> None:
    """Pairs of one form a label: other forms of it change the numbers, not the search."""
    first = {form.label: form for form in reversed(forms_of(content(kata))) if not form.neutral}
    grades = [(pair, played(kata, *pair)) for pair in pairs(kata, list(first.values()))]
    assert [pair for pair, grade in grades if grade.verdict == "passed"] == []
    named = sum(both_named(grade, pair) for pair, grade in grades)
    missed = [tuple(f.label for f in pair) for pair, grade in grades if not both_named(grade, pair)]
    assert named / len(grades) >= 0.98, missed


@pytest.mark.parametrize("divisor", [3.3, 7.25, 40.0])
def test_a_scale_that_no_formula_gives_is_measured(divisor: float) -> None:
    form = Form("odd", {"scale": lambda c: c.but(scores=c.scores / divisor)})
    found = explain(candidate("v1", form))
    assert found is not None
    assert found.labels == ("scale_wrong_value",)
    assert f"always divided by {divisor:.4g}" in found.forms[0].shows


def test_a_constant_divisor_is_named_with_its_root_and_as_hard_coded() -> None:
    form = Form("constant", {"scale": lambda c: c.but(scores=c.scores / math.sqrt(512))})
    diagnosis = played("v1", form).diagnosis[0]
    assert diagnosis.mistakes == ("scale_wrong_value", "hard_coded_sizes")
    assert "always divided by 22.63 = √512" in diagnosis.sentence


def test_what_nothing_explains_stays_unexplained() -> None:
    odd = Form("odd", {"mix": lambda c: c.but(mixed=(c.weights**2) @ c.value.sin())})
    assert explain(candidate("v1", odd)) is None
    grade = played("v1", odd)
    assert grade.verdict == "failed"
    assert {concept.status for concept in grade.concepts if concept.id == "mix"} == {"not_reached"}


def test_where_several_explanations_fit_the_others_are_said() -> None:
    diagnosis = played("v1", forms("v1", "double_scale")[0]).diagnosis[0]
    assert diagnosis.certainty == "consistent"
    assert {diagnosis.mistakes, *diagnosis.alternatives} == {("scale_by_dk",), ("double_scale",)}


def test_where_one_fits_the_sentence_says_exactly() -> None:
    diagnosis = played("v1", forms("v1", "no_scale")[0]).diagnosis[0]
    assert diagnosis.certainty == "exact"
    assert diagnosis.sentence.startswith("Your output is exactly what you get when ")


def test_a_mistake_that_only_a_mask_shows_is_found_beside_one_that_always_shows() -> None:
    pair = (forms("v4", "no_scale")[0], forms("v4", "mask_fill_zero")[0])
    found = bench("v4", *pair).steps.explanation
    assert found is not None
    assert set(found.labels) == {"no_scale", "mask_fill_zero"}


def test_the_same_seed_finds_the_same() -> None:
    pair = (forms("v3", "weights_transposed")[0], forms("v3", "mask_inverted")[0])
    assert played("v3", *pair) == played("v3", *pair)
