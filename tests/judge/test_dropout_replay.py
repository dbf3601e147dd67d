"""How a candidate drops, beside other mistakes, is told by playing it under the same seed."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from grader.judge.candidate import Candidate
from grader.judge.dropout_replay import replay
from grader.judge.oracle import Context, Form
from grader.judge.seeds import seeded
from grader.judge.steps import Steps
from tests.judge.stage import candidate, content, failed, forms, labels, played

NO_SCALE = forms("v4", "no_scale")[0]


def told(played_one: Candidate) -> Form | None:
    explanation = Steps(played_one).explanation
    assert explanation is not None
    return replay(played_one, explanation)


def test_each_known_way_is_told_apart_beside_another_mistake() -> None:
    stage = content("v4")
    for form in stage.training:
        if form.label != "dropout_in_eval" and form.fits(stage.plan, stage.features):
            found = told(candidate("v4", NO_SCALE, form))
            assert found is not None
            assert found.label == form.label


def test_a_way_that_needs_an_output_layer_is_not_played_where_there_is_none() -> None:
    needing = [form for form in content("v4").training if "output_layer" in form.needs]
    assert needing
    once_more = Form("", {"drop": lambda c: c.but(weights=F.dropout(c.weights, c.rate / 2, c.training))})
    assert told(candidate("v4", NO_SCALE, once_more)) is None


def test_dropout_in_eval_is_right_in_training() -> None:
    found = told(candidate("v4", NO_SCALE, *forms("v4", "dropout_in_eval")))
    assert found is not None
    assert found.neutral


def test_right_dropout_beside_a_mistake_is_right() -> None:
    found = told(candidate("v4", NO_SCALE))
    assert found is not None
    assert found.neutral


def test_dropout_that_draws_in_its_own_way_is_left_to_the_instruments() -> None:
    """Right numbers, drawn one too late: nothing equals them, and the readings decide."""

    def late(c: Context) -> Context:
        torch.rand(())
        return c.but(weights=F.dropout(c.weights, c.rate, c.training))

    own = Form("", {"drop": late})
    assert told(candidate("v4", NO_SCALE, own)) is None
    grade = played("v4", NO_SCALE, own)
    assert labels(grade) == ("no_scale",)
    assert failed(grade) == {"scale"}


def test_nothing_is_told_where_forward_gives_nothing_in_training() -> None:
    crashing = Form("", {"drop": lambda c: c.but(weights=c.weights @ c.value.mT) if c.training else c})
    assert told(candidate("v4", NO_SCALE, crashing)) is None


def test_mistakes_in_values_and_in_training_are_both_named_where_the_values_hide_the_weights() -> None:
    """The values are the raw input: no setting of the value layer shows what was dropped."""
    raw = next(form for form in forms("v4", "projection_unused") if "raw input" in form.shows)
    for label in ("dropout_prob_inverted", "dropout_renormalised", "dropout_on_output", "missing_dropout"):
        for form in content("v4").training:
            if form.label == label and "project" not in form.steps:
                assert set(labels(played("v4", raw, form))) == {"projection_unused", label}


def test_a_seed_is_for_one_block_only() -> None:
    torch.manual_seed(1)
    with seeded(5):
        inside = torch.rand(3)
    outside = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(outside, torch.rand(3))
    with seeded(5):
        assert torch.equal(inside, torch.rand(3))
