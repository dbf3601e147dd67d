"""What training needs and callers rely on: gradients, and no side effects."""

from __future__ import annotations

from kata_content.common import lines
from kata_content.common.checks.preconditions import require_lasting_layers, require_some_output

from grader.authoring import (
    Blame,
    Candidate,
    DropoutMeter,
    Failure,
    GradientMeter,
    NotReached,
    Observation,
    Problem,
    Steps,
    Variations,
    check,
    fail,
    mistake_behind,
    problem_line,
    problem_text,
    require,
)


@check("gradients", why="A layer that no gradient reaches never learns, and nothing else shows it.")
def gradients_reach_the_input_and_every_projection(
    candidate: Candidate, gradients: GradientMeter, steps: Steps, blame: Blame, variations: Variations
) -> None:
    require_some_output(candidate)
    seen = gradients.seen
    if seen.problem is not None or seen.called is None or seen.output is None:
        raise NotReached("forward did not run on an input that wants gradients")
    if not candidate.has_right_shape(seen):
        raise NotReached("the output has another shape than x")
    if any(seen.changed(name) is not None for name in seen.drawn.floats):
        raise NotReached("x is changed in place, and backward may need it as it was")
    if seen.called.backward is not None:
        fail(
            problem_text(candidate, seen.called.backward),
            expected="output.backward() works",
            mistake=backward_mistake(seen.called.backward, candidate, blame),
            line=problem_line(seen.called.backward) or blame.cut(),
        )
    plain = gradients.unmasked.seen.called if candidate.kata.takes_mask else None
    if plain is not None and plain.backward is not None:
        fail(
            "Without a mask: " + problem_text(candidate, plain.backward),
            expected="output.backward() works with a mask and without",
            mistake=backward_mistake(plain.backward, candidate, blame),
            line=problem_line(plain.backward) or blame.cut(),
        )
    broken = gradients.broken_by_dropout
    if broken is not None:
        fail(
            "In training, with dropout: " + problem_text(candidate, broken),
            expected="output.backward() works in training mode",
            mistake=backward_mistake(broken, candidate, blame) or "inplace_breaks_backward",
            line=problem_line(broken) or lines.dropout_layer(blame),
            fix="Leave `inplace=True` out of the dropout."
            if blame.source.find(r"[Dd]ropout\(.{0,80}inplace") is not None
            else "",
        )
    lost = gradients.compared() if steps.right else gradients.reached()
    where = f"{lost.where}: " if lost.where else ""
    if lost.missing:
        fail(
            f"{where}{'the' if where else 'The'} output depends on "
            + ", ".join(lost.missing)
            + ", and no gradient arrives there.",
            expected="a gradient for x and for every projection",
            actual="no gradient for " + ", ".join(lost.missing),
            mistake=missing_mistake(blame),
            line=blame.cut(),
        )
    if lost.wrong and variations.keeps_something:
        raise NotReached("something that forward keeps changes the output, and the gradient with it")
    if lost.wrong:
        fail(
            f"{where}{'the' if where else 'The'} output is right and the gradient of "
            + ", ".join(lost.wrong)
            + " is not.",
            expected="the gradient of the formula",
            actual="another gradient: a part of the graph is cut or a custom backward is wrong",
            mistake="gradient_detached" if blame.cuts() else None,
            line=blame.cut(),
        )


def backward_mistake(problem: Problem, candidate: Candidate, blame: Blame) -> str | None:
    """Why backward raised."""
    if isinstance(problem, Failure) and "floor" in problem.text:
        return "floor_division_scale"
    return mistake_behind(problem, candidate) or ("inplace_breaks_backward" if blame.in_place() else None)


def missing_mistake(blame: Blame) -> str:
    """Why a gradient does not arrive, by the calls that were seen."""
    calls = {entry.call for entry in blame.trace}
    if calls & {"round", "round_"}:
        return "round_output"
    if calls & {"floor_divide", "__floordiv__", "floor"}:
        return "floor_division_scale"
    return "gradient_detached"


@check("side_effects", why="The caller goes on using x and the mask.")
def the_input_and_the_mask_are_not_modified(
    candidate: Candidate, variations: Variations, dropout: DropoutMeter
) -> None:
    require_some_output(candidate)
    strong = [call.seen for call in variations.trained_at_rate_zero]
    dropped = _with_dropout(candidate, dropout)
    for seen in (*candidate.observations, *candidate.in_training, *strong, *dropped):
        for name, before in seen.drawn.inputs.items():
            after = seen.changed(name)
            if after is None:
                continue
            is_mask = name == seen.drawn.mask_name
            what = "the mask" if is_mask else name
            whose = f"The caller's {name}" if is_mask else name
            news = "other values" if before.shape == after.shape else "another shape"
            fail(
                f"{whose} has {news} after the call.",
                expected=f"{what} as it was",
                actual=f"{what} was changed in place",
                mistake="mutates_mask_argument" if is_mask else "mutates_input",
            )


def _with_dropout(candidate: Candidate, dropout: DropoutMeter) -> list[Observation]:
    """Calls with real dropout, where they could be made."""
    if not candidate.kata.has_dropout:
        return []
    try:
        return [call.seen for call in dropout.in_training]
    except NotReached:
        return []


@check(
    "side_effects", why="A model is called thousands of times; each output depends on that call's input only."
)
def a_call_changes_nothing_for_the_next(candidate: Candidate, variations: Variations, blame: Blame) -> None:
    require_some_output(candidate)
    require_lasting_layers(blame)
    if candidate.still_random:
        raise NotReached("the output is random, so one call cannot be held against another")
    require(
        not variations.keeps_something,
        "The same call gives another output the second time: forward keeps or changes something.",
        expected="the same output for the same input, however often forward is called",
        actual="the output changes from call to call",
        mistake="state_across_calls",
        line=blame.source.find_in_forward(
            r"self(\.\w{1,40}){1,4}((\[.{0,80}\])?\s{0,8}([-+*/@]|//|\*\*)?=[^=]|\.\w{1,40}_\()"
        ),
    )


@check("side_effects", why="train() and eval() belong to the caller; forward must not switch them.")
def the_module_stays_in_its_mode(candidate: Candidate, blame: Blame) -> None:
    require_some_output(candidate)
    calls = [(seen, False) for seen in candidate.observations]
    calls += [(seen, True) for seen in candidate.in_training]
    for seen, training in calls:
        if seen.called is not None:
            require(
                seen.called.training_after == training,
                "forward switched the mode of the module, or of a part of it.",
                expected=f"training stays {training} in every part of the model",
                actual=f"training is {seen.called.training_after} after the call on {seen.drawn.says}",
                mistake="eval_called_in_forward",
                line=blame.source.find(r"self\.(eval|train)\("),
            )
