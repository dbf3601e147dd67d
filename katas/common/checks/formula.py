"""The steps of attention that every level has, one check each."""

from __future__ import annotations

import math

from grader.authoring import (
    Blame,
    Candidate,
    Reading,
    Steps,
    XRay,
    check,
    fail,
)


@check("projections", why="Three roles need three maps; one map for two roles ties what should be free.")
def query_key_and_value_come_from_their_own_projections(steps: Steps) -> None:
    steps.expect("projections", "query, key and value from their own layers, and no other layer in between")


@check("scores", why="Attention is a comparison of every query with every key.")
def scores_compare_every_query_with_every_key(steps: Steps) -> None:
    steps.expect("scores", "scores = query @ key.transpose(-2, -1), shape (batch, seq_len, seq_len)")


@check("scale", why="Without 1/√d the logits grow with the width and softmax saturates, so gradients die.")
def scores_are_divided_by_sqrt_hidden_dim(candidate: Candidate, steps: Steps, xray: XRay) -> None:
    width = candidate.sizes["D"]
    root = math.sqrt(width)

    def measure() -> Reading:
        divisor = xray.divisor
        return Reading(math.isclose(divisor, root, rel_tol=1e-3), f"scores are divided by {divisor:.4g}")

    steps.expect("scale", f"scores are divided by √hidden_dim = √{width} = {root:.4g}", measure)


@check("softmax", why="Each query hands out exactly one unit of attention over the keys.")
def each_row_of_weights_sums_to_one(steps: Steps, xray: XRay) -> None:
    def measure() -> Reading:
        sums = xray.plain.actual.sum(dim=-1)
        low, high = float(sums.min()), float(sums.max())
        right = bool(((sums - 1).abs() < 1e-3).all()) and bool((xray.plain.actual >= -1e-6).all())
        return Reading(right, f"the rows of the attention weights sum to {low:.3g} … {high:.3g}")

    steps.expect("softmax", "softmax over the keys (dim=-1): every row sums to 1", measure)


@check("mix", why="The output of a position is the weighted mean of the values, and nothing else.")
def the_output_mixes_the_values_with_the_weights(steps: Steps) -> None:
    steps.expect("mix", "output = weights @ value, nothing added and nothing lost")


@check(
    "output", why="The output projection maps the mixed values back; forgetting the call leaves it untrained."
)
def the_output_projection_is_applied_last(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    layout = candidate.likely_layout
    if layout is not None and "output" not in layout.slots and steps.right:
        fail(
            "There is no output projection. The attention itself is right.",
            expected="return self.output_proj(mixed)",
            actual="the mixed values are returned as they are",
            mistake="no_output_proj",
            line=blame.last(),
            required=False,
        )
    steps.expect("output", "the mixed values go through the output projection")
