"""The x-ray: concepts measured by themselves, whatever else is wrong.

A family says how to set an answer so that its output *is* its attention weights (`Reveal`): distinct one-hot
tokens, handed through by the value layer and the output layer. Row sums, hidden columns and the measured
divisor of the scores follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached
from grader.judge.family import Reveal
from grader.judge.observations import Asked, Observation, Rig
from grader.judge.oracle import Affine, Context, run, same
from grader.judge.probes import Drawn, Probe
from grader.judge.roles import Layout
from grader.judge.units import Misfit

SPILL = 1e-3  # share of the output that may lie outside the columns of the tokens; 0 in a right answer
CONTRAST = 6.0  # one-hot tokens are short vectors; stronger queries make a map that people can read


@dataclass(frozen=True)
class Map:
    """Attention weights of one call: (batch, heads, queries, keys), the candidate's and the right ones.

    `logits` are the unscaled scores of the judge's own layers.
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
class Tokens:
    """A probe with one-hot tokens, and which they are: (batch, keys) places among the features of a head."""

    drawn: Drawn
    order: Tensor
    heads: int
    width: int  # features of a head

    @property
    def visible(self) -> Tensor | None:
        """What the mask shows, for every head: (batch, heads, queries, keys)."""
        spec, visible = self.drawn.probe.mask, self.drawn.visible
        if spec is None or visible is None:
            return None
        batch, keys = self.order.shape
        queries = self.drawn.x.shape[-2]
        if len(spec.axes.split()) == 2 and spec.axes.startswith("B"):
            visible = visible.unsqueeze(-2)  # of the keys alone, so for all queries
        visible = visible if visible.dim() == 4 else visible.unsqueeze(-3)
        return visible.expand(batch, self.heads, queries, keys)

    def split(self, output: Tensor) -> Tensor:
        """An output by heads: (batch, heads, queries, features of a head)."""
        if output.dim() == self.order.dim() + 2:
            return output
        return output.reshape(*output.shape[:-1], self.heads, self.width).transpose(1, 2)

    def weights(self, output: Tensor) -> Tensor:
        """What of an output lies on the tokens: (batch, heads, queries, keys)."""
        split = self.split(output)
        places = self.order[:, None, None, :].expand(*split.shape[:3], -1)
        return split.gather(3, places)


@dataclass(frozen=True)
class _MapCall:
    """The call that shows a map: its one-hot tokens, and the values that were set."""

    tokens: Tokens
    values: Mapping[str, Tensor]
    asked: Asked


