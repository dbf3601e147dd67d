"""Gradients: compared with the oracle's where forward is right, else only asked to arrive where they should.

A wrong forward has other gradients for good reasons, so there the question is: does the output depend on a
parameter (move it and look) while no gradient reaches it?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.observations import Asked, Observation
from grader.judge.oracle import output_of, run, same
from grader.judge.probes import Drawn
from grader.judge.roles import Slot
from grader.judge.units import Misfit
from grader.protocol import Failure
from grader.signature import Sizes

RTOL, ATOL = 2e-3, 2e-4
NOTHING = 1e-7


@dataclass(frozen=True)
class Lost:
    """Places that the output depends on and no gradient reaches, or where it is not the right one."""

    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    where: str = ""  # the calls that it is true of, where it is not true of all

    def __bool__(self) -> bool:
        return bool(self.missing or self.wrong)


class GradientMeter:
    """Gradients of one candidate on a judge-chosen cotangent."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    @cached_property
    def still(self) -> Asked:
        """The call with backward in eval mode; with a mask where the kata has one."""
        return self._candidate.ask(
            self._candidate.quiet_rig, self._drawn, cotangent=self._cotangent, trace=True
        )

    @cached_property
    def unmasked(self) -> Asked:
        """The same without a mask."""
        return self._candidate.ask(self._candidate.quiet_rig, self._plain, cotangent=self._cotangent)

    @cached_property
    def trained(self) -> Asked:
        """The same in training mode at dropout rate 0, where gradients are for."""
        rig = self._candidate.rig(rate=0.0)
        return self._candidate.ask(rig, self._drawn, training=True, cotangent=self._cotangent)

    @cached_property
    def dropped(self) -> Asked:
        """The same in training mode with real dropout."""
        return self._candidate.ask(
            self._candidate.rig(), self._drawn, training=True, cotangent=self._cotangent
        )

    @property
    def seen(self) -> Observation:
        """What the call in eval mode gave."""
        return self.still.seen

    @property
    def _plain(self) -> Drawn:
        return self._candidate.draw(self._candidate.family.like_base("gradients"))

    @property
    def _drawn(self) -> Drawn:
        if not self._candidate.kata.takes_mask:
            return self._plain
        return self._candidate.draw(self._candidate.family.like_base("gradients_masked", masked=True))

    @cached_property
    def _cotangent(self) -> Tensor:
        generator = torch.Generator().manual_seed(self._candidate.seed ^ 0xC07A)
        return torch.randn(self._candidate.output_shape(self._plain), generator=generator)

    def compared(self) -> Lost:
        """Against the oracle's gradients, where forward is right: in eval mode, then in training.

        With real dropout the gradients are random; but where the oracle's are large, some must arrive.
        """
        wanted = self._expected(self.seen)
        if wanted is None:  # the instance without dropout is built otherwise than the one that was judged
            return Lost()
        output, expected = wanted
        lost = _compare(expected, self.seen.gradients)
        if self._candidate.kata.takes_mask:
            plain = self._compared_without_a_mask()
            if bool(lost) != bool(plain):
                return replace(lost, where="Under a mask") if lost else replace(plain, where="Without a mask")
        trained = self.trained.seen
        if not lost and trained.output is not None and same(trained.output, output):
            lost = replace(_compare(expected, trained.gradients), where="In training mode")
        return lost or replace(self._cut_by_dropout(expected), where="In training mode, with dropout")

    def _compared_without_a_mask(self) -> Lost:
        seen = self.unmasked.seen
        wanted = self._expected(seen)
        if wanted is None or seen.output is None or not same(seen.output, wanted[0]):
            return Lost()  # another check's business
        return _compare(wanted[1], seen.gradients)

    def _cut_by_dropout(self, expected: Mapping[str, Tensor]) -> Lost:
        """Projections that get a gradient without dropout and none with it."""
        layout = self._candidate.layout
        if not self._candidate.kata.has_dropout or layout is None or self.dropped.seen.output is None:
            return Lost()
        missing = []
        sizes = self._candidate.sizes
        for role, slot in layout.slots.items():
            right = _piece(slot, expected, sizes)
            if right is None or float(right.abs().max()) < 1e-3:
                continue
            if _is_nothing(_piece(slot, self.dropped.seen.gradients, sizes)):
                missing.append(f"{slot.unit.weight.name} ({role})")
        return Lost(tuple(missing))

    def _expected(self, seen: Observation) -> tuple[Tensor, Mapping[str, Tensor]] | None:
        """The oracle's output and gradients on that input; None where the layers do not fit."""
        candidate = self._candidate
        layout, rig = candidate.layout, candidate.quiet_rig
        assert layout is not None
        leaves = {name: value.clone().requires_grad_(True) for name, value in rig.values.items()}
        context = candidate.context(seen.drawn, layout, leaves)
        if context is None:
            return None
        inputs = {name: value.clone().requires_grad_(True) for name, value in seen.drawn.floats.items()}
        output = output_of(run(context.plan, context.but(**inputs)))
        wanted = {**inputs, **leaves}
        loss = (output * self._cotangent).sum()
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
        gradients = {name: value for name, value in zip(wanted, found, strict=True) if value is not None}
        return output.detach(), gradients

    @property
    def broken_by_dropout(self) -> Failure | None:
        """What backward raises in training mode with real dropout, where nothing is wrong without it."""
        if not self._candidate.kata.has_dropout:
            return None
        called = self.dropped.seen.called
        return called.backward if called is not None else None

    def reached(self) -> Lost:
        """For a wrong forward: x and projections that move the output and get no gradient.

        A fused weight is asked part by part: the values' third gets a gradient when the others' do not.
        """
        candidate, rig, drawn = self._candidate, self._candidate.quiet_rig, self.seen.drawn
        still = candidate.ask(rig, drawn).seen.output
        missing = []
        for name, value in drawn.floats.items():
            moved = candidate.ask(rig, drawn.but(**{name: value + _step(value)})).seen.output
            if _is_nothing(self.seen.gradients.get(name)) and _differ(still, moved):
                missing.append(name)
        layout = candidate.likely_layout
        # Of a layer that is one parameter a head, some may have got none.
        arrived = {name: torch.zeros_like(value) for name, value in rig.values.items()}
        arrived |= self.seen.gradients
        for role, slot in (layout.slots if layout is not None else {}).items():
            if not _is_nothing(_piece(slot, arrived, rig.sizes)):
                continue
            values = {key: value.clone() for key, value in rig.values.items()}
            try:
                slot.change(values, rig.sizes, lambda piece: piece + _step(piece))
            except Misfit:  # this instance, of another dropout rate, is built otherwise
                continue
            if _differ(still, candidate.ask(rig, drawn, values=values).seen.output):
                missing.append(f"{slot.unit.weight.name} ({role})")
        return Lost(tuple(missing))


