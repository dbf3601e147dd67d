"""The hidden checks of padding, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks.functions import (
    a_call_changes_nothing_for_the_next,
    inputs_are_left_alone,
    require_one_tensor,
    the_result_is_right_on_every_probe,
    unusual_inputs_are_right_as_well,
)
from kata_content.common.checks.preconditions import require_some_output

from grader.authoring import (
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Steps,
    check,
    fail,
    mistake_behind,
    problem_line,
    problem_text,
)

# Labels whose mistake is one of the shape or of the samples, and not of what is visible.
SHAPES = frozenset({"mask_not_expanded", "mask_wrong_broadcast_4d"})
SAMPLES = frozenset({"padding_samples_interleaved", "padding_first_sample_for_all"})
ADDITIVE = r"inf|\de\d|1e\d|finfo|\.log\(|-\s?\d{4,}"


def _found(steps: Steps) -> frozenset[str]:
    return frozenset(steps.explanation.labels) if steps.explanation is not None else frozenset()


@check("interface", why="Code that reads the number of queries from the mask finds what you gave it.")
def the_result_has_three_axes_in_full_size(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    first = candidate.observations[0]
    if first.problem is not None and all(seen.problem is not None for seen in candidate.observations):
        _crashed(candidate, [first])
    for seen in candidate.observations:
        if seen.problem is None:
            require_one_tensor(candidate, seen, steps, blame)
    if steps.explanation is not None:
        steps.expect("interface", "(batch, seq_len, seq_len), three axes in full size")
    wrong = [seen for seen in candidate.observations if seen.output is not None]
    wrong = [seen for seen in wrong if not candidate.has_right_shape(seen)]
    if wrong:
        assert wrong[0].output is not None
        fail(
            f"On {wrong[0].drawn.says} the result has another shape.",
            expected=f"shape {candidate.output_shape(wrong[0].drawn)}",
            actual=f"shape {tuple(wrong[0].output.shape)}",
            mistake=_mistake_of_shape(candidate, wrong),
            line=blame.last(),
        )


def _mistake_of_shape(candidate: Candidate, wrong: list[Observation]) -> str | None:
    """What a shape that is wrong on some inputs only is called."""
    shapes = {tuple(seen.output.shape) for seen in wrong if seen.output is not None}
    if {seen.drawn.sizes["B"] for seen in wrong} == {1} and {len(shape) for shape in shapes} == {2}:
        return "squeezes_batch"
    fixed = {shape[1] for shape in shapes if len(shape) == 3}
    ran = any(candidate.has_right_shape(seen) for seen in candidate.observations)
    return "hard_coded_sizes" if ran or len(fixed) == 1 else None


def _crashed(candidate: Candidate, failed: list[Observation]) -> None:
    first = failed[0]
    assert first.problem is not None
    label = mistake_behind(first.problem, candidate)
    if isinstance(first.problem, Failure) and first.problem.type in ("RuntimeError", "IndexError"):
        reshaped = "is invalid for input of size" in first.problem.text
        if label in (None, "hard_coded_sizes"):
            label = "key_mask_not_expanded" if reshaped else "hard_coded_sizes"
    fail(
        f"On {first.drawn.says}: " + problem_text(candidate, first.problem),
        expected="(batch, seq_len, seq_len) for any batch size and length",
        actual="an error",
        mistake=label,
        line=problem_line(first.problem),
    )


@check("interface", why="The first batch of another size, often the last of an epoch, brings the run down.")
def every_batch_size_and_length_runs(candidate: Candidate) -> None:
    usual = [seen for seen in candidate.observations if seen.probe.mask is not None]
    ran = [seen for seen in usual if seen.problem is None]
    failed = [seen for seen in usual if seen.problem is not None]
    kinds = {seen.drawn.x.dtype for seen in failed}
    if not failed or not ran or not kinds & {seen.drawn.x.dtype for seen in ran}:
        return
    sizes = {(seen.drawn.sizes["B"], seen.drawn.sizes["S"]) for seen in failed}
    if not sizes <= {(seen.drawn.sizes["B"], seen.drawn.sizes["S"]) for seen in ran}:
        _crashed(candidate, failed)


@check("mask", why="Padding must not be read, and a padded query does no harm by looking.")
def a_column_is_visible_exactly_where_its_token_is_real(
    candidate: Candidate, steps: Steps, blame: Blame
) -> None:
    require_some_output(candidate)
    found = _found(steps)
    if "mask_inverted" in found and blame.source.find(ADDITIVE) is not None:
        fail(
            candidate.content.labels["returns_additive_mask"].sentence,
            expected="nonzero is visible, 0 is hidden",
            actual="0 is visible, and what is hidden is a large negative number",
            mistake="returns_additive_mask",
            line=blame.source.find(ADDITIVE),
        )
    if found & (SHAPES | SAMPLES):
        raise NotReached("the shape or the samples are wrong, and that is charged there")
    steps.expect("mask", "[b, i, j] is nonzero exactly where token j of sample b is real")


@check("samples", why="The padding of one sample must not hide the words of another.")
def each_sample_keeps_its_own_padding(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect("samples", "sample b of the result is made of sample b of the mask")


@check("dtypes", why="Tokenizers hand out integers, examples use bool, and models cast to float.")
def every_dtype_of_zeros_and_ones_is_accepted(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    layout = candidate.layout or candidate.likely_layout
    assert layout is not None
    right: dict[torch.dtype, list[tuple[bool, Observation]]] = {}
    for seen in candidate.observations:
        fine = seen.output is not None and candidate.reproduces(seen, layout)
        right.setdefault(seen.drawn.x.dtype, []).append((fine, seen))
    good = {dtype for dtype, found in right.items() if all(fine for fine, _ in found)}
    if not good:
        raise NotReached("the result is right for no kind of mask")
    bad = {
        dtype: next(seen for fine, seen in found if not fine)
        for dtype, found in right.items()
        if not any(fine for fine, _ in found)
    }
    if not bad:
        return
    seen = next(iter(bad.values()))
    fail(
        f"On {seen.drawn.says}: "
        + (problem_text(candidate, seen.problem) if seen.problem is not None else "another result."),
        expected="int64, int32, uint8, bool and float32, with zeros and ones",
        actual=f"right for {', '.join(sorted(str(kind).removeprefix('torch.') for kind in good))} only",
        mistake="mask_dtype_assumed_bool",
        line=problem_line(seen.problem) if seen.problem is not None else blame.last(),
    )


@check("side_effects", why="One mask serves the attention, the loss and the pooling.")
def the_mask_stays_as_it_was(candidate: Candidate) -> None:
    inputs_are_left_alone(candidate, "mutates_mask_argument")


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_column_is_visible_exactly_where_its_token_is_real",
    "each_sample_keeps_its_own_padding",
    "every_batch_size_and_length_runs",
    "every_dtype_of_zeros_and_ones_is_accepted",
    "the_mask_stays_as_it_was",
    "the_result_has_three_axes_in_full_size",
    "the_result_is_right_on_every_probe",
    "unusual_inputs_are_right_as_well",
]
