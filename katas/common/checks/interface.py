"""Does the class build, does forward run, does it return what it should?"""

from __future__ import annotations

from kata_content.common.checks.preconditions import require_call, require_some_output, unmeasured

from grader.authoring import (
    Blame,
    Candidate,
    Delegation,
    Failure,
    GradientMeter,
    NotReached,
    Steps,
    Variations,
    check,
    fail,
    mistake_behind,
    no_tensor,
    problem_line,
    problem_text,
    require,
)

RUNS = "A model that only works on the shapes of one example is not finished."


@check("interface", why="The interviewer builds your class with their own width before anything else.")
def the_class_builds_with_a_given_hidden_dim(candidate: Candidate, blame: Blame) -> None:
    rig = candidate.rig()
    built = candidate.signature.built(candidate.sizes)
    sizes = ", ".join(map(str, built.values()))
    if rig.problem is not None:
        fail(
            problem_text(candidate, rig.problem),
            expected=f"{candidate.kata.class_name}({sizes}) builds",
            mistake=mistake_behind(rig.problem, candidate),
            line=problem_line(rig.problem),
        )
    assert rig.built is not None
    if rig.made_in_forward:
        fail(
            "The instance has no parameters before forward is called.",
            expected="layers made in __init__",
            actual="layers made in forward",
            mistake="parameters_created_in_forward",
            line=blame.source.find_in_forward(r"nn\.|randn|torch\.rand|empty|Parameter"),
        )
    if not rig.built.parameters:
        made = blame.source.find_in_forward(r"nn\.(Linear|Parameter)|randn|torch\.rand\b|torch\.empty")
        held = blame.source.find(r"nn\.(Linear|Parameter)|randn|torch\.rand\b|torch\.empty")
        fail(
            "The module has no parameters, so there is nothing to train."
            + (
                " What it keeps in a plain list or a plain tensor, it does not know."
                if held and not made
                else ""
            ),
            expected="query, key and value projections as parameters of the module",
            actual="no parameters",
            mistake="parameters_created_in_forward"
            if made
            else "layers_not_registered"
            if held
            else "projection_unused",
            line=made or held,
        )
    made = blame.fresh_layer()
    if made is not None and not candidate.eval_is_random:
        fail(
            "forward uses a layer that is no part of the module.",
            expected="every layer among the module's parameters",
            actual=f"{len(rig.built.parameters)} parameters, none of them that layer's",
            mistake="layers_not_registered",
            line=blame.source.find(r"nn\.(Linear|Parameter)") or made,
        )
    if made is not None:
        fail(
            "forward makes a layer anew at each call.",
            expected="layers made in __init__",
            actual="a layer made in forward",
            mistake="parameters_created_in_forward",
            line=made,
        )
    matrices = [info for info in rig.built.parameters if len(info.shape) >= 2]
    width = candidate.sizes["D"]
    wrong = [info for info in matrices if width not in info.shape]
    if wrong and not rig.units:
        fail(
            f"The layers do not follow hidden_dim: {wrong[0].name} has the shape {tuple(wrong[0].shape)}"
            f" though hidden_dim is {width}.",
            expected=f"layers of width {width}",
            actual=f"{tuple(wrong[0].shape)}",
            mistake="hard_coded_sizes",
            line=blame.source.find(r"nn\.(Linear|Parameter)"),
        )