def _piece(slot: Slot, gradients: Mapping[str, Tensor], sizes: Sizes) -> Tensor | None:
    """What of the gradients belongs to a role; None where none arrived, or one of another shape."""
    try:
        return slot.piece(gradients, sizes)
    except Misfit:
        return None


def _step(value: Tensor) -> Tensor:
    """A small move in a fixed direction."""
    return 0.05 * torch.randn(value.shape, generator=torch.Generator().manual_seed(value.numel()))


def _compare(expected: Mapping[str, Tensor], actual: Mapping[str, Tensor]) -> Lost:
    missing = [
        name
        for name, value in expected.items()
        if float(value.abs().max()) > 1e-3 and _is_nothing(actual.get(name))
    ]
    wrong = [
        name
        for name, value in expected.items()
        if name in actual
        and name not in missing
        and not (
            actual[name].shape == value.shape
            and torch.allclose(
                actual[name].float(), value, rtol=RTOL, atol=ATOL * max(1.0, float(value.abs().max()))
            )
        )
    ]
    return Lost(tuple(missing), tuple(wrong))


def _is_nothing(gradient: Tensor | None) -> bool:
    return gradient is None or float(gradient.abs().max()) < NOTHING


def _differ(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None or one.shape != other.shape:
        return False
    both = one.isfinite() & other.isfinite()
    return bool(both.any()) and float((one - other)[both].abs().max()) > 1e-4
