"""The hidden checks that several levels share. Each compares one thing and reads as a sentence."""

from __future__ import annotations

import math

import torch

from grader.authoring import (
    WIDTH,
    Blame,
    Candidate,
    DropoutMeter,
    Failure,
    GradientMeter,
    Labels,
    NotReached,
    Observation,
    Reading,
    Steps,
    Variations,
    XRay,
    apart,
    backward_mistake,
    check,
    difference,
    fail,
    missing_mistake,
    mistake_behind,
    no_tensor,
    problem_line,
    problem_text,
    require,
)

RUNS = "A model that only works on the shapes of one example is not finished."


# interface ------------------------------------------------------------------------------------------------


@check("interface", why="The interviewer builds your class with their own width before anything else.")
def the_class_builds_with_a_given_hidden_dim(candidate: Candidate, blame: Blame) -> None:
    rig = candidate.rig()
    if rig.problem is not None:
        fail(
            problem_text(candidate, rig.problem),
            expected=f"{candidate.kata.class_name}({rig.width}) builds",
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
            mistake="parameters_created_in_forward" if made else None if held else "projection_unused",
            line=made or held,
        )
    made = blame.fresh_layer()
    if made is not None:
        fail(
            "forward makes a layer anew at each call.",
            expected="layers made in __init__",
            actual="a layer made in forward",
            mistake="parameters_created_in_forward",
            line=made,
        )
    matrices = [info for info in rig.built.parameters if len(info.shape) >= 2]
    wrong = [info for info in matrices if rig.width not in info.shape]
    if wrong and not rig.units:
        fail(
            f"The layers do not follow hidden_dim: {wrong[0].name} has the shape {tuple(wrong[0].shape)}"
            f" though hidden_dim is {rig.width}.",
            expected=f"layers of width {rig.width}",
            actual=f"{tuple(wrong[0].shape)}",
            mistake="hard_coded_sizes",
            line=blame.source.find(r"nn\.(Linear|Parameter)"),
        )


@check("interface", why="Whatever calls your module goes on computing with what it returns.")
def forward_returns_one_tensor_of_the_shape_and_dtype_of_x(
    candidate: Candidate, blame: Blame, variations: Variations
) -> None:
    seen = candidate.observe(candidate.standard_probes[0])
    _require_call(candidate, seen, "forward(x) returns a tensor", variations)
    called = seen.called
    assert called is not None
    expected = f"one tensor of shape {tuple(seen.drawn.x.shape)}"
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
    if seen.output.shape != seen.drawn.x.shape:
        fail(
            "forward returned a tensor of another shape than x.",
            expected=expected,
            actual=f"shape {tuple(seen.output.shape)}",
            line=blame.last(),
        )
    require(
        seen.dtype == seen.drawn.x.dtype,
        "forward returned another dtype than x has.",
        expected=str(seen.drawn.x.dtype),
        actual=str(seen.dtype),
        line=blame.last(),
    )


@check("interface", why=RUNS)
def forward_runs_on_every_batch_size_length_and_width(candidate: Candidate, blame: Blame) -> None:
    first, *others = candidate.unmasked
    if first.problem is not None:
        raise NotReached("forward does not run at all")
    for seen in others:
        if seen.problem is not None:
            fail(
                f"On {seen.probe.says}: " + problem_text(candidate, seen.problem),
                expected=f"a tensor of shape {tuple(seen.drawn.x.shape)}",
                mistake=mistake_behind(seen.problem, candidate)
                or ("hard_coded_sizes" if blame.source.written_size() else None),
                line=problem_line(seen.problem),
            )
        if seen.output is not None and first.output is not None and first.output.shape == first.drawn.x.shape:
            require(
                seen.output.shape == seen.drawn.x.shape,
                f"On {seen.probe.says} the output has another shape than x.",
                expected=f"shape {tuple(seen.drawn.x.shape)}",
                actual=f"shape {tuple(seen.output.shape)}",
            )


@check("interface", why="The point of the exercise is to write attention, not to call it.")
def attention_is_written_by_hand(blame: Blame) -> None:
    found = blame.banned_call()
    if found is not None:
        name, line = found
        fail(
            f"The answer calls {name}, which this kata does not allow.",
            expected="matrix products and a softmax of your own",
            actual=name,
            mistake="uses_builtin",
            line=line,
        )


# the steps ------------------------------------------------------------------------------------------------


@check("projections", why="Three roles need three maps; one map for two roles ties what should be free.")
def query_key_and_value_come_from_their_own_projections(steps: Steps) -> None:
    steps.expect("projections", "query, key and value from their own layers, and no other layer in between")


