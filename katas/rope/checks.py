"""The hidden checks of rope, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks.functions import (
    a_call_changes_nothing_for_the_next,
    crash_label,
    inputs_are_left_alone,
    require_one_tensor,
    the_function_returns_one_tensor,
    the_result_is_right_on_every_probe,
    unusual_inputs_are_right_as_well,
)
from kata_content.common.checks.preconditions import require_some_output
from kata_content.rope.family import OWN, at, scattered
from kata_content.rotary.ways import placed
from torch import Tensor

from grader.authoring import (
    Asked,
    Blame,
    Candidate,
    Form,
    NotReached,
    Observation,
    Probe,
    Steps,
    apart,
    attempt,
    check,
    fail,
    line_of,
    problem_line,
    problem_text,
    require,
    run,
)

# How far a right answer may be off: angles in float32 at position 8192, rounding of each step in half types.
TOLERANCE = {torch.float32: 3e-3, torch.float64: 3e-3, torch.float16: 6e-3, torch.bfloat16: 4e-2}
NEAR = 5e-2  # how far angles of some ten thousand may be off in float32
TABLES = (256, 512, 1024, 2048, 4096)  # lengths that tables have


def _small(x: Tensor) -> Tensor:
    return x.clamp(-2.0, 2.0)


def _kind(dtype: torch.dtype, axes: str = "S") -> Probe:
    """Positions below 8, which half types can still turn by."""
    name = f"{str(dtype).removeprefix('torch.')}_{len(axes)}"
    return at(
        name,
        scattered(3, 2, 8),
        axes,
        B=3,
        H=2,
        dtypes={"x": dtype},
    )


def _with_small_x(probe: Probe) -> Probe:
    return probe.named(probe.name, change={**probe.change, "x": _small})


KINDS = tuple(
    _with_small_x(_kind(dtype, axes))
    for dtype, axes in (
        (torch.float64, "S"),
        (torch.bfloat16, "S"),
        (torch.float16, OWN),
    )
)
FAR = (
    at("far", scattered(1777, 4001, 8193)),
    at("far_own", scattered(1201, 4099, 8192), OWN, B=3, H=2),
    at("farthest", lambda counted: 8192 - 31 * counted),
)
VERY_FAR = tuple(
    _with_small_x(at(f"very_far_{name}", scattered(7919, 99_000, 110_000), dtypes={"x": dtype}))
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16))
)


def _of_every_kind(candidate: Candidate) -> None:
    for probe in KINDS:
        candidate.ask_probe(probe)


def _off(candidate: Candidate, seen: Observation) -> str | None:
    """How far a result is from the right one, where it is too far."""
    layout = candidate.likely_layout
    assert layout is not None
    right = candidate.expected(seen.drawn.but(x=seen.drawn.x.double()), layout)
    assert right is not None
    if seen.output is None or seen.output.shape != right.shape:
        return "no such result"
    fine = bool(((seen.output.double() - right).abs() <= TOLERANCE[seen.drawn.x.dtype]).all())
    return None if fine else apart(seen.output.double(), right)


@check(
    "interface", why="The next product has values of x's dtype, and so must this result.", asks=_of_every_kind
)
def the_result_has_the_shape_and_dtype_of_x(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    _require_shape(candidate, steps, blame)
    for probe in KINDS:
        seen = candidate.observe(probe)
        if seen.problem is not None and any(one.problem is not None for one in candidate.observations):
            continue
        require_one_tensor(candidate, seen, steps, blame)
        require(
            seen.dtype == seen.drawn.x.dtype,
            f"On {seen.drawn.says} the result has another dtype.",
            expected=str(seen.drawn.x.dtype),
            actual=str(seen.dtype),
            mistake="rope_dtype_changed",
            line=blame.last(),
        )
        if steps.right:
            off = _off(candidate, seen)
            require(
                off is None,
                f"On {seen.drawn.says} the result is not exact enough.",
                expected=f"at most {TOLERANCE[seen.drawn.x.dtype]:g} off, at positions below 8",
                actual=off,
            )


def _runs_in_float32(candidate: Candidate, seen: Observation) -> bool:
    """Whether calls with positions of that kind run where x is float32."""
    rank = seen.drawn.inputs["positions"].dim()
    usual = [one for one in candidate.observations if one.drawn.inputs["positions"].dim() == rank]
    return any(one.problem is None for one in usual)


def _require_shape(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    for seen in candidate.observations:
        if seen.output is None or candidate.has_right_shape(seen) or steps.explanation is not None:
            continue
        found = tuple(seen.output.shape)
        fail(
            f"On {seen.drawn.says} the result has another shape than x.",
            expected=f"shape {candidate.output_shape(seen.drawn)}",
            actual=f"shape {found}",
            mistake="rope_output_rank" if len(found) != seen.drawn.x.dim() else None,
            line=blame.last(),
        )


@check("interface", why="Heads, widths and lengths differ from model to model.")
def it_runs_on_every_shape_of_x(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    failed = [seen for seen in candidate.observations if seen.problem is not None]
    if any(_is_of_positions(candidate, seen) for seen in failed):
        raise NotReached("the angles do not line up with x, and that is charged there")
    for seen in failed:
        if steps.explains_crash(seen):
            continue
        assert seen.problem is not None
        fail(
            f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
            expected=f"a tensor of shape {candidate.output_shape(seen.drawn)}",
            actual=f"{len(failed)} of {len(candidate.observations)} calls fail",
            mistake=crash_label(candidate, seen) or "hard_coded_sizes",
            line=problem_line(seen.problem),
        )


def _is_of_positions(candidate: Candidate, seen: Observation) -> bool:
    """Whether a crash is one of the positions: by its label, or because all of that kind fail."""
    label = crash_label(candidate, seen)
    known = label is not None and label in candidate.content.labels
    if known and label is not None and candidate.content.labels[label].concept == "positions":
        return True
    return not _runs_in_float32(candidate, seen)


@check("angles", why="Fast pairs tell neighbours apart, slow ones tell how far away a token is.")
def each_pair_turns_at_its_own_speed(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    expected = "θᵢ = base^(-2i/d) with i = 0 … d/2-1, in float32"
    nearly = _nearly(candidate) if steps.explanation is None else None
    if nearly is not None:
        fail(
            f"As far as float32 lets one see, {steps.words(nearly).shows}.",
            expected=expected,
            mistake=nearly.label,
            line=line_of(blame, nearly.label, "angles"),
        )
    steps.expect("angles", expected)


def _nearly(candidate: Candidate) -> Form | None:
    """Other angles that give the outputs but for what float32 loses of large ones."""
    seen = [one for one in candidate.observations if one.output is not None and not one.probe.numbers]
    forms = [form for form in candidate.content.values if form.steps.keys() <= {"frequencies", "angles"}]
    for layout in candidate.hypotheses:
        contexts = [candidate.context(one.drawn, layout) for one in seen]
        for form in forms:
            made = [None if one is None else attempt(one.plan, one, form.steps) for one in contexts]
            if seen and all(_is_near(one, output) for one, output in zip(seen, made, strict=True)):
                return form
    return None


def _is_near(seen: Observation, made: Tensor | None) -> bool:
    return (
        made is not None
        and seen.output is not None
        and made.shape == seen.output.shape
        and torch.allclose(made, seen.output.to(made.dtype), atol=NEAR)
    )


@check("rotation", why="A rotation keeps lengths, and makes q·k a matter of the distance alone.")
def each_pair_is_rotated(steps: Steps) -> None:
    steps.expect("rotation", "x₁cos - x₂sin and x₂cos + x₁sin, both from the old x")


@check("pairing", why="Two pairings are in use, and half of each is none.")
def table_rotation_and_result_have_one_pairing(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect("pairing", "pairs (i, i + d/2) or (2i, 2i + 1), the same ones throughout")


def _far_away(candidate: Candidate) -> None:
    for probe in FAR:
        candidate.ask_probe(probe)


@check("positions", why="With a cache, a step begins where the text is, and not at 0.", asks=_far_away)
def each_token_turns_by_the_position_given_for_it(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    require_some_output(candidate)
    failed = [seen for seen in candidate.observations if seen.problem is not None]
    for seen in failed:
        if _is_of_positions(candidate, seen) and not steps.explains_crash(seen):
            _fail_on(candidate, seen, "positions (seq_len,) or (batch, seq_len), any integers from 0")
    steps.expect("positions", "angle = position · θ, with the positions that were given")
    if not steps.right:
        return
    for probe in FAR:
        seen = candidate.observe(probe)
        if seen.problem is not None:
            _fail_on(candidate, seen, "positions far beyond seq_len: 8192, say")
        off = _off(candidate, seen)
        label = None if off is None else _mistake_far_away(candidate, seen)
        require(
            off is None,
            f"With positions up to {int(seen.drawn.inputs['positions'].max())} the result is another one.",
            expected="at most 3e-3 off in float32, up to position 8192",
            actual=off,
            mistake=label,
            line=None if label is None else line_of(blame, label, "positions"),
        )


def _fail_on(candidate: Candidate, seen: Observation, expected: str) -> None:
    assert seen.problem is not None
    fail(
        f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
        expected=expected,
        actual="an error",
        mistake=crash_label(candidate, seen) or "rope_positions_over_heads",
        line=problem_line(seen.problem),
    )


def _mistake_far_away(candidate: Candidate, seen: Observation) -> str:
    """A table that ends, or one that is not exact enough."""
    layout = candidate.likely_layout
    assert layout is not None
    context = candidate.context(seen.drawn, layout)
    assert context is not None
    assert seen.output is not None
    for rows in TABLES:
        for ended in (
            lambda c, rows=rows: c.positions.clamp(max=rows - 1),
            lambda c, rows=rows: c.positions % rows,
        ):
            made = run(context.plan, context, {"angles": placed(ended)}).output
            if torch.allclose(made, seen.output.to(made.dtype), atol=TOLERANCE[torch.float32]):
                return "rope_table_too_short"
    return "rope_low_precision"


GRADIENTS = (
    at("gradients", scattered(19, 7)),
    at("gradients_own", scattered(11, 5), OWN, B=3, H=2),
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


@check("gradients", why="Queries and keys learn through the rotation.", asks=_backward)
def gradients_are_turned_back(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    if not steps.right or candidate.layout is None:
        raise NotReached("the result is not right, so its gradient cannot be compared")
    for asked, back in candidate.once(_backward):
        seen = asked.seen
        context = candidate.context(seen.drawn, candidate.layout)
        if seen.called is None or seen.output is None or context is None:
            raise NotReached("the function did not run on an x that wants gradients")
        if seen.changed("x") is not None:
            raise NotReached("x is changed in place, and backward may need it as it was")
        x = seen.drawn.x.clone().requires_grad_()
        (run(context.plan, context.but(x=x)).output * back).sum().backward()
        found = seen.gradients.get("x")
        broken = seen.called.backward
        if broken is not None or found is None:
            fail(
                "No gradient arrives at x." if broken is None else problem_text(candidate, broken),
                expected="the gradient, turned by -θ",
                actual="none",
                mistake="gradient_detached" if broken is None else "inplace_breaks_backward",
                line=blame.cut()
                if broken is None
                else problem_line(broken) or blame.in_place() or blame.cut(),
            )
        assert x.grad is not None
        require(
            torch.allclose(found, x.grad, rtol=2e-3, atol=2e-4),
            "The values are right and the gradient at x is not.",
            expected="the gradient, turned by -θ",
            actual=apart(found, x.grad),
            mistake="gradient_detached",
            line=blame.cut(),
        )


@check("side_effects", why="x is read again, and the positions serve every layer.")
def x_and_the_positions_stay_as_they_were(candidate: Candidate) -> None:
    inputs_are_left_alone(candidate, "mutates_input")


def _very_far_away(candidate: Candidate) -> None:
    for probe in VERY_FAR:
        candidate.ask_probe(probe)


@check(
    "precision",
    why="bfloat16 knows no position between 4096 and 4128: texts are longer than that.",
    asks=_very_far_away,
)
def angles_are_exact_in_half_types_too(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    seen = [candidate.observe(probe) for probe in VERY_FAR]
    far = [candidate.observe(probe) for probe in FAR]
    if not steps.right or any(one.problem is not None for one in (*candidate.observations, *far, *seen)):
        raise NotReached("the result is not right on usual inputs, or there is none")
    if any(_off(candidate, one) is not None for one in far):
        raise NotReached("large positions go wrong in float32 too, and that is charged there")
    for one in seen:
        off = _off(candidate, one)
        require(
            off is None,
            f"On {one.drawn.says}, with positions near 100,000, the result is off.",
            expected=f"at most {TOLERANCE[one.drawn.x.dtype]:g} off: angles made in float32",
            actual=off,
            mistake="rope_low_precision",
            line=line_of(blame, "rope_low_precision", "precision"),
        )


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "angles_are_exact_in_half_types_too",
    "each_pair_is_rotated",
    "each_pair_turns_at_its_own_speed",
    "each_token_turns_by_the_position_given_for_it",
    "gradients_are_turned_back",
    "it_runs_on_every_shape_of_x",
    "table_rotation_and_result_have_one_pairing",
    "the_function_returns_one_tensor",
    "the_result_has_the_shape_and_dtype_of_x",
    "the_result_is_right_on_every_probe",
    "unusual_inputs_are_right_as_well",
    "x_and_the_positions_stay_as_they_were",
]
