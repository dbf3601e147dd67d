"""Several calls in turn, each on a slice of one probe's inputs, with the state handed on unopened.

What they give is put together again: to the judge it is one output, to be compared with that of one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.observations import Asked, Observation
from grader.judge.probes import Drawn, Turn
from grader.signature import Signature


class AskedInTurns(Asked):
    """Calls on their way, one for each turn of what was drawn."""

    def __init__(self, drawn: Drawn, signature: Signature, calls: Sequence[Asked]) -> None:
        self._drawn = drawn
        self._signature = signature
        self.calls = tuple(calls)

    @cached_property
    def seen(self) -> Observation:
        """What they gave, put together; the first problem where there is one."""
        return joined(self._drawn, self._signature, [call.seen for call in self.calls])


def parts(drawn: Drawn, signature: Signature) -> tuple[tuple[Turn, Drawn], ...]:
    """The turns, each with what goes in: a slice of each input that has the axis."""
    return tuple((turn, _part(drawn, signature, turn)) for turn in drawn.probe.turns)


def joined(drawn: Drawn, signature: Signature, seen: Sequence[Observation]) -> Observation:
    """What the calls gave as if it were one; the output of a call that has another shape stands alone."""
    problem = next((one for one in seen if one.problem is not None), None)
    if problem is not None:
        return replace(problem, drawn=drawn)
    odd = next((one for one in seen if one.called is not None and one.called.returned != "tensor"), seen[-1])
    whole = Observation(drawn, called=odd.called, dtype=odd.dtype)
    if any(one.output is None for one in seen):
        return whole
    turns = drawn.probe.turns
    order = sorted(range(len(turns)), key=lambda place: turns[place].start)
    outputs = [one.output for place in order for one in (seen[place],) if one.output is not None]
    axes = output_axes(drawn, signature).split()
    place = axes.index(turns[0].axis) - len(axes)
    shapes = {output.shape[:place] + output.shape[place:][1:] for output in outputs}
    odd_rank = next((output for output in outputs if output.dim() != len(axes)), None)
    if odd_rank is not None or len(shapes) > 1:
        return replace(whole, output=outputs[-1] if odd_rank is None else odd_rank)
    return replace(whole, output=torch.cat(outputs, dim=place), after=_after(drawn, signature, seen, order))


def _after(
    drawn: Drawn, signature: Signature, seen: Sequence[Observation], order: Sequence[int]
) -> dict[str, Tensor]:
    """The inputs as they were after the calls."""
    found: dict[str, Tensor] = {}
    axis = drawn.probe.turns[0].axis
    for wanted in signature.inputs:
        axes = drawn.probe.axes.get(wanted.name, wanted.axes).split()
        pieces = [after for place in order if (after := seen[place].after.get(wanted.name)) is not None]
        if wanted.is_tensor and axis in axes and len(pieces) == len(order):
            rank = {piece.dim() for piece in pieces}
            if rank == {len(axes)}:
                found[wanted.name] = torch.cat(pieces, dim=axes.index(axis) - len(axes))
    return found


def _part(drawn: Drawn, signature: Signature, turn: Turn) -> Drawn:
    """What goes in at a turn."""
    sliced: dict[str, Tensor] = {}
    for wanted in signature.inputs:
        axes = drawn.probe.axes.get(wanted.name, wanted.axes)
        if wanted.is_tensor and wanted.name in drawn.inputs and turn.axis in axes.split():
            sliced[wanted.name] = part_of(drawn.inputs[wanted.name], axes, turn)
    return replace(
        drawn.but(**sliced),
        probe=replace(drawn.probe, turns=()),
        sizes={**drawn.sizes, turn.axis: turn.stop - turn.start},
    )


def output_axes(drawn: Drawn, signature: Signature) -> str:
    output = signature.outputs[0]
    return drawn.probe.axes.get(output.name, output.axes or signature.first.axes)


def part_of(whole: Tensor, axes: str, turn: Turn) -> Tensor:
    names = axes.split()
    return whole.narrow(names.index(turn.axis) - len(names), turn.start, turn.stop - turn.start)
