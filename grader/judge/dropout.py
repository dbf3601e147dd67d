"""Dropout, measured: where it falls, how often, what becomes of the rest, and whether eval() stops it.

Two settings of the value projection are needed. The tokens as values show which weights were dropped, and
cannot tell dropout on the weights from dropout on the output. V = 1 (all values are ones) can: dropped
weights change all features of a position alike, in each head; dropped outputs single ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached
from grader.judge.dropout_control import rehearse
from grader.judge.dropout_reading import CLOSE, OTHER, Finding, Reading
from grader.judge.dropout_replay import replay
from grader.judge.observations import Asked, Rig
from grader.judge.oracle import Affine, Form
from grader.judge.probes import HIGH_RATE, OTHER_RATE, RATE, Probe
from grader.judge.steps import Steps
from grader.judge.xray import XRay

CHANCE = 1e-11  # how seldom a right answer may be taken for one that drops whole lines
SHIFT = 3.0  # the output layer's bias, which no dropout may touch


class DropoutMeter:
    """Readings on one candidate; each is made once."""

    def __init__(self, candidate: Candidate, xray: XRay, steps: Steps) -> None:
        self._candidate = candidate
        self._xray = xray
        self._steps = steps
        self._readings: dict[tuple[Probe, float], tuple[Asked, ...]] = {}

    @property
    def probe(self) -> Probe:
        return self._declared(self._xray.reveal.dropout)

    @property
    def masked_probe(self) -> Probe:
        return self._declared(self._xray.reveal.dropout_masked)

    @staticmethod
    def _declared(probe: Probe | None) -> Probe:
        if probe is None:
            raise NotReached("the family has no probe for dropout")
        return probe

    @cached_property
    def main(self) -> Reading:
        return self._read(self.probe, RATE)

    @cached_property
    def other(self) -> Reading:
        """The same at another rate: a constant that happens to fit one does not fit both."""
        return self._read(self.probe, OTHER_RATE)

    @cached_property
    def masked(self) -> Reading:
        """The same under a mask, at a high rate."""
        return self._read(self.masked_probe, HIGH_RATE)

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.main, self.other, *((self.masked,) if self._candidate.kata.takes_mask else ()))

    @property
    def masked_is_random(self) -> bool:
        """Whether something is dropped under a mask."""
        return self._candidate.kata.takes_mask and self.masked.random

    @property
    def wrong(self) -> Finding | None:
        """What is wrong with the dropout itself, and not with another step.

        `NotReached` where another mistake leaves nothing of dropout to be seen.
        """
        if self._replayed is not None:
            form = self._replayed
            return None if form.neutral else Finding(form.label, RATE, replayed=True)
        reading = self._wrong_reading
        if reading is None:
            return None
        label = self._known.get(reading.fault or "")
        if label is None and self._played_alone is not None:
            return Finding(self._played_alone.label, RATE, reading.says, replayed=True)
        return Finding(label, reading.rate, reading.says, masked=reading.masked)

    @property
    def _known(self) -> Mapping[str, str]:
        """What content calls what is wrong with a reading."""
        return self._candidate.content.known.dropout

    @cached_property
    def _played_alone(self) -> Form | None:
        """A way of dropping that gives the outputs of training exactly, where nothing else is wrong."""
        explanation = self._steps.explanation
        form = None if explanation is None or explanation.forms else replay(self._candidate, explanation)
        return None if form is None or form.neutral else form

    @cached_property
    def _replayed(self) -> Form | None:
        """How the candidate drops, by its outputs. Only beside other mistakes: alone, readings tell more."""
        explanation = self._steps.explanation
        if explanation is None or not (explanation.forms or explanation.layout.borrowed):
            return None
        return replay(self._candidate, explanation)

    @property
    def _wrong_reading(self) -> Reading | None:
        for place, reading in enumerate(self.readings):
            if reading.right:
                continue
            if self._rehearsed is None or not reading.like(self._rehearsed.readings[place]):
                follows = self.main.zero_fraction - self.other.zero_fraction > self.main.tolerance
                if reading.fault == "another rate" and follows:
                    return replace(reading, rate_followed=True)
                blind = self._steps.explanation is None or self._training_differs
                if blind and (reading.fault == OTHER or reading.kept_varies):
                    raise NotReached("the output is wrong in a way that leaves the weights invisible")
                return reading
            if not reading.random:
                raise NotReached("another mistake keeps the weights from the output, and dropout with them")
        return None

    @cached_property
    def _rehearsed(self) -> DropoutMeter | None:
        """The same instrument on the explained mistake with right dropout."""
        played = rehearse(self._candidate, self._steps)
        return None if played is None else DropoutMeter(played, XRay(played), Steps(played))

    @cached_property
    def hidden_stay_hidden(self) -> bool:
        """In training, what a mask hides in eval mode stays hidden, and what was finite stays finite."""
        if self._replayed is not None:
            return self._replayed.label != self._known.get("scores")
        tokens = self._xray.tokens(self.masked_probe)
        calls = self.ask(self.masked_probe, HIGH_RATE)[:2]
        still, moved = (tokens.weights(self._xray.output_of(call.seen)) for call in calls)
        assert tokens.visible is not None
        hidden = ~tokens.visible & (still == 0)
        return bool(moved[still.isfinite()].isfinite().all()) and bool((moved[hidden] == 0).all())

    def ask(self, probe: Probe, rate: float) -> tuple[Asked, ...]:
        """The calls for a reading: in eval mode, twice in training, and with constant values; asked once."""
        key = (probe, rate)
        if key not in self._readings:
            self._readings[key] = (
                self._ask(probe, rate, training=self._training_differs, seed=1, still=True),
                self._ask(probe, rate, training=True, seed=1),
                self._ask(probe, rate, training=True, seed=2),
                self._ask(probe, rate, training=True, seed=2, identity=False),
            )
        return self._readings[key]

    @property
    def in_training(self) -> tuple[Asked, ...]:
        """Calls in training mode with real dropout, under a mask where the kata has one."""
        if self._candidate.kata.takes_mask:
            return self.ask(self.masked_probe, HIGH_RATE)[1:3]
        return self.ask(self.probe, RATE)[1:3]

    @cached_property
    def _training_differs(self) -> bool:
        """Training differs from eval mode with nothing dropped, so it is held against itself."""
        candidate = self._candidate
        return any(
            moved.output is not None
            and bool(moved.output.isfinite().all())
            and not candidate.alike(moved, candidate.observe(moved.probe))
            for moved in candidate.in_training
        )

    def _ask(
        self,
        probe: Probe,
        rate: float,
        *,
        training: bool,
        seed: int,
        identity: bool = True,
        still: bool = False,
    ) -> Asked:
        rig = self._candidate.rig(rate=rate)
        if still and (training or self._candidate.eval_is_random):
            rig = replace(self._candidate.rig(rate=0.0), calm=True)
        if rig.problem is not None:
            raise NotReached("no instance could be built with that dropout rate")
        values = self._xray.values(rig) if identity else self._constants(rig)
        drawn = self._xray.tokens(probe).drawn
        return self._candidate.ask(rig, drawn, values=values, training=training, seed=seed)

    def _constants(self, rig: Rig) -> Mapping[str, Tensor]:
        """A head's values are 1 in its even features and 0 in the others; the output layer adds `SHIFT`.

        By the bias of the value layer where it has one: what adds that bias after the dropped weights shows.
        """
        reveal, slots = self._xray.reveal, self._xray.layout.slots
        out, into = self._xray.handed_on(rig).shape
        pattern = (torch.arange(out) % rig.sizes[reveal.width] % 2 == 0).float()
        values = self._xray.values(rig, pattern.unsqueeze(1).expand(-1, into))
        if slots[reveal.value].has_bias:
            flat = Affine(torch.zeros(out, into), pattern)
            slots[reveal.value].write(values, flat, rig.sizes)
        if reveal.last in slots:
            same = self._xray.identity(rig)
            slots[reveal.last].write(values, Affine(same, torch.full((len(same),), SHIFT)), rig.sizes)
        return values

    def _shift(self) -> float:
        output = self._xray.layout.slots.get(self._xray.reveal.last)
        return SHIFT if output is not None and output.has_bias else 0.0

    def _read(self, probe: Probe, rate: float) -> Reading:
        called = self._candidate.observe(self._candidate.standard_probes[0], training=True).called
        if called is not None and not called.training_after:
            raise NotReached("forward switches the module to eval mode, so nothing can be dropped")
        tokens = self._xray.tokens(probe)
        *maps, ones = (self._xray.output_of(call.seen) for call in self.ask(probe, rate))
        ones = tokens.split(ones - self._shift())
        still, moved, again = (tokens.weights(output) for output in maps)
        real = still.abs() > 1e-6
        if not bool(real.any()):
            raise NotReached("all attention weights are zero in eval mode, so nothing can be dropped")
        zero = (moved.abs() < 1e-9) & real
        kept = real & ~zero
        ratios = moved[kept] / still[kept]
        factor = float(ratios.median()) if ratios.numel() else float("nan")
        spread = float((ratios - factor).abs().max()) if ratios.numel() else 0.0
        even, odd = ones[..., ::2], ones[..., 1::2]
        pairs = even[..., : even.shape[-1] // 2 * 2]
        apart = max(float((even - even[..., :1]).abs().max()), float(odd.abs().max()))
        agree = apart <= CLOSE * max(1.0, float(ones.abs().max()))
        steady = bool((even - 1).abs().max() <= CLOSE)
        return Reading(
            rate=rate,
            random=not torch.equal(torch.nan_to_num(moved), torch.nan_to_num(again)),
            finite=bool(moved.isfinite().all() and ones.isfinite().all()),
            zero_fraction=float(zero.sum() / real.sum()),
            kept_factor=factor,
            kept_varies=spread > 1e-2 * max(1.0, abs(factor)),
            rows_sum_to_one=bool((moved.sum(-1) - 1).abs().median() < CLOSE),
            features_agree=agree,
            features_dropped=not torch.allclose(pairs[..., ::2], pairs[..., 1::2], atol=CLOSE),
            values_spared=agree and steady and not torch.equal(moved, still),
            whole_lines=any(_together(zero, kept, axis, rate) for axis in _several(zero)),
            moved=not torch.equal(torch.nan_to_num(moved), torch.nan_to_num(still)),
            entries=int(real.sum()),
            masked=probe.mask is not None,
        )


def _several(weights: Tensor) -> list[int]:
    """The axes along which there is more than one weight: keys, queries, samples, heads."""
    return [axis for axis in (-1, -2, 0, 1) if weights.shape[axis] > 1]


def _together(zero: Tensor, kept: Tensor, axis: int, rate: float) -> bool:
    """Whether the weights along an axis are dropped or kept as one, and that is no chance.

    A mask can leave so few whole lines that single draws agree on each of them.
    """
    lines = (zero | kept).all(dim=axis)
    mixed = zero.any(dim=axis) & kept.any(dim=axis)
    length = zero.shape[axis]
    chance = (rate**length + (1 - rate) ** length) ** int(lines.sum())
    some = bool(zero.any()) and bool(kept.any())
    return some and chance < CHANCE and not bool(mixed[lines].any())
