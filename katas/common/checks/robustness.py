"""Optional: what right answers may survive and need not."""

from __future__ import annotations

from grader.authoring import (
    Candidate,
    NotReached,
    Steps,
    Variations,
    check,
    fail,
    problem_text,
    require,
)


@check(
    "robustness", why="Real batches hold sequences that are padding only; a NaN there spreads to everything."
)
def a_row_with_everything_hidden_stays_finite(variations: Variations) -> None:
    seen = variations.all_hidden.seen
    if seen.output is None:
        raise NotReached("forward does not run on such a mask")
    require(
        bool(seen.output.isfinite().all()),
        "A query whose keys are all hidden gives NaN. That is not wrong here, only fragile.",
        expected="finite numbers",
        actual="NaN",
        mistake=None,
    )


@check("robustness", why="Inference usually runs in half precision, where -1e9 does not fit.")
def it_runs_in_float16(candidate: Candidate, variations: Variations) -> None:
    if candidate.observe(candidate.standard_probes[0]).output is None:
        raise NotReached("forward does not run in float32 either")
    seen = variations.in_half.seen
    if seen.problem is not None or seen.output is None:
        text = "forward gave no tensor" if seen.problem is None else problem_text(candidate, seen.problem)
        fail("In float16: " + text, expected="a float16 output", actual="an error")
    require(
        bool(seen.output.float().isfinite().all()),
        "In float16 the output is not finite.",
        expected="finite numbers",
        actual="inf or NaN",
    )


@check("robustness", why="Large logits overflow a softmax that does not subtract the row maximum.")
def large_logits_stay_finite(variations: Variations, steps: Steps) -> None:
    if steps.is_wrong_at("normalise"):
        return  # what a wrong softmax makes of large logits is charged there
    seen = variations.large_input.seen
    if seen.output is None:
        raise NotReached("forward does not run on large inputs")
    require(
        bool(seen.output.isfinite().all()),
        "Large logits give inf or NaN.",
        expected="finite numbers, as softmax gives that subtracts the row maximum before exp",
        actual="inf or NaN",
    )
