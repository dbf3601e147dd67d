"""The gates: the whole output against the formula. They carry no points."""

from __future__ import annotations

import torch
from kata_content.common.checks.preconditions import require_some_output, steady_base

from grader.authoring import (
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Steps,
    Variations,
    apart,
    check,
    difference,
    fail,
    line_of,
    mistake_behind,
    problem_line,
    problem_text,
    require,
)


@check("end_to_end", why="Right on one example is luck; right on all of them is an answer.")
def the_output_equals_the_formula_on_every_probe(candidate: Candidate, blame: Blame) -> None:
    require_some_output(candidate)
    built = candidate.rig().built
    if candidate.signature.is_module and built is not None and not built.parameters:
        raise NotReached("the module has no parameters, so the formula's weights could not be set")
    layout = candidate.layout
    wrong = [
        seen
        for seen in candidate.observations
        if seen.output is None or layout is None or not candidate.reproduces(seen, layout)
    ]
    if wrong:
        fail(
            f"{len(wrong)} of {len(candidate.observations)} inputs give another output than the formula,"
            f" first on {wrong[0].drawn.says}.",
            expected=f"{candidate.family.formula} with the weights that the grader set",
            actual=difference(candidate, wrong[0]),
            line=line_of(blame, "", "end_to_end"),
            charges="mask" if all(seen.drawn.mask is not None for seen in wrong) else "mix",
        )


@check("end_to_end", why="What holds for one kind of input must hold for its neighbours.")
def unusual_inputs_give_the_formula_as_well(
    candidate: Candidate, steps: Steps, variations: Variations, blame: Blame
) -> None:
    require_some_output(candidate)
    if not steps.right or candidate.layout is None:
        raise NotReached("the output is not right on usual inputs")
    if any(seen.problem is not None for seen in candidate.observations):
        raise NotReached("forward does not run on all usual inputs")
    layout = candidate.layout
    wrong = [seen for seen in candidate.further if not candidate.reproduces(seen, layout)]
    if wrong:
        first = wrong[0]
        kinds = {seen.probe.mask.dtype for seen in wrong if seen.probe.mask is not None}
        by_dtype = len(kinds) and not kinds & {torch.bool, torch.int64} and not _nearly(candidate, first)
        happened = "another output than the formula."
        if first.problem is not None:
            happened = problem_text(candidate, first.problem)
        fail(
            f"On {first.drawn.says}: {happened}",
            expected=f"{candidate.family.formula} with the weights that the grader set",
            actual=difference(candidate, first),
            mistake="mask_dtype_assumed_bool" if by_dtype else _mistake_of_sizes(candidate, first),
            line=None if first.problem is None else problem_line(first.problem),
            charges="mask"
            if first.drawn.mask is not None
            else "mix"
            if first.problem is None
            else "interface",
        )
    strong = variations.strong_input.seen
    expected = candidate.expected(strong.drawn, layout)
    assert expected is not None
    require(
        strong.output is not None
        and strong.output.shape == expected.shape
        and torch.allclose(strong.output, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max())),
        "On inputs five times as large the output is not the formula's: large logits are cut or changed.",
        expected="softmax of the logits as they are",
        actual=difference(candidate, strong),
        line=line_of(blame, "", "end_to_end"),
        charges="softmax",
    )


def _nearly(candidate: Candidate, seen: Observation) -> bool:
    """Whether an output misses the formula by so little that the kind of mask is not the reason."""
    expected = None if candidate.layout is None else candidate.expected(seen.drawn, candidate.layout)
    if seen.output is None or expected is None or seen.output.shape != expected.shape:
        return False
    return float((seen.output - expected).abs().max()) < 1e-2


def _mistake_of_sizes(candidate: Candidate, seen: Observation) -> str | None:
    """What a crash on other sizes alone is called."""
    if not isinstance(seen.problem, Failure):
        return None
    return mistake_behind(seen.problem, candidate) or "hard_coded_sizes"


def _holds(name: str, candidate: Candidate, seen: Observation, variations: Variations) -> bool:
    """Whether a change of the input does to the output what this relation of the family says."""
    other = variations.related[name].seen
    if not candidate.has_right_shape(other):
        raise NotReached(f"forward gave no output of {candidate.shape_in_words}")
    assert seen.output is not None
    assert other.output is not None
    one, two = variations.relation(name).parts(seen.output, other.output)
    return torch.allclose(one, two, atol=1e-5, rtol=1e-4, equal_nan=True)


@check("end_to_end", why="Samples of a batch are strangers; one must not change another's output.")
def samples_of_a_batch_do_not_see_each_other(
    candidate: Candidate, variations: Variations, blame: Blame
) -> None:
    seen = steady_base(candidate)
    require(
        _holds("samples", candidate, seen, variations),
        "Changing the second sample changed the output of the first.",
        expected="each sample's output depends on that sample only",
        actual="the first sample's output moved",
        line=line_of(blame, "attends_across_batch", "scores"),
        charges="scores",
    )


@check("end_to_end", why="Self-attention without positions treats tokens as a set: reorder in, reorder out.")
def permuting_the_tokens_permutes_the_output(candidate: Candidate, variations: Variations) -> None:
    seen = steady_base(candidate)
    require(
        _holds("tokens", candidate, seen, variations),
        "Permuting the tokens of x did something else than permute the output.",
        expected="the same outputs in the new order",
        actual="other outputs",
        charges="scores",
    )


@check("end_to_end", why="Training computes the same attention; only dropout may differ.")
def training_without_dropout_gives_the_same_output(
    candidate: Candidate, variations: Variations, steps: Steps
) -> None:
    if candidate.kata.has_dropout and not candidate.takes_rate:
        raise NotReached(
            "the constructor takes no dropout rate, so dropout cannot be switched off in training"
        )
    pairs = [(candidate.observe(moved.probe), moved) for moved in candidate.in_training]
    outputs = [(one.output, other.output) for one, other in pairs]
    if any(one is None or other is None or one.shape != other.shape for one, other in outputs):
        raise NotReached("forward gave no output in one of the modes")
    if variations.drops_at_rate_zero:
        raise NotReached("training is random although nothing should be dropped; another check says why")
    at_rate = " at dropout rate 0" if candidate.kata.has_dropout else ""
    for still, moved in outputs:
        assert still is not None
        assert moved is not None
        if torch.allclose(still, moved, atol=1e-5, rtol=1e-4, equal_nan=True):
            continue
        form = steps.only_in_training
        shown = None if form is None else steps.words(form).shows
        fail(
            f"In training mode{at_rate} the output differs from eval mode"
            + (f": it is what you get when {shown}." if shown else "."),
            expected="the same output",
            actual=apart(moved, still),
            mistake=None if form is None else form.in_one_mode or None,
            charges="mix" if form is None else steps.concept_of(form),
        )


@check("end_to_end", why="The same input must give the same output in eval mode.")
def eval_mode_is_deterministic(candidate: Candidate, variations: Variations) -> None:
    require_some_output(candidate)
    if variations.keeps_something:
        raise NotReached("something that forward keeps changes the output from call to call")
    require(
        not candidate.eval_is_random,
        "Two calls in eval mode give different outputs.",
        expected="equal outputs",
        actual="the output is random",
        charges="mix",
    )
