"""Masks: what is hidden gets nothing, in every dtype and shape."""

from __future__ import annotations

import torch
from kata_content.common import lines
from kata_content.common.checks.preconditions import require_masked_output

from grader.authoring import (
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Reading,
    Steps,
    XRay,
    check,
    fail,
    mistake_behind,
    no_tensor,
    problem_line,
    problem_text,
    require,
)


@check("mask", why="A hidden key must not leak at all: -∞ before softmax leaves exactly nothing.")
def hidden_keys_get_weight_exactly_zero(candidate: Candidate, steps: Steps, xray: XRay, blame: Blame) -> None:
    def measure() -> Reading:
        found = xray.masked
        assert found.visible is not None
        leak = float(found.actual[~found.visible].abs().nan_to_num().max())
        sums = found.actual.sum(dim=-1)
        if leak > 0:
            return Reading(False, f"hidden keys get weights up to {leak:.3g}")
        lost = int(sums.isnan().sum())
        if lost:
            return Reading(False, f"{lost} of {sums.numel()} rows are NaN under the mask")
        fine = bool(((sums - 1).abs() < 1e-3).all())
        return Reading(fine, f"rows sum to {float(sums.min()):.3g} … {float(sums.max()):.3g} under the mask")

    require_masked_output(candidate)
    steps.expect("mask", "a key with mask 0 gets weight 0, and the rest of the row sums to 1", measure)
    if steps.right:
        reading = measure()
        require(
            reading.holds,
            "Hidden keys still get a little weight.",
            expected="exactly 0",
            actual=reading.actual,
            mistake="mask_fill_too_weak",
            line=lines.mask(blame),
        )


@check("mask", why="Masks come as bool, integers or floats, and in every shape that broadcasts.")
def every_kind_of_mask_is_accepted(candidate: Candidate, blame: Blame, steps: Steps) -> None:
    if not any(seen.output is not None for seen in candidate.unmasked):
        raise NotReached("forward does not run without a mask either")
    failed = [seen for seen in candidate.masked if seen.problem is not None]
    if any(seen.problem is not None for seen in candidate.unmasked):
        base = candidate.unmasked[0].drawn.x.shape  # other sizes of x crash by themselves
        failed = [seen for seen in failed if seen.drawn.x.shape == base]
    if not failed:
        return
    first = failed[0]
    assert first.problem is not None
    if steps.explains_crash(first):
        raise NotReached("the mistake that was found makes such masks crash as well")
    fail(
        f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
        expected="bool, int and float masks of shape (B,S,S), (B,1,S), (1,S,S) and (S,S), 0 = hidden",
        actual=_what_fails(failed, len(candidate.masked)),
        mistake=mask_mistake(candidate, failed) or mistake_behind(first.problem, candidate),
        line=problem_line(first.problem) or blame.last(),
    )


@check("mask", why="Most calls have no mask; None must mean that everything is visible.")
def a_call_without_a_mask_works(candidate: Candidate) -> None:
    first = candidate.unmasked[0]
    ran_masked = any(seen.output is not None for seen in candidate.masked)
    if ran_masked and (first.problem is not None or first.output is None):
        only_here = any(seen.output is not None for seen in candidate.unmasked)
        text = no_tensor(first) if first.problem is None else problem_text(candidate, first.problem)
        fail(
            "forward(x) without a mask: " + text,
            expected="attention_mask=None means that every key is visible",
            mistake=_without_mask_mistake(candidate, first, only_here=only_here),
            line=None if first.problem is None else problem_line(first.problem),
        )


def _without_mask_mistake(candidate: Candidate, seen: Observation, *, only_here: bool) -> str:
    if only_here:
        return "hard_coded_sizes"
    named = mistake_behind(seen.problem, candidate) if seen.problem is not None else None
    if named in ("name_error_unbound_variable", "attribute_error_wrong_self_name", "api_typo"):
        return named
    return "returns_none_without_mask" if seen.problem is None else "mask_not_optional"


def mask_mistake(candidate: Candidate, failed: list[Observation]) -> str | None:
    """The label behind crashes that depend on the mask's dtype or shape; a hang says nothing of either."""
    if not isinstance(failed[0].problem, Failure):
        return None
    specs = [seen.probe.mask for seen in failed if seen.probe.mask is not None]
    names = {spec.dtype for spec in specs}
    shapes = {spec.axes for spec in specs}
    every = len(failed) == len(candidate.masked)
    first = failed[0].problem
    label = mistake_behind(first, candidate) if first is not None else None
    if not every and torch.bool not in names:
        return "mask_dtype_assumed_bool"
    if every and not candidate.accepts_mask:
        return "mask_ignored"
    if not every and "B S S" not in shapes:
        return "key_mask_not_expanded"
    if names == {torch.bool}:
        return None
    typed = isinstance(first, Failure) and first.type == "TypeError"
    return "mask_fill_wrong_type" if every and typed and label in (None, "mask_not_optional") else label


def _what_fails(failed: list[Observation], total: int) -> str:
    masks = [seen.drawn.mask for seen in failed if seen.drawn.mask is not None]
    kinds = sorted({f"{tuple(mask.shape)} {str(mask.dtype).removeprefix('torch.')}" for mask in masks})
    return f"{len(failed)} of {total} masks crash" + (
        f": {', '.join(kinds[:4])}" if len(failed) < total else ""
    )
