"""What a check needs before it can say anything; without it the check is not reached."""

from __future__ import annotations

from grader.authoring import (
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Reading,
    Variations,
    fail,
    mistake_behind,
    problem_line,
    problem_text,
)


def steady_base(candidate: Candidate) -> Observation:
    seen = candidate.observe(candidate.standard_probes[0])
    if not candidate.has_right_shape(seen):
        raise NotReached(f"forward gave no output of {candidate.shape_in_words}")
    if candidate.still_random:
        raise NotReached("the output is random in eval mode")
    return seen


def require_call(candidate: Candidate, seen: Observation, expected: str, variations: Variations) -> None:
    if candidate.rig().problem is not None:
        raise NotReached("no instance could be built")
    if seen.problem is not None:
        label = mistake_behind(seen.problem, candidate)
        if label == "mask_fill_wrong_type":
            label = "mask_not_optional"  # no mask was given
        raised = isinstance(seen.problem, Failure)  # a hang says nothing of sizes
        vague = raised and label in (None, "transpose_wrong_axes")  # as sizes that do not fit look as well
        written = variations.runs_at_written_sizes() if vague else None
        fail(
            problem_text(candidate, seen.problem),
            expected=expected,
            actual=f"an error; it runs on x {written}, the sizes that the code spells out"
            if written
            else "an error",
            mistake="hard_coded_sizes" if written else label,
            line=problem_line(seen.problem),
        )


def require_some_output(candidate: Candidate) -> None:
    if not any(seen.output is not None for seen in candidate.observations):
        raise NotReached("forward never returned a tensor")


def require_masked_output(candidate: Candidate) -> None:
    if not any(seen.output is not None for seen in candidate.masked):
        raise NotReached("forward never returned a tensor under a mask")


def require_lasting_layers(blame: Blame) -> None:
    """A layer made anew at each call makes the output random, and dropout cannot be told from it."""
    if blame.fresh_layer() is not None:
        raise NotReached("a layer made anew at each call makes the output random")


def unmeasured() -> Reading:
    """Nothing is held against a concept that the outputs do not explain: other checks measure it."""
    return Reading(True, "")
