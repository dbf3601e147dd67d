"""The hidden checks of softmax, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks.functions import (
    a_call_changes_nothing_for_the_next,
    crash_label,
    inputs_are_left_alone,
    it_is_written_by_hand,
    require_one_tensor,
    the_function_returns_one_tensor,
    the_result_is_right_on_every_probe,
    unusual_inputs_are_right_as_well,
)
from kata_content.common.checks.preconditions import require_some_output
from kata_content.softmax.family import SIZES, along
from torch import Tensor

from grader.authoring import (
    Asked,
    Blame,
    Candidate,
    NotReached,
    Observation,
    Probe,
    Steps,
    apart,
    check,
    fail,
    problem_line,
    problem_text,
    require,
)

# How far a right answer may be off: by a log-sum-exp of logits of 10⁴, by rounding each step in half types.
TOLERANCE = {torch.float32: 4e-3, torch.float64: 1e-6, torch.float16: 6e-3, torch.bfloat16: 3e-2}
HUGE = 1e4
POSITIONS = r"argmax|\.indices|_\s{0,2},\s{0,2}\w{1,30}\s{0,2}=[^\n]{0,60}max\("


def _spread(logits: Tensor) -> Tensor:
    """Entries of every row up to 10⁴ apart, and rows too."""
    return HUGE * torch.linspace(-1, 1, logits.numel()).reshape(logits.shape).roll(5, dims=-1) + logits


def _within_four(logits: Tensor) -> Tensor:
    return logits.clamp(-2.0, 2.0) * 2.0


KINDS = tuple(
    along(str(dtype).removeprefix("torch."), 1, dtypes={"logits": dtype}, change={"logits": _within_four})
    for dtype in (torch.float64, torch.float16, torch.bfloat16)
)
VAST = (
    along("vast", 1, change={"logits": _spread}),
    along("vast_default", None, change={"logits": lambda logits: logits + HUGE}),
    along("vast_below", 0, change={"logits": lambda logits: logits - HUGE}),
)


def _expected(seen: Observation) -> Tensor:
    """Softmax of the input, in float64."""
    logits = seen.drawn.inputs["logits"]
    return torch.softmax(logits.double(), int(seen.probe.numbers.get("dim", -1)))


def _of_every_kind(candidate: Candidate) -> None:
    for probe in KINDS:
        candidate.ask_probe(probe)


@check("interface", why="The next layer expects the dtype that it has itself.", asks=_of_every_kind)
def every_floating_dtype_comes_back_as_it_went_in(candidate: Candidate, blame: Blame, steps: Steps) -> None:
    require_some_output(candidate)
    for probe in KINDS:
        seen = candidate.observe(probe)
        require_one_tensor(candidate, seen, steps, blame)
        require(
            seen.dtype == seen.drawn.x.dtype,
            f"On {seen.drawn.says} the result has another dtype.",
            expected=str(seen.drawn.x.dtype),
            actual=str(seen.dtype),
            mistake="softmax_dtype_changed",
            line=blame.last(),
        )
        if steps.right:
            _within_tolerance(seen)


def _within_tolerance(seen: Observation) -> None:
    assert seen.output is not None
    right = _expected(seen)
    found = seen.output.double()
    if found.shape != right.shape:
        return
    require(
        bool(((found - right).abs() <= TOLERANCE[seen.drawn.x.dtype]).all()),
        f"On {seen.drawn.says} the result is not exact enough.",
        expected=f"at most {TOLERANCE[seen.drawn.x.dtype]:g} off",
        actual=apart(found, right),
    )


@check("axis", why="An axis that is not the one asked for goes unnoticed on square tensors.")
def the_result_sums_to_one_along_dim(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    ranks = _right_ranks(candidate)
    if steps.explanation is None and len(ranks) == 1:
        fail(
            f"It is right for tensors of {ranks.pop()} axes, and for no others.",
            expected="any number of axes",
            mistake="rank_hard_coded",
        )
    steps.expect("axis", "exponentials over their sum along `dim`, with the axis kept")


def _right_ranks(candidate: Candidate) -> set[int]:
    """The numbers of axes for which every call gave the right result."""
    layout = candidate.likely_layout
    found: dict[int, list[bool]] = {}
    for seen in candidate.observations:
        if seen.probe.stage == 0 and layout is not None:
            found.setdefault(seen.drawn.x.dim(), []).append(candidate.reproduces(seen, layout))
    return {rank for rank, right in found.items() if all(right)}


@check("axis", why="Scores have four axes, a classifier's logits two, and -1 is the axis used most.")
def every_rank_and_every_axis_runs(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    failed = [seen for seen in candidate.observations if seen.problem is not None]
    if failed:
        if steps.explanation is not None and any(steps.explains_crash(seen) for seen in failed):
            raise NotReached("the mistake that was found makes such calls crash as well")
        _fail_on(candidate, failed, candidate.observations)


def _fail_on(candidate: Candidate, failed: list[Observation], observed: tuple[Observation, ...]) -> None:
    first = failed[0]
    assert first.problem is not None
    ranks = {seen.drawn.x.dim() for seen in observed if seen.problem is None}
    negative = [int(seen.probe.numbers.get("dim", -1)) < 0 for seen in failed]
    label = crash_label(candidate, first)
    if label in (None, "transpose_wrong_axes", "hard_coded_sizes"):
        if ranks and all(negative):
            label = "negative_dim_unsupported"
        elif len(ranks) == 1:
            label = "rank_hard_coded"
    fail(
        f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
        expected="any number of axes, and any of them",
        actual=f"{len(failed)} of {len(observed)} calls fail",
        mistake=label,
        line=problem_line(first.problem),
    )


def _far_apart(candidate: Candidate) -> None:
    for probe in VAST:
        candidate.ask_probe(probe)


@check(
    "stability",
    why="exp overflows at 89 in float32, and logits of a real model go far beyond.",
    asks=_far_apart,
)
def large_and_distant_logits_are_safe(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    line = blame.source.find(POSITIONS)
    if steps.explanation is not None and steps.explanation.labels == ("softmax_no_max",) and line is not None:
        fail(
            "The position of the maximum is taken away instead of its value.",
            expected="the row's maximum taken away first",
            actual="inf or NaN",
            mistake="max_returns_pair",
            line=line,
        )
    steps.expect("stability", "the row's maximum taken away first, so that no exponent is above 0")
    if not steps.right:
        return
    for probe in VAST:
        seen = candidate.observe(probe)
        require(
            seen.output is not None,
            f"On {seen.drawn.says}, with logits of ten thousand, there is no result.",
            expected="a result without inf or NaN",
        )
        _within_tolerance(seen)


@check("exponentials", why="Only exponentials over their sum are softmax; anything else has other weights.")
def it_is_exponentials_over_their_sum(steps: Steps) -> None:
    steps.expect("exponentials", "exp(logits) over its sum, without a factor")


GRADIENTS = (
    Probe("gradients", SIZES, numbers={"dim": 1}),
    Probe("gradients_last", SIZES, numbers={"dim": -1}),
)


def _backward(candidate: Candidate) -> tuple[tuple[Asked, Tensor], ...]:
    """The calls whose gradients are compared, each with what goes back."""
    calls = []
    for probe in GRADIENTS:
        drawn = candidate.draw(probe)
        generator = torch.Generator().manual_seed(candidate.seed ^ 0xC07A)
        back = torch.randn(drawn.x.shape, generator=generator)
        calls.append((candidate.ask(candidate.rig(), drawn, cotangent=back), back))
    return tuple(calls)


@check(
    "gradients",
    why="A sum that is detached has the right values and trains something else.",
    asks=_backward,
)
def gradients_are_those_of_softmax(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    if not steps.right:
        raise NotReached("the result is not right, so its gradient cannot be compared")
    for asked, back in candidate.once(_backward):
        seen = asked.seen
        if seen.called is None or seen.output is None:
            raise NotReached("the function did not run on logits that want gradients")
        logits = seen.drawn.x.clone().requires_grad_()
        torch.softmax(logits, int(seen.probe.numbers["dim"])).backward(back)
        found = seen.gradients.get("logits")
        if seen.called.backward is not None or found is None:
            fail(
                "No gradient arrives at the logits."
                if seen.called.backward is None
                else problem_text(candidate, seen.called.backward),
                expected="the gradient of softmax",
                actual="none",
                mistake="gradient_detached" if seen.called.backward is None else "inplace_breaks_backward",
                line=blame.cut(),
            )
        assert logits.grad is not None
        require(
            torch.allclose(found, logits.grad, rtol=2e-3, atol=2e-4),
            "The values are right and the gradient at the logits is not.",
            expected="p · (g - Σ p g)",
            actual=apart(found, logits.grad),
            mistake="gradient_detached",
            line=blame.cut(),
        )


@check("side_effects", why="Logits are read again, by a loss or a second head.")
def the_logits_stay_as_they_were(candidate: Candidate) -> None:
    inputs_are_left_alone(candidate, "mutates_input")


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "every_floating_dtype_comes_back_as_it_went_in",
    "every_rank_and_every_axis_runs",
    "gradients_are_those_of_softmax",
    "it_is_exponentials_over_their_sum",
    "it_is_written_by_hand",
    "large_and_distant_logits_are_safe",
    "the_function_returns_one_tensor",
    "the_logits_stay_as_they_were",
    "the_result_is_right_on_every_probe",
    "the_result_sums_to_one_along_dim",
    "unusual_inputs_are_right_as_well",
]
