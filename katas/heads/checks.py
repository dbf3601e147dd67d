"""What is checked of every kata with several heads, beside what one head is checked for."""

from __future__ import annotations

import math

from kata_content.common.checks.preconditions import require_some_output

from grader.authoring import (
    Blame,
    Candidate,
    Failure,
    NotReached,
    Probe,
    Reading,
    Steps,
    XRay,
    check,
    fail,
    require,
)

UNDIVIDED = {"D": 10, "H": 4, "G": 2}  # of groups in gqa alone


@check("heads", why="Each head must see every token, in features of its own; the join must undo the cut.")
def heads_are_cut_from_features_and_joined_again(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    found = _layers_of_another_shape(candidate, blame)
    if found is not None and candidate.layout is None:
        label, actual = found
        concept = candidate.content.labels[label].concept
        if concept == "heads":
            fail(
                f"The layers do not have the shapes of heads: {actual}.",
                expected="num_heads heads of head_dim features, side by side",
                actual=actual,
                mistake=label,
                line=blame.source.find(r"nn\.(Linear|Parameter)"),
            )
    steps.expect(
        "heads", "(batch, length, num_heads, head_dim), its middle axes exchanged, and back at the end"
    )


@check(
    "projections", why="A head that reads a slice of x, through a layer that all heads share, cannot choose."
)
def each_head_projects_the_whole_token(candidate: Candidate, blame: Blame) -> None:
    require_some_output(candidate)
    found = _layers_of_another_shape(candidate, blame)
    if found is not None and candidate.content.labels[found[0]].concept == "projections":
        fail(
            f"The layers do not have the shapes of projections: {found[1]}.",
            expected="query, key and value projections that read hidden_dim features",
            actual=found[1],
            mistake=found[0],
            line=blame.source.find(r"nn\.(Linear|Parameter)"),
        )


def _layers_of_another_shape(candidate: Candidate, blame: Blame) -> tuple[str, str] | None:
    """The mistake that the shapes of the weights give away, and what they are."""
    built = candidate.rig().built
    if built is None:
        return None
    sizes = candidate.sizes
    heads, width, narrow = sizes["H"], sizes["D"], sizes["d"]
    shapes = [info.shape for info in built.parameters if len(info.shape) == 2]
    if shapes.count((narrow, narrow)) >= 3:
        return (
            "per_head_projection_shared",
            f"{shapes.count((narrow, narrow))} weights are {narrow} by {narrow}",
        )
    if shapes.count((width, width)) > 3 * heads - 1:
        averaged = blame.source.find_in_forward(r"mean\(|/\s{0,3}(len\(|self\.\w{0,20}head)")
        label = "heads_averaged" if averaged is not None else "heads_summed"
        return (
            label,
            f"{shapes.count((width, width))} weights are {width} by {width}, so each head is hidden_dim wide",
        )
    return None


@check("scale", why="Without 1/√d the logits grow with the width and softmax saturates, so gradients die.")
def scores_are_divided_by_sqrt_head_dim(candidate: Candidate, steps: Steps, xray: XRay) -> None:
    width = candidate.sizes["d"]
    root = math.sqrt(width)

    def measure() -> Reading:
        divisor = xray.divisor
        return Reading(math.isclose(divisor, root, rel_tol=1e-3), f"scores are divided by {divisor:.4g}")

    steps.expect("scale", f"scores are divided by √head_dim = √{width} = {root:.4g}", measure)


@check("output", why="Side by side, heads write into separate features; the output projection mixes them.")
def the_joined_heads_pass_through_the_output_projection(
    candidate: Candidate, steps: Steps, blame: Blame
) -> None:
    layout = candidate.likely_layout
    if layout is not None and "output" not in layout.slots and steps.right:
        fail(
            "There is no output projection. The attention itself is right.",
            expected="return self.output_proj(joined)",
            actual="the heads are returned side by side",
            mistake="no_output_proj",
            line=blame.last(),
        )
    steps.expect("output", "the heads, side by side, go through the output projection")


def _with_undivided_width(candidate: Candidate) -> None:
    candidate.build_ahead({**candidate.family.base.sizes, **UNDIVIDED})


@check(
    "divisible",
    why="An error that names the two numbers is found by the one who chose them.",
    asks=_with_undivided_width,
)
def a_width_that_the_heads_do_not_divide_is_refused(candidate: Candidate) -> None:
    if candidate.rig().problem is not None:
        raise NotReached("no instance could be built")
    problem = candidate.rig({**candidate.family.base.sizes, **UNDIVIDED}).problem
    require(
        isinstance(problem, Failure) and problem.type in ("ValueError", "AssertionError"),
        f"hidden_dim {UNDIVIDED['D']} with {UNDIVIDED['H']} heads is accepted by the constructor."
        if problem is None
        else "hidden_dim 10 with 4 heads ends in an error that does not say what is wrong.",
        expected="a ValueError or an AssertionError in __init__",
        actual="an instance" if problem is None else getattr(problem, "type", "no answer"),
    )


def shared_by_all(candidate: Candidate, probe: Probe) -> None:
    """A mask without a batch axis hides the same as one with it."""
    if candidate.layout is None:
        raise NotReached("the output is not right under usual masks")
    seen = candidate.observe(probe)
    require(
        candidate.reproduces(seen, candidate.layout),
        f"On {seen.drawn.says} it does not give the formula.",
        expected="the same mask for every sample and head",
        actual="another output" if seen.problem is None else "an error",
    )
