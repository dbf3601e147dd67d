"""What is checked of every function: it runs, returns one tensor, leaves its inputs alone, and is right."""

from __future__ import annotations

from kata_content.common.checks.preconditions import require_some_output

from grader.authoring import (
    Blame,
    Candidate,
    Delegation,
    Failure,
    NotReached,
    Observation,
    Steps,
    Variations,
    check,
    difference,
    fail,
    line_of,
    mistake_behind,
    no_tensor,
    problem_line,
    problem_text,
    require,
)


def require_one_tensor(candidate: Candidate, seen: Observation, steps: Steps, blame: Blame) -> None:
    """One tensor came back from a call. A crash that a found mistake explains is no other one."""
    expected = f"one tensor of shape {candidate.output_shape(seen.drawn)}"
    if seen.problem is not None and steps.explains_crash(seen):
        raise NotReached("the mistake that was found makes such calls crash as well")
    if seen.problem is not None:
        fail(
            f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
            expected=expected,
            actual="an error",
            mistake=crash_label(candidate, seen),
            line=problem_line(seen.problem),
        )
    called = seen.called
    assert called is not None
    if called.returned == "tuple":
        fail(
            f"{candidate.signature.name} returned a {called.type} of {called.length}; one tensor is wanted.",
            expected=expected,
            actual=f"a {called.type} of {called.length}",
            mistake="returns_tuple",
            line=blame.last(),
        )
    if seen.output is None:
        fail(
            no_tensor(seen).replace("forward", candidate.signature.name),
            expected=expected,
            actual=called.odd or called.type or called.returned,
            line=blame.last(),
        )


def crash_label(candidate: Candidate, seen: Observation) -> str | None:
    """The mistake behind a call that raised."""
    if isinstance(seen.problem, Failure) and "return_types" in seen.problem.text:
        return "max_returns_pair"
    return None if seen.problem is None else mistake_behind(seen.problem, candidate)


@check("interface", why="Whatever calls your function goes on computing with what it returns.")
def the_function_returns_one_tensor(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    observed = candidate.observations
    if all(seen.problem is not None for seen in observed):
        require_one_tensor(candidate, observed[0], steps, blame)
    for seen in observed:
        if seen.problem is None:
            require_one_tensor(candidate, seen, steps, blame)


@check("interface", why="The point of the exercise is to write it, not to call it.")
def it_is_written_by_hand(delegation: Delegation) -> None:
    found = delegation.banned_call()
    if found is not None:
        name, line = found
        fail(
            f"The answer calls {name}, which this kata does not allow.",
            expected="the steps themselves",
            actual=name,
            mistake="uses_builtin",
            line=line,
        )


@check("end_to_end", why="Right on one example is luck; right on all of them is an answer.")
def the_result_is_right_on_every_probe(candidate: Candidate, blame: Blame) -> None:
    require_some_output(candidate)
    layout = candidate.layout or candidate.likely_layout
    assert layout is not None
    wrong = [seen for seen in candidate.observations if not candidate.reproduces(seen, layout)]
    if wrong:
        fail(
            f"{len(wrong)} of {len(candidate.observations)} inputs give another result than"
            f" {candidate.family.formula}, first on {wrong[0].drawn.says}.",
            expected=candidate.family.formula,
            actual=difference(candidate, wrong[0]),
            line=line_of(blame, "", "end_to_end"),
        )


@check("end_to_end", why="What holds for one kind of input must hold for its neighbours.")
def unusual_inputs_are_right_as_well(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    if not steps.right or candidate.layout is None:
        raise NotReached("the result is not right on usual inputs")
    if any(seen.problem is not None for seen in candidate.observations):
        raise NotReached("the function does not run on all usual inputs")
    for seen in candidate.further:
        if candidate.reproduces(seen, candidate.layout):
            continue
        happened = "another result." if seen.problem is None else problem_text(candidate, seen.problem)
        fail(
            f"On {seen.drawn.says}: {happened}",
            expected=candidate.family.formula,
            actual=difference(candidate, seen),
            mistake="hard_coded_sizes" if isinstance(seen.problem, Failure) else None,
            line=None if seen.problem is None else problem_line(seen.problem),
            charges="interface",
        )


@check(
    "side_effects",
    why="A function is called thousands of times; each result depends on that call's input only.",
)
def a_call_changes_nothing_for_the_next(candidate: Candidate, variations: Variations) -> None:
    require_some_output(candidate)
    require(
        not (variations.keeps_something or candidate.eval_is_random),
        "The same call gives another result the second time.",
        expected="the same result for the same input",
        actual="another result",
        mistake="state_across_calls" if variations.keeps_something else None,
        charges="side_effects",
    )


def inputs_are_left_alone(candidate: Candidate, mistake: str) -> None:
    """No input has other values, or another shape, after a call."""
    require_some_output(candidate)
    for seen in candidate.observations:
        for name, before in seen.drawn.inputs.items():
            after = seen.changed(name)
            reshaped = after is not None and after.shape != before.shape
            require(
                after is None,
                f"{name} has {'another shape' if reshaped else 'other values'} after the call.",
                expected=f"{name} as it was",
                actual=f"{name} was changed in place",
                mistake=mistake,
            )
