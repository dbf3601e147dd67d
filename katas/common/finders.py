"""Finders of single labels: where the mistake is made, when that is not where its concept is computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kata_content.common import lines
from kata_content.common.calls import DROPS, NORMALISERS, PRODUCTS, SCALINGS, TURNS

from grader.authoring import Blame, TraceEntry

ACTIVATIONS = frozenset(
    {"relu", "tanh", "sigmoid", "gelu", "silu", "leaky_relu", "elu", "abs", "neg", "clamp", "clip"}
)
FOREIGN = frozenset(
    {"topk", "kthvalue", "sort", "argsort", "clamp", "clamp_", "clip", "roll", "flip", "minimum", "maximum"}
)
LOSES_AN_AXIS = frozenset({"flatten", "reshape", "view", "mean", "sum", "unbind", "tensordot"})
# The mask is turned round, or compared, where it is used.
COMPARED = re.compile(r"~|[=!]=|\b1(?:\.0)?\s{0,9}-|logical_not")

OFF_BY_ONE = r"\[[^\]]{0,80}\w\s{0,3}[-+]\s{0,3}1\b"
RATE_COMPUTED = re.compile(r"Dropout\w{0,20}\(.{0,80}[-+*/]|=\s{0,9}[\w.]{1,40}\s{0,9}[-+*/]")


def nonlinearity(blame: Blame) -> int | None:
    """The activation, else the second softmax: where the helper is called when it stands in one."""
    found = blame.call_line(ACTIVATIONS)
    if found is not None:
        return found
    softmaxes = [entry.line for entry in blame.trace if entry.call in NORMALISERS]
    if len(softmaxes) > 1 and softmaxes[-1] in softmaxes[:-1]:
        return blame.source.last_use_of_helper(softmaxes[-1]) or softmaxes[-1]
    return lines.last_softmax(blame)


def turned_before_softmax(blame: Blame) -> int | None:
    """Where scores are turned on their own, else where they are made."""
    return _turned(blame.trace[: _normalised(blame.trace)]) or lines.scores(blame)


def turned_after_softmax(blame: Blame) -> int | None:
    """Where weights are turned on their own, else the mix."""
    return _turned(blame.trace[_normalised(blame.trace) :]) or lines.mix(blame)


def _normalised(trace: Sequence[TraceEntry]) -> int:
    return next((place for place, entry in enumerate(trace) if entry.call in NORMALISERS), len(trace))


def _turned(trace: Sequence[TraceEntry]) -> int | None:
    return next((entry.line for entry in trace if entry.call in TURNS and _keeps_a_square(entry)), None)


def _keeps_a_square(entry: TraceEntry) -> bool:
    shapes = (*entry.inputs[:1], entry.output or ())
    return len(shapes) == 2 and all(len(shape) >= 2 and shape[-1] == shape[-2] for shape in shapes)


def batch_lost(blame: Blame) -> int | None:
    """Where the first axis stops being the batch."""
    batch = next((entry.inputs[0][:1] for entry in blame.trace if entry.inputs and entry.inputs[0]), None)
    moved = (
        entry.line
        for entry in blame.trace
        if entry.call in TURNS | LOSES_AN_AXIS
        and not entry.parameters
        and entry.inputs
        and len(entry.inputs[0]) >= 3
        and entry.inputs[0][:1] == batch
        and entry.output is not None
        and entry.output[:1] != batch
    )
    return next(moved, None) or lines.scores(blame)


def reshaped(blame: Blame) -> int | None:
    """Where two axes change places by a view, else the first view."""
    views = [entry for entry in blame.trace if entry.call in ("view", "reshape")]
    swaps = [entry for entry in views if entry.output and entry.inputs and _swaps(entry)]
    return next((entry.line for entry in swaps or views), None)


def _swaps(entry: TraceEntry) -> bool:
    before, after = entry.inputs[0][-2:], (entry.output or ())[-2:]
    return before != after and before[::-1] == after


def return_without_output_layer(blame: Blame) -> int | None:
    """The `return` that leaves the output layer out where another has it, else the last one."""
    return _past_the_output_layer(blame) or blame.last()


def _past_the_output_layer(blame: Blame) -> int | None:
    returns = blame.source.returns()
    without = [
        line
        for line in returns
        if not any(f"self.{name}(" in blame.source.code(line) for name in blame.output_layers)
    ]
    return without[0] if 0 < len(without) < len(returns) else None


def condition_on_the_mode(blame: Blame) -> int | None:
    """The `if` that asks for the mode, else where the mask is applied."""
    return blame.source.find_in_forward(r"^\s*if\b.{0,160}\btraining\b") or lines.mask(blame)


def shape_of_the_mask(blame: Blame) -> int | None:
    """Where the mask gets the form in which it is applied: on the line that hides, or above."""
    line = lines.mask(blame)
    names = [name for name in blame.source.names_on(line) if name != blame.mask_name]
    made = (defined for name in names if (defined := blame.source.definition_of(name, line or 0)) is not None)
    return next((above for above in made if blame.mask_name in blame.source.names_on(above)), line)


def sense_of_the_mask(blame: Blame) -> int | None:
    """Where it is said which entries hide: the line that hides when it compares, else as above."""
    line = lines.mask(blame)
    return line if COMPARED.search(blame.source.code(line)) else shape_of_the_mask(blame)


def rescaled_after_dropout(blame: Blame) -> int | None:
    """Where the rows are divided again, between dropout and the mix."""
    dropped = [place for place, entry in enumerate(blame.trained) if entry.call in DROPS]
    if not dropped:
        return lines.dropout(blame)
    found = None
    for entry in blame.trained[dropped[-1] + 1 :]:
        if entry.call in PRODUCTS:
            break
        found = entry.line if entry.call in SCALINGS | {"normalize"} else found
    return found or lines.dropout(blame)


def measured_dropout(blame: Blame) -> int | None:
    """A way past the output layer, else where the rate is computed, else what becomes of the kept weights."""
    past = _past_the_output_layer(blame)
    if past is not None:
        return past
    layer = lines.dropout_layer(blame)
    return layer if RATE_COMPUTED.search(blame.source.code(layer)) else rescaled_after_dropout(blame)


def part_mixed(blame: Blame) -> int | None:
    """Where a part of the packed projection is taken again, else the mix."""
    return lines.cut_again(blame) or lines.mix(blame)


def unpacking(blame: Blame) -> int | None:
    """Where the three parts get their names, else where they are cut."""
    cut = lines.projections(blame)
    return blame.source.unpacks_three(cut or 1) or cut


def wrong_cut(blame: Blame) -> int | None:
    """The slice that begins one too early or late, else the view that mixes the parts up, else the cut."""
    packed = (
        entry.line
        for entry in blame.trace
        if entry.call in ("view", "reshape")
        and len(entry.output or ()) == 4
        and 3 in (entry.output or ())[:2]
    )
    return blame.source.find_in_forward(OFF_BY_ONE) or next(packed, None) or lines.projections(blame)


def entry_by_entry(blame: Blame) -> int | None:
    """Where weights and values are multiplied entry by entry: two tensors after softmax."""
    after = blame.trace[_normalised(blame.trace) :]
    both = (e.line for e in after if e.call in ("mul", "mul_", "multiply") and len(e.inputs) == 2)
    return next(both, None) or blame.last()


def lines_dropped(blame: Blame) -> int | None:
    """Where it is drawn what goes together: by hand, by a layer for channels, or over a smaller tensor."""
    by_hand = blame.source.find_in_forward(r"\brand\w{0,20}\(|bernoulli|[Dd]ropout\dd?\(")
    plain = (entry.line for entry in blame.trained if entry.call == "dropout")
    return by_hand or next(plain, None) or lines.dropout_layer(blame)


def shrunk_in_eval(blame: Blame) -> int | None:
    """Where the weights are multiplied by a number in eval mode, as dropout did in 2014."""
    after = blame.trace[_normalised(blame.trace) :]
    return next((entry.line for entry in after if entry.call in SCALINGS and entry.numbers), None)


def returned(blame: Blame) -> int | None:
    """What is returned."""
    return blame.source.last_return() or blame.last()


def returned_pair(blame: Blame) -> int | None:
    """The `return` with more than one thing in it."""
    return blame.source.returns_several() or blame.source.last_return()


def separate_layers(blame: Blame) -> int | None:
    """The first layer that is made."""
    return blame.source.find(r"=\s*nn\.Linear") or blame.source.find(
        r"nn\.(Linear|Parameter|ModuleList|ModuleDict)\("
    )


def entrance(blame: Blame) -> int | None:
    """The signature where it refused a call or nothing ran, else the end of what ran."""
    return blame.signature() if blame.refused or not blame.trace else blame.last()


def foreign(blame: Blame) -> int | None:
    """A call that the formula does not have."""
    return blame.call_line(FOREIGN)


def random_eval(blame: Blame) -> tuple[str, int | None]:
    """Why eval mode is random: the label and the line."""
    switched = blame.source.find_in_forward(r"self(\.\w{1,40}){0,4}\.train\(")
    if switched is not None:
        return "eval_called_in_forward", switched
    for entry in blame.trace:
        if entry.call == "dropout":
            text = blame.source.text(entry.line)
            if entry.fresh_module or "nn.Dropout(" in text.replace(" ", ""):
                return "dropout_module_created_in_forward", entry.line
            if "training" in entry.numbers and entry.numbers["training"] == 1:
                told = re.search(
                    r"training|\bTrue\b|dropout\([^()]{1,80},[^(),]{1,80},", text.partition("#")[0]
                )
                return ("dropout_in_eval" if told else "functional_dropout_without_training_flag"), entry.line
    entry_line = blame.call_line(DROPS | {"scaled_dot_product_attention"}, last=True)
    return "dropout_in_eval", entry_line or blame.source.find(r"[Dd]ropout\w{0,40}\(|bernoulli|rand")
