"""The probes tell every two mistakes apart, and have none of the blind spots that a single probe has."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
import torch

from grader.judge import probes
from grader.judge.oracle import Form
from grader.judge.probes import MASKED, OTHER_RATE, RATE, UNMASKED, Drawn, Probe
from grader.judge.variants import Variants
from grader.linting.plays import forms_of
from tests.judge.stage import LEVELS, SEED, Outputs, alike, candidate, content, exceptions

ALL = (*UNMASKED, *MASKED)
each_seed = pytest.mark.parametrize("seed", [0, 1, 20481, 2**31 - 1])


@cache
def fingerprints(kata: str) -> tuple[Outputs, tuple[tuple[Form, Outputs], ...]]:
    """The right outputs on every probe of the level, and those of each form that runs on any."""
    stage = content(kata)
    played = candidate(kata)
    layout = played.likely_layout
    assert layout is not None
    features = stage.features | ({"fused"} if layout.fused else set())
    made = [form for form in stage.values if form.fits(stage.plan, frozenset(features))]
    variants = Variants(stage.plan, (Form("", {}), *made))
    sets = torch.arange(1 + len(made))[:, None]
    columns = []
    for probe in reversed(played.standard_probes):  # masks first: they tell most apart
        context = played.context(probes.draw(probe, SEED), layout)
        assert context is not None
        columns.append(variants.run(sets, context).each())
    right, *rows = zip(*columns, strict=True)
    return right, tuple(
        (form, row) for form, row in zip(made, rows, strict=True) if any(r is not None for r in row)
    )


@cache
def collisions(kata: str) -> frozenset[frozenset[str]]:
    """Pairs of labels that some of their forms share all outputs of."""
    _, ran = fingerprints(kata)
    return frozenset(
        frozenset((one.label, other.label))
        for (one, first), (other, second) in itertools.combinations(ran, 2)
        if one.label != other.label and alike(first, second)
    )


def declared(pair: frozenset[str]) -> bool:
    one, other = pair
    return one in exceptions().names(other)


@pytest.mark.parametrize("kata", LEVELS)
def test_no_two_mistakes_look_alike_unless_they_are_declared_to_be_the_same(kata: str) -> None:
    assert [sorted(pair) for pair in collisions(kata) if not declared(pair)] == []


@pytest.mark.parametrize("kata", LEVELS)
def test_no_mistake_looks_right(kata: str) -> None:
    """But a fill of -100 leaves a weight that no output shows: the x-ray's "exactly 0" rejects it."""
    right, ran = fingerprints(kata)
    assert {form.label for form, row in ran if alike(row, right)} <= {"mask_fill_too_weak"}


def test_every_declared_synonym_is_one() -> None:
    """A pair that the probes do tell apart at every level is no synonym, and hides a wrong name."""
    seen = frozenset().union(*(collisions(kata) for kata in LEVELS))
    entailed = frozenset(("inf_nan_fully_masked_row", "hides_padded_queries"))
    assert {frozenset(entry.labels) for entry in exceptions().synonyms} - seen <= {entailed}


def test_widths_lengths_and_batches_differ_from_each_other_and_from_the_usual_constants() -> None:
    assert not {probe.width for probe in ALL} & {64, 512, 728, 768}
    assert all(probe.seq_len not in (probe.width, probe.batch) for probe in ALL)
    assert len({probe.width for probe in ALL}) >= 3
    assert len({probe.seq_len for probe in ALL}) >= 4
    assert {probe.batch for probe in ALL} >= {1, 2, 3, 4}
    assert any(probe.seq_len > probe.width for probe in ALL)
    assert any(probe.seq_len == 1 for probe in ALL)


def test_rates_tell_a_probability_from_its_complement() -> None:
    assert 0.5 not in (RATE, OTHER_RATE)
    assert len({RATE, OTHER_RATE, 1 - RATE, 1 - OTHER_RATE, 0.1}) == 5


def test_masks_come_in_every_dtype_and_shape() -> None:
    kinds = {(probe.mask, probe.dtype) for probe in MASKED}
    dtypes = (torch.bool, torch.int64, torch.float32)
    assert kinds >= set(itertools.product(("bss", "b1s", "1ss", "ss"), dtypes))


@each_seed
def test_masks_are_lopsided_differ_by_sample_and_leave_every_query_a_key(seed: int) -> None:
    for probe in MASKED:
        drawn = probes.draw(probe, seed)
        assert drawn.mask is not None
        assert drawn.visible is not None
        assert torch.equal(drawn.visible, drawn.mask != 0)
        assert bool(drawn.visible.any(-1).all())
        assert not bool(drawn.visible.all())
        if probe.mask in ("bss", "1ss", "ss"):
            assert not torch.equal(drawn.visible, drawn.visible.mT)
        if probe.mask == "bss":
            assert not torch.equal(drawn.visible[0], drawn.visible[1])
        assert tuple(drawn.mask.shape) == probe.mask_shape


@each_seed
def test_the_same_seed_draws_the_same_and_another_seed_another(seed: int) -> None:
    for probe in (UNMASKED[0], MASKED[0]):
        one, again, other = (probes.draw(probe, number) for number in (seed, seed, seed + 1))
        assert torch.equal(one.x, again.x)
        assert not torch.equal(one.x, other.x)


def test_probes_do_not_share_their_numbers() -> None:
    one, other = (probes.draw(Probe(name, 3, 5), SEED) for name in ("one", "other"))
    assert not torch.equal(one.x, other.x)


@each_seed
def test_parameters_spread_the_logits_without_saturating_softmax(seed: int) -> None:
    width = UNMASKED[0].width
    shapes = {"q.weight": (width, width), "k.weight": (width, width), "q.bias": (width,)}
    drawn = probes.draw_parameters(shapes, width, seed)
    x = torch.randn(64, width, generator=torch.Generator().manual_seed(seed))
    logits = (x @ drawn["q.weight"].mT) @ (x @ drawn["k.weight"].mT).mT / math.sqrt(width)
    assert 0.5 < float(logits.std()) < 4
    assert float(drawn["q.bias"].std()) < float(drawn["q.weight"].std()) * 3


def test_a_probe_says_what_it_is() -> None:
    assert Probe("p", 3, 5, 16).says == "x (3, 5, 16)"
    assert Probe("p", 3, 5, 16, mask="b1s", dtype=torch.int64).says == "x (3, 5, 16), int64 mask (3, 1, 5)"


def test_a_drawn_probe_without_a_mask_has_none() -> None:
    assert isinstance(probes.draw(UNMASKED[0], SEED), Drawn)
    assert probes.draw(UNMASKED[0], SEED).mask is None


def test_the_whole_catalogue_fits_into_one_evaluation() -> None:
    assert all(len(forms_of(content(kata))) < 1000 for kata in LEVELS)
