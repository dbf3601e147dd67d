"""Finders of single labels: where the mistake is made, when that is not where its concept is computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judge.blame import Blame
from grader.judge.calls import DROPS, NORMALISERS, PRODUCTS, SCALINGS, TURNS
from grader.protocol import TraceEntry

ACTIVATIONS = frozenset(
    {"relu", "tanh", "sigmoid", "gelu", "silu", "leaky_relu", "elu", "abs", "neg", "clamp", "clip"}
)
FOREIGN = frozenset(
    {"topk", "kthvalue", "sort", "argsort", "clamp", "clamp_", "clip", "roll", "flip", "minimum", "maximum"}
)
LOSES_AN_AXIS = frozenset({"flatten", "reshape", "view", "mean", "sum", "unbind", "tensordot"})
# The mask is turned round, or compared, where it is used.
COMPARED = re.compile(r"~|[=!]=|\b1(?:\.0)?\s{0,9}-|logical_not")

RATE_COMPUTED = re.compile(r"Dropout\w{0,20}\(.{0,80}[-+*/]|=\s{0,9}[\w.]{1,40}\s{0,9}[-+*/]")


def nonlinearity(blame: Blame) -> int | None:
    """The activation, else the second softmax: where the helper is called when it stands in one."""
    found = blame.call_line(ACTIVATIONS)
    if found is not None:
        return found
    lines = [entry.line for entry in blame.trace if entry.call in NORMALISERS]
    if len(lines) > 1 and lines[-1] in lines[:-1]:
        return blame.source.last_use_of_helper(lines[-1]) or lines[-1]
    return blame.last_softmax()


def turned_before_softmax(blame: Blame) -> int | None:
    """Where scores are turned on their own, else where they are made."""
    return _turned(blame.trace[: _normalised(blame.trace)]) or blame.scores()


def turned_after_softmax(blame: Blame) -> int | None:
    """Where weights are turned on their own, else the mix."""
    return _turned(blame.trace[_normalised(blame.trace) :]) or blame.mix()


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
    return next(moved, None) or blame.scores()


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
    return blame.source.find_in_forward(r"^\s*if\b.{0,160}\btraining\b") or blame.mask()


def shape_of_the_mask(blame: Blame) -> int | None:
    """Where the mask gets the form in which it is applied: on the line that hides, or above."""
    line = blame.mask()
    names = [name for name in blame.source.names_on(line) if name != blame.mask_name]
    made = (defined for name in names if (defined := blame.source.definition_of(name, line or 0)) is not None)
    return next((above for above in made if blame.mask_name in blame.source.names_on(above)), line)


def sense_of_the_mask(blame: Blame) -> int | None:
    """Where it is said which entries hide: the line that hides when it compares, else as above."""
    line = blame.mask()
    return line if COMPARED.search(blame.source.code(line)) else shape_of_the_mask(blame)


def rescaled_after_dropout(blame: Blame) -> int | None:
    """Where the rows are divided again, between dropout and the mix."""
    dropped = [place for place, entry in enumerate(blame.trained) if entry.call in DROPS]
    if not dropped:
        return blame.dropout()
    found = None
    for entry in blame.trained[dropped[-1] + 1 :]:
        if entry.call in PRODUCTS:
            break
        found = entry.line if entry.call in SCALINGS | {"normalize"} else found
    return found or blame.dropout()


def measured_dropout(blame: Blame) -> int | None:
    """A way past the output layer, else where the rate is computed, else what becomes of the kept weights."""
    past = _past_the_output_layer(blame)
    if past is not None:
        return past
    layer = blame.dropout_layer()
    return layer if RATE_COMPUTED.search(blame.source.code(layer)) else rescaled_after_dropout(blame)


def part_mixed(blame: Blame) -> int | None:
    """Where a part of the packed projection is taken again, else the mix."""
    return blame.cut_again() or blame.mix()


def unpacking(blame: Blame) -> int | None:
    """Where the three parts get their names, else where they are cut."""
    cut = blame.projections()
    return blame.source.unpacks_three(cut or 1) or cut


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
