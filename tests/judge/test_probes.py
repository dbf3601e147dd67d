"""The probes tell every two mistakes apart, and have none of the blind spots that a single probe has."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
import torch

from grader.judge import probes
from grader.judge.oracle import Form
from grader.judge.probes import OTHER_RATE, RATE, Drawn, MaskSpec, Probe
from grader.judge.variants import Variants
from grader.linting.oracle_trials import forms_of
from grader.signature import shape_of
from tests.judge.stage import LEVELS, SEED, Outputs, alike, candidate, content, each_level, exceptions

ALL = content("v3").family.standard
UNMASKED = [probe for probe in ALL if probe.mask is None]
MASKED = [probe for probe in ALL if probe.mask is not None]


def draw(probe: Probe, seed: int = SEED) -> Drawn:
    return probes.draw(probe, content("v3").kata.signature, probe.sizes, seed)


each_seed = pytest.mark.parametrize("seed", [0, 1, 20481, 2**31 - 1])


@cache
def fingerprints(
    kata: str, only: frozenset[str] | None = None
) -> tuple[Outputs, tuple[tuple[Form, Outputs], ...]]:
    """The right outputs on every probe of the level, and those of each form that runs on any; of all labels
    or of some.
    """
    stage = content(kata)
    played = candidate(kata)
    layout = played.likely_layout
    assert layout is not None
    features = stage.features | ({"fused"} if layout.fused else set())
    made = [
        form
        for form in stage.values
        if form.fits(stage.plan, frozenset(features)) and (only is None or form.label in only)
    ]
    variants = Variants(stage.plan, (Form("", {}), *made))
    sets = torch.arange(1 + len(made))[:, None]
    columns = []
    for probe in reversed(played.standard_probes):  # masks first: they tell most apart
        context = played.context(played.draw(probe), layout)
        assert context is not None
        columns.append(variants.run(sets, context).each())
    right, *rows = zip(*columns, strict=True)
    return right, tuple(
        (form, row) for form, row in zip(made, rows, strict=True) if any(r is not None for r in row)
    )


@cache
def collisions(kata: str, only: frozenset[str] | None = None) -> frozenset[frozenset[str]]:
    """Pairs of labels that some of their forms share all outputs of."""
    _, ran = fingerprints(kata, only)
    return frozenset(
        frozenset((one.label, other.label))
        for (one, first), (other, second) in itertools.combinations(ran, 2)
        if one.label != other.label and alike(first, second)
    )


def declared(pair: frozenset[str]) -> bool:
    one, other = pair
    return one in exceptions().names(other)


@each_level
def test_no_two_mistakes_look_alike_unless_they_are_declared_to_be_the_same(kata: str) -> None:
    assert [sorted(pair) for pair in collisions(kata) if not declared(pair)] == []


@each_level
def test_no_mistake_looks_right(kata: str) -> None:
    """But a fill of -100 leaves a weight that no output shows: the x-ray's "exactly 0" rejects it."""
    right, ran = fingerprints(kata)
    assert {form.label for form, row in ran if alike(row, right)} <= {"mask_fill_too_weak"}


def test_every_declared_synonym_is_one() -> None:
    """A pair that the probes do tell apart at every level is no synonym, and hides a wrong name.

    The probes do not try what shows in training, in the source, or beside the result alone.
    """
    tried = {form.label for kata in LEVELS for form in content(kata).values}
    pairs = {frozenset(entry.labels) for entry in exceptions().synonyms}
    seen = frozenset().union(*(collisions(kata, frozenset().union(*pairs)) for kata in LEVELS))
    entailed = frozenset(("inf_nan_fully_masked_row", "hides_padded_queries"))
    state = frozenset(("kv_cache_not_returned", "kv_cache_not_used"))
    assert {pair for pair in pairs if pair <= tried} - seen <= {entailed, state}


