"""The x-ray: concepts measured by themselves, whatever else is wrong.

With value and output projections set to the identity and distinct one-hot tokens (seq_len < hidden_dim),
the output *is* the attention-weight matrix. Row sums, hidden columns and the measured divisor of the
scores follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from grader.judge import probes
from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached
from grader.judge.observations import Asked, Observation, Rig
from grader.judge.oracle import Affine, Context, run, same
from grader.judge.probes import Drawn, Probe
from grader.judge.roles import Layout, Misfit

SPILL = 1e-3  # share of the output that may lie outside the columns of the tokens; 0 in a right answer
CONTRAST = 6.0  # one-hot tokens are short vectors; stronger queries make a map that people can read
MAP_PROBE = Probe("map", 3, 5)
MASKED_MAP_PROBE = Probe("masked_map", 3, 5, mask="bss")


@dataclass(frozen=True)
class Map:
    """Attention weights of one call: (batch, seq_len, seq_len), the candidate's and the right ones.

    `logits` are the unscaled scores query·key of the judge's own layers.
    """

    actual: Tensor
    expected: Tensor
    logits: Tensor
    visible: Tensor | None

    @property
    def rows_are_weights(self) -> bool:
        """Whether softmax can have given every row: nothing negative, and a sum of one."""
        sums = self.actual.sum(dim=-1)
        return bool((self.actual > -1e-4).all()) and bool(((sums - 1).abs() < 1e-3).all())


@dataclass(frozen=True)
class _MapCall:
    """The call that shows a map: its one-hot tokens, which they are, and the values that were set."""

    drawn: Drawn
    order: Tensor
    values: Mapping[str, Tensor]
    asked: Asked


class XRay:
    """Measurements on one candidate; each is made once."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._asked: dict[Probe, _MapCall] = {}
        self._tokens: dict[Probe, tuple[Drawn, Tensor]] = {}

    @cached_property
    def layout(self) -> Layout:
        layout = self._candidate.likely_layout
        if layout is None or layout.borrowed:
            raise NotReached("the layers could not be told apart, so nothing can be measured through them")
        return layout

    @cached_property
    def plain(self) -> Map:
        """The map without a mask."""
        return self._map(MAP_PROBE)

    @cached_property
    def masked(self) -> Map:
        """The map under a (batch, seq_len, seq_len) bool mask."""
        return self._map(MASKED_MAP_PROBE)

    @cached_property
    def divisor(self) -> float:
        """What the scores are divided by: log wᵢⱼ - log wᵢₖ = (sᵢⱼ - sᵢₖ)/divisor."""
        found = self.plain
        if not bool((found.actual > 0).all()):
            raise NotReached("the weights are not all positive, so no ratio of logarithms exists")
        logs = found.actual.double().log()
        ys = logs - logs.mean(dim=-1, keepdim=True)
        xs = found.logits.double() - found.logits.double().mean(dim=-1, keepdim=True)
        slope = float((xs * ys).sum() / (xs * xs).sum())
        residual = float((ys - slope * xs).abs().max())
        if residual > 1e-2 * max(1.0, float(ys.abs().max())) or slope <= 0:
            raise NotReached("the weights do not follow query·key, so no divisor can be measured")
        return 1 / slope

    def tokens(self, probe: Probe) -> tuple[Drawn, Tensor]:
        """The probe with one-hot tokens, and which they are; drawn once."""
        if probe not in self._tokens:
            self._tokens[probe] = one_hot(probe, self._candidate.seed)
        return self._tokens[probe]

    def values(self, rig: Rig, value: Tensor) -> Mapping[str, Tensor]:
        """The rig's parameters: stronger queries, this value weight, the identity as output projection."""
        values = {name: tensor.clone() for name, tensor in rig.values.items()}
        try:
            query = self.layout.slots["query"].affine(values, rig.width)
            bias = None if query.bias is None else query.bias * CONTRAST
            self.layout.slots["query"].write(values, Affine(query.weight * CONTRAST, bias), rig.width)
            self.layout.slots["value"].write(values, Affine(value), rig.width)
            if "output" in self.layout.slots:
                self.layout.slots["output"].write(values, Affine(torch.eye(rig.width)), rig.width)
        except Misfit as error:
            raise NotReached("the layers do not have the shapes of projections") from error
        return values

    def ask(self, probe: Probe) -> _MapCall:
        """Have the map of a probe made; asked once. Raises `NotReached`."""
        if probe not in self._asked:
            candidate = self._candidate
            rig = candidate.quiet_rig
            if rig.problem is not None:
                raise NotReached("no instance could be built")
            drawn, order = self.tokens(probe)
            values = self.values(rig, torch.eye(rig.width))
            self._asked[probe] = _MapCall(drawn, order, values, candidate.ask(rig, drawn, values=values))
        return self._asked[probe]

    def _map(self, probe: Probe) -> Map:
        call = self.ask(probe)
        output = output_of(call.asked.seen)
        columns = call.order.unsqueeze(1).expand(-1, probe.seq_len, -1)
        actual = output.gather(2, columns)
        whole, inside = (float(tensor.nan_to_num().abs().sum()) for tensor in (output, actual))
        if whole - inside > SPILL * inside:
            raise NotReached("what comes out is no mix of the tokens, so no weights can be read off it")
        if self._candidate.layout is None:
            self._confirm(call, actual)
        context = self._candidate.context(call.drawn, self.layout, call.values)
        assert context is not None
        right = self._right(context)
        return Map(actual, right.weights, right.query @ right.key.mT, call.drawn.visible)

    def _confirm(self, call: _MapCall, weights: Tensor) -> None:
        """Where the answer is wrong: what was read as weights must mix any values, not only the identity."""
        rig = self._candidate.quiet_rig
        generator = torch.Generator().manual_seed(self._candidate.seed ^ 0xB0B)
        value = torch.randn(rig.width, rig.width, generator=generator) / rig.width**0.5
        asked = self._candidate.ask(rig, call.drawn, values=self.values(rig, value))
        mixed = weights @ (call.drawn.x @ value.mT)
        if not same(
            output_of(asked.seen), mixed, rtol=1e-3, atol=1e-3 * float(mixed.nan_to_num().abs().max())
        ):
            raise NotReached("what comes out is no mix of the values, so no weights can be read off it")

    def _right(self, context: Context) -> Context:
        with torch.inference_mode():
            return run(self._candidate.plan_for(self.layout), context)


def one_hot(probe: Probe, seed: int) -> tuple[Drawn, Tensor]:
    """Tokens that are distinct one-hot vectors, others in each sample, and which: (batch, seq_len)."""
    drawn = probes.draw(probe, seed)
    generator = torch.Generator().manual_seed(seed ^ 0x5EED)
    order = torch.stack(
        [torch.randperm(probe.width, generator=generator)[: probe.seq_len] for _ in range(probe.batch)]
    )
    return Drawn(probe, torch.eye(probe.width)[order], drawn.mask, drawn.visible), order


def output_of(seen: Observation) -> Tensor:
    """The output of a measurement; `NotReached` when forward gave none of the right shape."""
    if seen.output is None or seen.output.shape != seen.drawn.x.shape:
        raise NotReached("forward gave no output of x's shape to measure")
    return seen.output.float()