@check("scores", why="Attention is a comparison of every query with every key.")
def scores_compare_every_query_with_every_key(steps: Steps) -> None:
    steps.expect("scores", "scores = query @ key.transpose(-2, -1), shape (batch, seq_len, seq_len)")


@check("scale", why="Without 1/√d the logits grow with the width and softmax saturates, so gradients die.")
def scores_are_divided_by_sqrt_hidden_dim(steps: Steps, xray: XRay) -> None:
    root = math.sqrt(WIDTH)

    def measure() -> Reading:
        divisor = xray.divisor
        return Reading(math.isclose(divisor, root, rel_tol=1e-3), f"scores are divided by {divisor:.4g}")

    steps.expect("scale", f"scores are divided by √hidden_dim = √{WIDTH} = {root:.4g}", measure)


@check("softmax", why="Each query hands out exactly one unit of attention over the keys.")
def each_row_of_weights_sums_to_one(steps: Steps, xray: XRay) -> None:
    def measure() -> Reading:
        sums = xray.plain.actual.sum(dim=-1)
        low, high = float(sums.min()), float(sums.max())
        right = bool(((sums - 1).abs() < 1e-3).all()) and bool((xray.plain.actual >= -1e-6).all())
        return Reading(right, f"rows sum to {low:.3g} … {high:.3g}")

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


# masks ----------------------------------------------------------------------------------------------------


