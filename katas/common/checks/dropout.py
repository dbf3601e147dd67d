"""Dropout: on the weights, in training, at the rate, rescaled."""

from __future__ import annotations

from kata_content.common.checks.premises import (
    require_lasting_layers,
    require_masked_output,
    require_some_output,
)

from grader.authoring import (
    Blame,
    Candidate,
    DropoutMeter,
    Labels,
    Reading,
    Steps,
    Variations,
    check,
    fail,
    require,
)


@check("dropout", why="Dropout is for training; at inference the same input must give the same output.")
def in_eval_mode_nothing_is_dropped(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    require_lasting_layers(blame)
    if candidate.eval_is_random:
        label, line = blame.random_eval()
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
        label = found.mistake if found.replayed or not blame.drops_something_else() else None
        if label == "missing_dropout" and blame.drops_with_rate_zero():
            label = "dropout_rate_ignored"
        if label == "dropout_before_softmax" and not found.replayed and blame.drops_after_softmax():
            label = None  # the dropout stands where it should: training computes other weights
        fail(
            f"In training {found.says}." if label is None else labels[label].sentence,
            expected=f"each weight is dropped with p = {found.rate} and kept ones are multiplied by"
            f" {found.expected_factor:.3g}",
            actual=found.says or None,
            mistake=label,
            line=blame.line_of(label or "", "dropout"),
        )


@check("dropout", why="Dropping logits makes 0 · -inf = NaN and lets hidden keys back in.")
def in_training_hidden_keys_stay_hidden(candidate: Candidate, dropout: DropoutMeter, blame: Blame) -> None:
    require_masked_output(candidate)
    require(
        dropout.hidden_stay_hidden,
        "In training mode with a mask, hidden keys come back or the output is NaN.",
        expected="hidden keys keep weight 0 in training",
        actual="a hidden key has weight, or a value is NaN",
        mistake=None if blame.drops_after_softmax() else "dropout_before_softmax",
    )


@check("mix", why="What the level does not ask for is not to be added, and random training is not attention.")
def nothing_is_dropped_in_any_mode(candidate: Candidate, variations: Variations, blame: Blame) -> None:
    """For the levels without dropout."""
    require_some_output(candidate)
    require_lasting_layers(blame)
    drops = blame.drops()
    require(
        not (candidate.eval_is_random or variations.drops_at_rate_zero),
        "The output is random: two calls on the same input give different ones.",
        expected="the same output for the same input, in training as in eval mode",
        actual="random in eval mode" if candidate.eval_is_random else "random in training mode",
        mistake=None if drops is None else "dropout_unasked",
        line=drops,
    )


def unmeasured() -> Reading:
    """What the outputs do not explain, the other checks of dropout measure."""
    return Reading(True, "")
