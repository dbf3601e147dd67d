"""The hidden checks of window, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks import functions
from kata_content.common.checks.end_to_end import samples_of_a_batch_do_not_see_each_other
from kata_content.common.checks.formula import (
    each_row_of_weights_sums_to_one,
    scores_compare_every_query_with_every_key,
    the_output_mixes_the_values_with_the_weights,
)
from kata_content.common.checks.functions import (
    a_call_changes_nothing_for_the_next,
    crash_label,
    inputs_are_left_alone,
    it_is_written_by_hand,
    require_one_tensor,
    the_function_returns_one_tensor,
    the_result_is_right_on_every_probe,
)
from kata_content.common.checks.preconditions import require_some_output
from kata_content.heads.checks import scores_are_divided_by_sqrt_head_dim
from kata_content.window.family import DOUBLE, over, sizes

from grader.authoring import (
    Asked,
    Blame,
    Candidate,
    Failure,
    GradientMeter,
    NotReached,
    Observation,
    Probe,
    Reading,
    Steps,
    XRay,
    check,
    fail,
    line_of,
    mistake_behind,
    problem_line,
    problem_text,
    require,
)

WIDE = Probe("doubles", sizes(2, 3, 9, 4), numbers=over(3), dtypes=DOUBLE)
HUGE = 300.0  # logits up to a thousand
LONG, SMALL = 96, 2  # more than four windows of all features
MEMORY = Probe("no_square", sizes(1, 1, LONG, 4), numbers=over(SMALL))


def _failed(candidate: Candidate) -> list[Observation]:
    return [seen for seen in candidate.observations if isinstance(seen.problem, Failure)]


def _reach(seen: Observation) -> int:
    """By how much the window exceeds the sequence."""
    return int(seen.probe.numbers["window"]) - seen.drawn.sizes["S"]


def _too_long_a_window(candidate: Candidate) -> list[Observation]:
    """The calls that fail, where only a window as long as the sequence, or longer, makes them."""
    failed = _failed(candidate)
    ran = [seen for seen in candidate.observations if seen.output is not None]
    if not failed or not ran:
        return []
    shortest = min(map(_reach, failed))
    return failed if shortest >= 0 and all(_reach(seen) < shortest for seen in ran) else []


@check("window", why="A cache of a few thousand keys is all there is: one key more or less is another model.")
def each_query_sees_its_window_and_nothing_else(candidate: Candidate, steps: Steps, xray: XRay) -> None:
    failed = _too_long_a_window(candidate)
    if failed:
        first = failed[0]
        assert first.problem is not None
        fail(
            f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
            expected="a window as long as the sequence, or longer, is causal attention",
            actual=f"{len(failed)} of {len(candidate.observations)} calls fail",
            mistake="window_larger_than_sequence",
            line=problem_line(first.problem),
        )
    base = candidate.family.base
    window = int(base.numbers["window"])

    def measure() -> Reading:
        found = xray.plain.actual
        counts = (found.abs() > 1e-6).sum(dim=-1)
        last = found[0, 0, -1].abs() > 1e-6
        keys = ", ".join(str(place) for place in last.nonzero().flatten().tolist())
        right = torch.arange(1, counts.shape[-1] + 1).clamp(max=window)
        fine = bool((counts == right).all()) and bool(found.triu(1).abs().max() == 0)
        return Reading(fine, f"with window {window} and {base.sizes['S']} tokens the last query sees {keys}")

    steps.expect("window", f"query i sees the keys i - {window - 1} to i", measure)


def _with_huge_logits(candidate: Candidate) -> tuple[Asked, ...]:
    """Logits up to a thousand, and the same with another key and value where only one row may look."""
    base = candidate.family.base
    before = candidate.draw(base.named("huge", sizes={**base.sizes, "B": 32}))
    query = HUGE * before.x
    key, value = (before.inputs[name].clone() for name in ("key", "value"))
    for tensor in (key, value):
        tensor[:, :, _middle(candidate)] = tensor[:, :, _middle(candidate)].flip(-1)
    first = before.but(query=query)
    return tuple(candidate.ask(candidate.rig(), one) for one in (first, first.but(key=key, value=value)))


def _middle(candidate: Candidate) -> int:
    return candidate.family.base.sizes["S"] // 2


@check(
    "window", why="A hidden key must have no weight at all, however large the scores.", asks=_with_huge_logits
)
def a_key_outside_of_the_window_changes_nothing(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    if not steps.right:
        raise NotReached("the result is not right on usual inputs")
    one, two = (call.seen.output for call in candidate.once(_with_huge_logits))
    if one is None or two is None:
        raise NotReached("there is no result for large logits")
    place, window = _middle(candidate), int(candidate.family.base.numbers["window"])
    outside = torch.ones(one.shape[-2], dtype=torch.bool)
    outside[place : place + window] = False
    moved = (one - two)[:, :, outside].abs().amax() > 1e-4 * one.abs().amax()
    if bool(moved):
        fail(
            "With logits up to a thousand, a key outside of a query's window changes its output.",
            expected="keys outside of the window have weight 0",
            actual="the output moved",
            mistake="mask_fill_too_weak",
            line=line_of(blame, "mask_fill_too_weak", "window"),
        )


def _unless_charged_elsewhere(candidate: Candidate, steps: Steps) -> None:
    if _too_long_a_window(candidate):
        raise NotReached("such windows raise, and that is charged there")
    if any(steps.explains_crash(seen) for seen in _failed(candidate)):
        raise NotReached("the mistake that was found makes such calls crash as well")


@check("interface", why="Sequences are of all lengths, and the window stays what it is.")
def it_runs_on_every_length_and_window(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    _unless_charged_elsewhere(candidate, steps)
    failed = [seen for seen in candidate.observations if seen.problem is not None]
    if failed:
        first = failed[0]
        assert first.problem is not None
        label = crash_label(candidate, first)
        fail(
            f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
            expected="any length and any window of 1 or more",
            actual=f"{len(failed)} of {len(candidate.observations)} calls fail",
            mistake="hard_coded_sizes" if label in (None, "transpose_wrong_axes") else label,
            line=problem_line(first.problem),
        )


@check("end_to_end", why="What holds for one kind of input must hold for its neighbours.")
def unusual_inputs_are_right_as_well(candidate: Candidate, steps: Steps) -> None:
    _unless_charged_elsewhere(candidate, steps)
    functions.unusual_inputs_are_right_as_well(candidate, steps)


def _in_double(candidate: Candidate) -> None:
    candidate.ask_probe(WIDE)


@check("interface", why="The next layer expects the dtype that it has itself.", asks=_in_double)
def a_result_has_the_dtype_of_the_query(candidate: Candidate, blame: Blame, steps: Steps) -> None:
    require_some_output(candidate)
    _unless_charged_elsewhere(candidate, steps)
    base = candidate.observe(candidate.family.base)
    for seen in (base, candidate.observe(WIDE)):
        require_one_tensor(candidate, seen, steps, blame)
        require(
            seen.dtype == seen.drawn.x.dtype,
            f"On {seen.drawn.says} the result has another dtype.",
            expected=str(seen.drawn.x.dtype),
            actual=str(seen.dtype),
            mistake="wrong_dtype",
            line=blame.last(),
        )


def _measured(candidate: Candidate) -> Asked:
    """A long sequence and a small window, with every new tensor counted."""
    return candidate.ask(candidate.rig(), candidate.draw(MEMORY), dispatch=True, below=True)


@check(
    "no_square",
    why="At 100,000 tokens the square has ten billion entries, and nearly all are hidden.",
    asks=_measured,
)
def nothing_as_large_as_the_square_is_made(candidate: Candidate, steps: Steps) -> None:
    if not steps.right:
        raise NotReached("the result is not right")
    called = candidate.once(_measured).seen.called
    if called is None:
        raise NotReached("the function did not run on a long sequence")
    require(
        called.largest < LONG * LONG,
        f"With {LONG} tokens and a window of {SMALL}, a tensor of {called.largest} numbers is made.",
        expected=f"fewer than {LONG}² = {LONG * LONG}",
        actual=f"{called.largest}",
        line=called.largest_line,
    )


@check("gradients", why="Values can be right while nothing, or something else, is learned.")
def gradients_are_those_of_the_formula(
    candidate: Candidate, gradients: GradientMeter, steps: Steps, blame: Blame
) -> None:
    if not steps.right:
        raise NotReached("the result is not right, so its gradient cannot be compared")
    called = gradients.seen.called
    if called is None:
        raise NotReached("the function did not run on tensors that want gradients")
    if called.backward is not None:
        fail(
            problem_text(candidate, called.backward),
            expected="a backward pass",
            actual="an error",
            mistake=mistake_behind(called.backward, candidate) or "inplace_breaks_backward",
            line=blame.in_place() or problem_line(called.backward),
        )
    lost = gradients.compared()
    if lost:
        what = ", ".join((*lost.missing, *lost.wrong))
        fail(
            f"No gradient, or not the right one, arrives at {what}.",
            expected="the gradient of the formula at query, key and value",
            actual=f"another one at {what}",
            mistake="gradient_detached" if lost.missing or blame.cuts() else None,
            line=blame.cut(),
        )


@check("side_effects", why="Queries, keys and values are read again, by the next layer or the next step.")
def the_inputs_stay_as_they_were(candidate: Candidate) -> None:
    inputs_are_left_alone(candidate, "mutates_input")


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_key_outside_of_the_window_changes_nothing",
    "a_result_has_the_dtype_of_the_query",
    "each_query_sees_its_window_and_nothing_else",
    "each_row_of_weights_sums_to_one",
    "gradients_are_those_of_the_formula",
    "it_is_written_by_hand",
    "it_runs_on_every_length_and_window",
    "nothing_as_large_as_the_square_is_made",
    "samples_of_a_batch_do_not_see_each_other",
    "scores_are_divided_by_sqrt_head_dim",
    "scores_compare_every_query_with_every_key",
    "the_function_returns_one_tensor",
    "the_inputs_stay_as_they_were",
    "the_output_mixes_the_values_with_the_weights",
    "the_result_is_right_on_every_probe",
    "unusual_inputs_are_right_as_well",
]