@check("interface", why="Whatever calls your module goes on computing with what it returns.")
def forward_returns_one_tensor_of_the_shape_and_dtype_of_x(
    candidate: Candidate, blame: Blame, variations: Variations, steps: Steps
) -> None:
    seen = candidate.observe(candidate.standard_probes[0])
    require_call(candidate, seen, "forward(x) returns a tensor", variations)
    called = seen.called
    assert called is not None
    expected = f"one tensor of shape {candidate.output_shape(seen.drawn)}"
    if called.returned == "none":
        only_without = any(other.output is not None for other in candidate.masked)
        fail(
            no_tensor(seen),
            expected=expected,
            actual="None",
            mistake="returns_none_without_mask" if only_without else "attention_result_discarded",
            line=blame.last(),
        )
    if called.returned in ("other", "odd"):
        fail(no_tensor(seen), expected=expected, actual=called.odd or called.type, line=blame.last())
    if called.returned == "tuple":
        fail(
            f"forward returned a {called.type} of {called.length}; only the output is asked for."
            " Its first element was judged from here on.",
            expected=expected,
            actual=f"a {called.type} of {called.length}",
            mistake="returns_tuple",
            line=blame.last(),
        )
    assert seen.output is not None
    if not candidate.has_right_shape(seen):
        fail(
            "forward returned a tensor of another shape than x.",
            expected=expected,
            actual=f"shape {tuple(seen.output.shape)}",
            line=blame.last(),
        )
    calls = [(seen, ""), *((other, f" on {other.drawn.says}") for other in candidate.observations)]
    calls += [(other, f" in training mode, on {other.drawn.says}") for other in candidate.in_training]
    for other, where in calls:
        if other.called is not None and other.called.returned == "tuple":
            fail(
                f"forward returned a {other.called.type} of {other.called.length}{where}.",
                expected="one tensor, whatever the input and the mode",
                actual=f"a {other.called.type} of {other.called.length}",
                mistake="returns_tuple",
                line=blame.last(),
            )
        if other.output is not None:
            require(
                other.dtype == other.drawn.x.dtype,
                f"forward returned another dtype than x has{where}.",
                expected=str(other.drawn.x.dtype),
                actual=str(other.dtype),
                mistake="wrong_dtype",
                line=blame.last(),
            )
    steps.expect("interface", "computed in the dtype of x", unmeasured)


@check("interface", why="A model is trained before it is used.")
def forward_runs_in_training_mode_too(candidate: Candidate, blame: Blame, gradients: GradientMeter) -> None:
    require_some_output(candidate)
    calls = [(candidate.observe(seen.probe), seen) for seen in candidate.in_training]
    if candidate.kata.has_dropout:
        calls.append((gradients.seen, gradients.dropped.seen))
    for still, seen in calls:
        if still.output is None or (seen.output is not None and seen.output.shape == still.output.shape):
            continue
        text = (
            problem_text(candidate, seen.problem)
            if seen.problem is not None
            else no_tensor(seen)
            if seen.output is None
            else f"the output has the shape {tuple(seen.output.shape)}."
        )
        fail(
            f"In training mode, on {seen.drawn.says}: {text}",
            expected=f"a tensor of shape {tuple(still.output.shape)}, as in eval mode",
            mistake=mistake_behind(seen.problem, candidate) if seen.problem is not None else None,
            line=problem_line(seen.problem) if seen.problem is not None else blame.last(),
        )


@check("interface", why=RUNS)
def forward_runs_on_every_batch_size_length_and_width(candidate: Candidate, blame: Blame) -> None:
    first, *others = candidate.unmasked
    if first.problem is not None:
        raise NotReached("forward does not run at all")
    for seen in others:
        if seen.problem is not None:
            fail(
                f"On {seen.drawn.says}: " + problem_text(candidate, seen.problem),
                expected=f"a tensor of shape {candidate.output_shape(seen.drawn)}",
                mistake=mistake_behind(seen.problem, candidate)
                or (
                    "hard_coded_sizes"
                    if isinstance(seen.problem, Failure) and blame.source.written_size()
                    else None
                ),
                line=problem_line(seen.problem),
            )
        if seen.output is not None and candidate.has_right_shape(first):
            require(
                candidate.has_right_shape(seen),
                f"On {seen.drawn.says} the output has another shape than x.",
                expected=f"shape {candidate.output_shape(seen.drawn)}",
                actual=f"shape {tuple(seen.output.shape)}",
            )


@check("interface", why="The point of the exercise is to write attention, not to call it.")
def attention_is_written_by_hand(delegation: Delegation) -> None:
    found = delegation.banned_call()
    if found is not None:
        name, line = found
        fail(
            f"The answer calls {name}, which this kata does not allow.",
            expected="matrix products and a softmax of your own",
            actual=name,
            mistake="uses_builtin",
            line=line,
        )