class XRay:
    """Measurements on one candidate; each is made once."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self._asked: dict[Probe, _MapCall] = {}
        self._tokens: dict[Probe, Tokens] = {}

    @property
    def reveal(self) -> Reveal:
        reveal = self._candidate.family.reveal
        if reveal is None:
            raise NotReached("there are no weights to be seen in this kata")
        return reveal

    @cached_property
    def layout(self) -> Layout:
        layout = self._candidate.likely_layout
        if layout is None or layout.borrowed:
            raise NotReached("the layers could not be told apart, so nothing can be measured through them")
        return layout

    @property
    def map_probe(self) -> Probe:
        return self._candidate.family.like_base("map")

    @property
    def masked_map_probe(self) -> Probe:
        return self._candidate.family.like_base("masked_map", masked=True)

    @cached_property
    def plain(self) -> Map:
        """The map without a mask, where a call needs none."""
        return self._map(self.map_probe)

    @cached_property
    def masked(self) -> Map:
        """The map under a full bool mask."""
        return self._map(self.masked_map_probe)

    @cached_property
    def turned(self) -> Map:
        """The map over several calls, where the family has a probe of such."""
        probe = self._candidate.family.turned
        assert probe is not None
        return self._map(probe.named("turned_map", traced=False))

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

    def tokens(self, probe: Probe) -> Tokens:
        """The probe with one-hot tokens; drawn once."""
        if probe not in self._tokens:
            self._tokens[probe] = self._one_hot(probe)
        return self._tokens[probe]

    def _one_hot(self, probe: Probe) -> Tokens:
        """Tokens that are distinct one-hot vectors, others in each sample."""
        candidate, reveal = self._candidate, self.reveal
        drawn = candidate.draw(probe)
        tokens = drawn.inputs[reveal.tokens]
        heads = drawn.sizes[reveal.heads] if reveal.heads else 1
        width = drawn.sizes[reveal.width]
        keys = tokens.shape[-2]
        generator = torch.Generator().manual_seed(candidate.seed ^ 0x5EED)
        order = torch.stack([torch.randperm(width, generator=generator)[:keys] for _ in range(len(tokens))])
        one_hot = torch.eye(width, tokens.shape[-1])[order]
        if tokens.dim() > one_hot.dim():
            one_hot = one_hot.unsqueeze(1).expand(tokens.shape).clone()
        return Tokens(drawn.but(**{reveal.tokens: one_hot}), order, heads, width)

    def values(self, rig: Rig, value: Tensor | None = None) -> dict[str, Tensor]:
        """The rig's parameters: stronger queries, the tokens (or a value weight) as values, no output
        layer.
        """
        values = {name: tensor.clone() for name, tensor in rig.values.items()}
        reveal, slots = self.reveal, self.layout.slots
        try:
            if reveal.stronger:
                query = slots[reveal.stronger].affine(values, rig.sizes)
                bias = None if query.bias is None else query.bias * CONTRAST
                slots[reveal.stronger].write(values, Affine(query.weight * CONTRAST, bias), rig.sizes)
            if reveal.value:
                slot = slots[reveal.value]
                slot.write(values, Affine(self.handed_on(rig) if value is None else value), rig.sizes)
            if reveal.last in slots:
                slots[reveal.last].write(values, Affine(self.identity(rig)), rig.sizes)
        except Misfit as error:
            raise NotReached("the layers do not have the shapes of projections") from error
        return values

    def handed_on(self, rig: Rig) -> Tensor:
        """The value weight that hands the first features of the tokens to every head."""
        out, into = self._value_shape(rig)
        width = rig.sizes[self.reveal.width]
        return torch.eye(width, into).repeat(out // width, 1)

    def _value_shape(self, rig: Rig) -> tuple[int, int]:
        weight = self.layout.slots[self.reveal.value].affine(rig.values, rig.sizes).weight
        return weight.shape[0], weight.shape[1]

    def identity(self, rig: Rig) -> Tensor:
        """The weight of the last layer that hands everything on."""
        weight = self.layout.slots[self.reveal.last].affine(rig.values, rig.sizes).weight
        return torch.eye(*weight.shape)

    def ask(self, probe: Probe) -> _MapCall:
        """Have the map of a probe made; asked once. Raises `NotReached`."""
        if probe not in self._asked:
            candidate = self._candidate
            rig = candidate.quiet_rig
            if rig.problem is not None:
                raise NotReached("no instance could be built")
            tokens = self.tokens(probe)
            values = self.values(rig)
            asked = candidate.ask_whole(rig, tokens.drawn, values=values)
            self._asked[probe] = _MapCall(tokens, values, asked)
        return self._asked[probe]

    def _map(self, probe: Probe) -> Map:
        call = self.ask(probe)
        output = self.output_of(call.asked.seen)
        actual = call.tokens.weights(output)
        whole, inside = (float(tensor.nan_to_num().abs().sum()) for tensor in (output, actual))
        if whole - inside > SPILL * inside:
            raise NotReached("what comes out is no mix of the tokens, so no weights can be read off it")
        if self._candidate.layout is None:
            self._confirm(call, actual)
        context = self._candidate.context(call.tokens.drawn, self.layout, call.values)
        assert context is not None
        reveal = self.reveal
        logits, right = self._right(context)
        expected = _by_heads(getattr(right, reveal.weights))
        return Map(actual, expected, _by_heads(logits), call.tokens.visible)

    def _confirm(self, call: _MapCall, weights: Tensor) -> None:
        """Where the answer is wrong: what was read as weights must mix any values, not only the tokens."""
        if not self.reveal.value:
            return
        rig = self._candidate.quiet_rig
        generator = torch.Generator().manual_seed(self._candidate.seed ^ 0xB0B)
        out, into = self._value_shape(rig)
        value = torch.randn(out, into, generator=generator) / into**0.5
        drawn = call.tokens.drawn
        values = self.values(rig, value)
        asked = self._candidate.ask_whole(rig, drawn, values=values)
        context = self._candidate.context(drawn, self.layout, values)
        assert context is not None
        _, right = self._right(context)
        mixed = weights @ _by_heads(getattr(right, self.reveal.value))
        given = call.tokens.split(self.output_of(asked.seen))
        if not same(given, mixed, rtol=1e-3, atol=1e-3 * float(mixed.nan_to_num().abs().max())):
            raise NotReached("what comes out is no mix of the values, so no weights can be read off it")

    def _right(self, context: Context) -> tuple[Tensor, Context]:
        """The logits as they are first made, and what follows."""
        plan, name = context.plan, self.reveal.logits
        steps = list(plan)
        first = next(place for place, step in enumerate(steps) if name in plan[step].makes)
        with torch.inference_mode():
            begun = run({step: plan[step] for step in steps[: first + 1]}, context)
            done = run({step: plan[step] for step in steps[first + 1 :]}, begun)
        return getattr(begun, name), done

    def output_of(self, seen: Observation) -> Tensor:
        """The output of a measurement; `NotReached` when forward gave none of the right shape."""
        if not self._candidate.has_right_shape(seen):
            raise NotReached(f"forward gave no output of {self._candidate.shape_in_words} to measure")
        assert seen.output is not None
        return seen.output.float()


def _by_heads(tensor: Tensor) -> Tensor:
    """(batch, queries, keys) as that of one head."""
    return tensor if tensor.dim() == 4 else tensor.unsqueeze(1)