def test_widths_lengths_and_batches_differ_from_each_other_and_from_the_usual_constants() -> None:
    sizes = [tuple(probe.sizes[axis] for axis in "BSD") for probe in ALL]
    assert not {width for *_, width in sizes} & {64, 512, 728, 768}
    assert all(seq_len not in (width, batch) for batch, seq_len, width in sizes)
    assert len({width for *_, width in sizes}) >= 3
    assert len({seq_len for _, seq_len, _ in sizes}) >= 4
    assert {batch for batch, *_ in sizes} >= {1, 2, 3, 4}
    assert any(seq_len > width for _, seq_len, width in sizes)
    assert any(seq_len == 1 for _, seq_len, _ in sizes)


def test_rates_tell_a_probability_from_its_complement() -> None:
    assert 0.5 not in (RATE, OTHER_RATE)
    assert len({RATE, OTHER_RATE, 1 - RATE, 1 - OTHER_RATE, 0.1}) == 5


def test_masks_come_in_every_dtype_and_shape() -> None:
    kinds = {(probe.mask.axes, probe.mask.dtype) for probe in MASKED if probe.mask is not None}
    dtypes = (torch.bool, torch.int64, torch.float32)
    assert kinds >= set(itertools.product(("B S S", "B 1 S", "1 S S", "S S"), dtypes))


@each_seed
def test_masks_are_lopsided_differ_by_sample_and_leave_every_query_a_key(seed: int) -> None:
    for probe in MASKED:
        drawn = draw(probe, seed)
        assert probe.mask is not None
        assert drawn.mask is not None
        assert drawn.visible is not None
        assert torch.equal(drawn.visible, drawn.mask != 0)
        assert bool(drawn.visible.any(-1).all())
        assert not bool(drawn.visible.all())
        if probe.mask.axes != "B 1 S":
            assert not torch.equal(drawn.visible, drawn.visible.mT)
        if probe.mask.axes == "B S S":
            assert not torch.equal(drawn.visible[0], drawn.visible[1])
        assert tuple(drawn.mask.shape) == shape_of(probe.mask.axes, probe.sizes)


@each_seed
def test_the_same_seed_draws_the_same_and_another_seed_another(seed: int) -> None:
    for probe in (UNMASKED[0], MASKED[0]):
        one, again, other = (draw(probe, number) for number in (seed, seed, seed + 1))
        assert torch.equal(one.x, again.x)
        assert not torch.equal(one.x, other.x)


def test_probes_do_not_share_their_numbers() -> None:
    one, other = (draw(Probe(name, UNMASKED[0].sizes)) for name in ("one", "other"))
    assert not torch.equal(one.x, other.x)


@each_seed
def test_parameters_spread_the_logits_without_saturating_softmax(seed: int) -> None:
    width = UNMASKED[0].sizes["D"]
    weight = (width, width), width
    shapes = {"q.weight": weight, "k.weight": weight, "q.bias": ((width,), None)}
    drawn = probes.draw_parameters(shapes, str(width), seed)
    x = torch.randn(64, width, generator=torch.Generator().manual_seed(seed))
    logits = (x @ drawn["q.weight"].mT) @ (x @ drawn["k.weight"].mT).mT / math.sqrt(width)
    assert 0.5 < float(logits.std()) < 4
    assert float(drawn["q.bias"].std()) < float(drawn["q.weight"].std()) * 3


def test_a_probe_says_what_it_is() -> None:
    sizes = {"B": 3, "S": 5, "D": 16}
    assert draw(Probe("p", sizes)).says == "x (3, 5, 16)"
    masked = Probe("p", sizes, MaskSpec("B 1 S", torch.int64))
    assert draw(masked).says == "x (3, 5, 16), int64 mask (3, 1, 5)"
    half = Probe("p", sizes, dtypes={"x": torch.float16}, numbers={"dim": -1})
    assert draw(half).says == "x (3, 5, 16) of float16, dim=-1"


def test_a_drawn_probe_without_a_mask_has_none() -> None:
    assert isinstance(draw(UNMASKED[0]), Drawn)
    assert draw(UNMASKED[0]).mask is None


def test_the_whole_catalogue_fits_into_one_evaluation() -> None:
    assert all(len(forms_of(content(kata))) < 1000 for kata in LEVELS)
