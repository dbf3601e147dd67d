"""Dropout: on the weights, in training, at the rate, rescaled."""

from __future__ import annotations

from kata_content.common import lines
from kata_content.common.checks.preconditions import (
    require_lasting_layers,
    require_masked_output,
    require_some_output,
    unmeasured,
)
from kata_content.common.finders import random_eval

from grader.authoring import (
    Blame,
    Candidate,
    DropoutMeter,
    Finding,
    Labels,
    Steps,
    Variations,
    check,
    fail,
    line_of,
    require,
)


@check("dropout", why="Dropout is for training; at inference the same input must give the same output.")
def in_eval_mode_nothing_is_dropped(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    require_lasting_layers(blame)
    if candidate.eval_is_random:
        label, line = random_eval(blame)
        fail(
            "Two calls in eval mode give different outputs.",
            expected="model.eval() switches dropout off",
            actual="the output is still random",
            mistake=label,
            line=line,
        )
    steps.expect("dropout", "in eval mode the weights stay as they are", unmeasured)


@check(
    "dropout",
    why="Dropping attention weights, each kept one grown by 1/(1-p), is what regularises attention.",
)
def in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow(
    candidate: Candidate, dropout: DropoutMeter, blame: Blame, labels: Labels
) -> None:
    require_some_output(candidate)
    require_lasting_layers(blame)
    found = dropout.wrong
    if found is not None:
        label, sentence, fix = _named(candidate, dropout, found, blame)
        fail(
            sentence or (labels[label].sentence if label else f"In training {found.says}."),
            expected=f"each weight is dropped with p = {found.rate} and kept ones are multiplied by"
            f" {found.expected_factor:.3g}",
            actual=found.says or None,
            mistake=label,
            line=line_of(blame, label or "", "dropout"),
            sentence=sentence,
            fix=fix,
        )


def _named(
    candidate: Candidate, dropout: DropoutMeter, found: Finding, blame: Blame
) -> tuple[str | None, str, str]:
    """The label, where there is one, with sentence and fix where the calls tell more than the numbers."""
    label = found.mistake
    if found.replayed:
        return label, "", ""
    if label == "missing_dropout":
        if found.masked:
            return label, "Under a mask nothing is dropped in training; without one it is.", OUT_OF_THE_BRANCH
        if dropout.masked_is_random:
            return label, "Without a mask nothing is dropped in training; under one it is.", OUT_OF_THE_BRANCH
        return ("dropout_rate_ignored" if lines.drops_with_rate_zero(candidate) else label), "", ""
    early = lines.dropped_before_scores(blame) if label in FALLS_ELSEWHERE else None
    if early is not None:
        return (
            "dropout_on_output",
            f"You drop features of {early}; attention dropout belongs on the weights, so that whole"
            " tokens are left"
            " out of a query's view.",
            "",
        )
    if label == "dropout_before_softmax" and lines.drops_after_softmax(candidate):
        return None, "", ""  # the dropout stands where it should: training computes other weights
    return label, "", ""


@check("dropout", why="Dropping logits makes 0 · -inf = NaN and lets hidden keys back in.")
def in_training_hidden_keys_stay_hidden(candidate: Candidate, dropout: DropoutMeter) -> None:
    require_masked_output(candidate)
    require(
        dropout.hidden_stay_hidden,
        "In training mode with a mask, hidden keys come back or the output is NaN.",
        expected="hidden keys keep weight 0 in training",
        actual="a hidden key has weight, or a value is NaN",
        mistake=None if lines.drops_after_softmax(candidate) else "dropout_before_softmax",
    )


@check("mix", why="What the level does not ask for is not to be added, and random training is not attention.")
def nothing_is_dropped_in_any_mode(candidate: Candidate, variations: Variations, blame: Blame) -> None:
    """For the levels without dropout."""
    require_some_output(candidate)
    require_lasting_layers(blame)
    mode = "eval" if candidate.eval_is_random else "training"
    drops = lines.drops(blame) or blame.source.find_in_forward(r"[Dd]rop")
    require(
        not (candidate.eval_is_random or variations.drops_at_rate_zero),
        "Two calls on the same input give different outputs.",
        expected="the same output for the same input, in training as in eval mode",
        actual=f"another output at the second call, in {mode} mode",
        mistake=None if drops is None else "dropout_unasked",
        line=drops,
    )


# What a reading says where dropout does not fall on the weights.
FALLS_ELSEWHERE = (None, "dropout_on_output", "dropout_before_softmax", "dropout_renormalised")
OUT_OF_THE_BRANCH = "Take the dropout out of the branch: it falls on the weights with a mask and without one."