@check("mask", why="A hidden key must not leak at all: -∞ before softmax leaves exactly nothing.")
def hidden_keys_get_weight_exactly_zero(candidate: Candidate, steps: Steps, xray: XRay, blame: Blame) -> None:
    def measure() -> Reading:
        found = xray.masked
        assert found.visible is not None
        leak = float(found.actual[~found.visible].abs().max())
        sums = found.actual.sum(dim=-1)
        if leak > 0:
            return Reading(False, f"hidden keys get weights up to {leak:.3g}")
        fine = bool(((sums - 1).abs() < 1e-3).all())
        return Reading(fine, f"rows sum to {float(sums.min()):.3g} … {float(sums.max()):.3g} under the mask")

    _require_masked_output(candidate)
    steps.expect("mask", "a key with mask 0 gets weight 0, and the rest of the row sums to 1", measure)
    if steps.right:
        reading = measure()
        require(
            reading.holds,
            "Hidden keys still get a little weight.",
            expected="exactly 0",
            actual=reading.actual,
            mistake="mask_fill_small",
            line=blame.source.find(r"masked_fill|where|\* *-|mask"),
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
        f"On {first.probe.says}: " + problem_text(candidate, first.problem),
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
    """The label behind crashes that depend on the mask's dtype or shape."""
    names = {seen.probe.dtype for seen in failed}
    shapes = {seen.probe.mask for seen in failed}
    every = len(failed) == len(candidate.masked)
    first = failed[0].problem
    label = mistake_behind(first, candidate) if first is not None else None
    if not every and torch.bool not in names:
        return "mask_dtype_assumed_bool"
    if every and not candidate.accepts_mask:
        return "mask_ignored"
    if not every and "bss" not in shapes:
        return "key_mask_not_expanded"
    if names == {torch.bool}:
        return None
    typed = isinstance(first, Failure) and first.type == "TypeError"
    return "mask_fill_wrong_type" if every and typed and label in (None, "mask_not_optional") else label


def _what_fails(failed: list[Observation], total: int) -> str:
    kinds = sorted(
        {f"{seen.probe.mask_shape} {str(seen.probe.dtype).removeprefix('torch.')}" for seen in failed}
    )
    return f"{len(failed)} of {total} masks crash" + (
        f": {', '.join(kinds[:4])}" if len(failed) < total else ""
    )


# dropout --------------------------------------------------------------------------------------------------


@check("dropout", why="Dropout is for training; at inference the same input must give the same output.")
def in_eval_mode_nothing_is_dropped(candidate: Candidate, blame: Blame) -> None:
    _require_some_output(candidate)
    if blame.fresh_layer() is not None:
        raise NotReached("a layer made anew at each call makes the output random")
    if candidate.eval_is_random:
        label, line = blame.random_eval()
        fail(
            "Two calls in eval mode give different outputs.",
            expected="model.eval() switches dropout off",
            actual="the output is still random",
            mistake=label,
            line=line,
        )


@check(
    "dropout",
    why="Dropping attention weights, each kept one grown by 1/(1-p), is what regularises attention.",
)
def in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow(
    candidate: Candidate, dropout: DropoutMeter, blame: Blame, labels: Labels
) -> None:
    _require_some_output(candidate)
    reading = dropout.wrong
    if reading is not None:
        label = None if blame.drops_something_else() else reading.mistake
        fail(
            labels[label].sentence
            if label
            else "In training, something else happens than dropout on the weights.",
            expected=f"each weight is dropped with p = {reading.rate} and kept ones are multiplied by"
            f" {reading.expected_factor:.3g}",
            actual=reading.says,
            mistake=label,
            line=blame.line_of(label or "", "dropout"),
        )


@check("dropout", why="Dropping logits makes 0 · -inf = NaN and lets hidden keys back in.")
def in_training_hidden_keys_stay_hidden(candidate: Candidate, dropout: DropoutMeter) -> None:
    _require_masked_output(candidate)
    require(
        dropout.hidden_stay_hidden,
        "In training mode with a mask, hidden keys come back or the output is NaN.",
        expected="hidden keys keep weight 0 in training",
        actual="a hidden key has weight, or a value is NaN",
        mistake="dropout_before_softmax",
    )


# gradients and side effects -------------------------------------------------------------------------------


@check("gradients", why="A layer that no gradient reaches never learns, and nothing else shows it.")
def gradients_reach_the_input_and_every_projection(
    candidate: Candidate, gradients: GradientMeter, steps: Steps, blame: Blame
) -> None:
    _require_some_output(candidate)
    seen = gradients.seen
    if seen.problem is not None or seen.called is None or seen.output is None:
        raise NotReached("forward did not run on an input that wants gradients")
    if seen.output.shape != seen.drawn.x.shape:
        raise NotReached("the output has another shape than x")
    if seen.called.backward is not None:
        fail(
            problem_text(candidate, seen.called.backward),
            expected="output.backward() works",
            mistake=backward_mistake(seen.called.backward, blame),
            line=problem_line(seen.called.backward) or blame.cut(),
        )
    broken = gradients.broken_by_dropout
    if broken is not None:
        fail(
            "In training, with dropout: " + problem_text(candidate, broken),
            expected="output.backward() works in training mode",
            mistake=backward_mistake(broken, blame) or "inplace_breaks_backward",
            line=problem_line(broken) or blame.dropout_layer(),
        )
    lost = gradients.compared() if steps.right else gradients.reached()
    if lost.missing:
        fail(
            "The output depends on " + ", ".join(lost.missing) + ", and no gradient arrives there.",
            expected="a gradient for x and for every projection",
            actual="no gradient for " + ", ".join(lost.missing),
            mistake=missing_mistake(blame),
            line=blame.cut(),
        )
    if lost.wrong:
        fail(
            "The output is right and the gradient of " + ", ".join(lost.wrong) + " is not.",
            expected="the gradient of the formula",
            actual="another gradient: a part of the graph is cut or a custom backward is wrong",
            mistake="gradient_detached" if blame.cuts() else None,
            line=blame.cut(),
        )


@check("side_effects", why="The caller goes on using x and the mask.")
def the_input_and_the_mask_are_not_modified(candidate: Candidate) -> None:
    _require_some_output(candidate)
    for seen in candidate.observations:
        if seen.x_after is not None:
            require(
                torch.equal(seen.x_after, seen.drawn.x),
                "x has other values after the call.",
                expected="x as it was",
                actual="x was changed in place",
                mistake="mutates_input",
            )
        if seen.mask_after is not None and seen.drawn.mask is not None:
            require(
                torch.equal(seen.mask_after, seen.drawn.mask),
                "The caller's attention_mask has other values after the call.",
                expected="the mask as it was",
                actual="the mask was changed in place",
                mistake="mutates_mask_argument",
            )


@check("side_effects", why="train() and eval() belong to the caller; forward must not switch them.")
def the_module_stays_in_its_mode(candidate: Candidate, blame: Blame) -> None:
    _require_some_output(candidate)
    for training in (False, True):
        seen = candidate.observe(candidate.standard_probes[0], training=training)
        if seen.called is not None:
            require(
                seen.called.training_after == training,
                "forward switched the module's mode.",
                expected=f"model.training stays {training}",
                actual=f"model.training is {seen.called.training_after} after the call",
                mistake="eval_called_in_forward",
                line=blame.source.find(r"self\.(eval|train)\("),
            )


# robustness (optional) ------------------------------------------------------------------------------------


@check(
    "robustness", why="Real batches hold sequences that are padding only; a NaN there spreads to everything."
)
def a_row_with_everything_hidden_stays_finite(variations: Variations) -> None:
    seen = variations.all_hidden
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
    seen = variations.in_half
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
def large_logits_stay_finite(variations: Variations) -> None:
    seen = variations.large_input
    if seen.output is None:
        raise NotReached("forward does not run on large inputs")
    require(
        bool(seen.output.isfinite().all()),
        "Large logits give inf or NaN.",
        expected="finite numbers",
        actual="inf or NaN: subtract the row maximum before exp",
    )


# end to end (gates, no points) ----------------------------------------------------------------------------


@check("end_to_end", why="Right on one example is luck; right on all of them is an answer.")
def the_output_equals_the_formula_on_every_probe(candidate: Candidate) -> None:
    _require_some_output(candidate)
    layout = candidate.layout
    wrong = [
        seen
        for seen in candidate.observations
        if seen.output is None or layout is None or not candidate.reproduces(seen, layout)
    ]
    if wrong:
        fail(
            f"{len(wrong)} of {len(candidate.observations)} inputs give another output than the formula,"
            f" first on {wrong[0].probe.says}.",
            expected="softmax(QKᵀ/√d)V with the weights that the grader set",
            actual=difference(candidate, wrong[0]),
        )


@check("end_to_end", why="Samples of a batch are strangers; one must not change another's output.")
def samples_of_a_batch_do_not_see_each_other(candidate: Candidate, variations: Variations) -> None:
    seen = _steady(candidate)
    other = variations.changed_sample
    if other.output is None or other.output.shape != seen.drawn.x.shape:
        raise NotReached("forward gave no output of x's shape")
    assert seen.output is not None
    require(
        torch.allclose(seen.output[0], other.output[0], atol=1e-5, rtol=1e-4, equal_nan=True),
        "Changing the second sample changed the output of the first.",
        expected="each sample's output depends on that sample only",
        actual="the first sample's output moved",
    )


@check("end_to_end", why="Self-attention without positions treats tokens as a set: reorder in, reorder out.")
def permuting_the_tokens_permutes_the_output(candidate: Candidate, variations: Variations) -> None:
    seen = _steady(candidate)
    order, other = variations.order, variations.permuted_tokens
    if other.output is None or other.output.shape != seen.drawn.x.shape:
        raise NotReached("forward gave no output of x's shape")
    assert seen.output is not None
    require(
        torch.allclose(seen.output[:, order], other.output, atol=1e-5, rtol=1e-4, equal_nan=True),
        "Permuting the tokens of x did something else than permute the output.",
        expected="the same outputs in the new order",
        actual="other outputs",
    )


@check("end_to_end", why="Training computes the same attention; only dropout may differ.")
def training_without_dropout_gives_the_same_output(candidate: Candidate, variations: Variations) -> None:
    if candidate.kata.has_dropout and not candidate.takes_rate:
        raise NotReached(
            "the constructor takes no dropout rate, so dropout cannot be switched off in training"
        )
    probe = candidate.standard_probes[-1]
    still = candidate.observe(probe)
    moved = candidate.observe(probe, training=True)
    if still.output is None or moved.output is None or still.output.shape != moved.output.shape:
        raise NotReached("forward gave no output in one of the modes")
    if variations.drops_at_rate_zero:
        raise NotReached("something is still dropped at rate 0; the dropout check says what")
    require(
        torch.allclose(still.output, moved.output, atol=1e-5, rtol=1e-4, equal_nan=True),
        "In training mode with dropout rate 0 the output differs from eval mode.",
        expected="the same output",
        actual=apart(still.output, moved.output),
    )


@check("end_to_end", why="The same input must give the same output in eval mode.")
def eval_mode_is_deterministic(candidate: Candidate) -> None:
    _require_some_output(candidate)
    require(
        not candidate.eval_is_random,
        "Two calls in eval mode give different outputs.",
        expected="equal outputs",
        actual="the output is random",
    )


def _steady(candidate: Candidate) -> Observation:
    seen = candidate.observe(candidate.standard_probes[0])
    if seen.output is None or seen.output.shape != seen.drawn.x.shape:
        raise NotReached("forward gave no output of x's shape")
    if candidate.still_random:
        raise NotReached("the output is random in eval mode")
    return seen


def _require_call(candidate: Candidate, seen: Observation, expected: str, variations: Variations) -> None:
    if candidate.rig().problem is not None:
        raise NotReached("no instance could be built")
    if seen.problem is not None:
        label = mistake_behind(seen.problem, candidate)
        if label == "mask_fill_wrong_type":
            label = "mask_not_optional"  # no mask was given
        vague = label in (None, "transpose_wrong_axes")  # what sizes that do not fit look like as well
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


def _require_some_output(candidate: Candidate) -> None:
    if not any(seen.output is not None for seen in candidate.observations):
        raise NotReached("forward never returned a tensor")


def _require_masked_output(candidate: Candidate) -> None:
    if not any(seen.output is not None for seen in candidate.masked):
        raise NotReached("forward never returned a tensor under a mask")
