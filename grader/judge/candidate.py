"""The candidate as the checks see it: a worker that builds instances and runs forward on the judge's numbers.

Parameters, inputs, masks and cotangents are the judge's own draws, sent along with every call; what comes
back is compared with the judge's own copies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from grader.catalog import Kata
from grader.judge import probes
from grader.judge.channel import WorkerLost
from grader.judge.content import KataContent
from grader.judge.observations import Observation, Rig, heard
from grader.judge.oracle import Context, Plan, run, same
from grader.judge.probes import OTHER_RATE, RATE, WIDTH, Drawn, Probe
from grader.judge.roles import Layout, layouts, units
from grader.judge.signature import constructor_arguments, mask_keyword
from grader.protocol import (
    Build,
    Built,
    Call,
    Called,
    Describe,
    Failure,
    Load,
    Loaded,
    Reply,
    Request,
)


class Caller(Protocol):
    """Something that answers requests: a worker behind a channel, or the oracle playing a candidate."""

    def exchange(
        self, request: Request, tensors: dict[str, Tensor] | None, seconds: float
    ) -> tuple[Reply, dict[str, Tensor]]: ...


class Candidate:
    """One submission under judgement. Observations are made once and kept."""

    def __init__(
        self, content: KataContent, caller: Caller, seed: int, source: bytes, file_name: str
    ) -> None:
        self.content = content
        self.seed = seed
        self.file_name = file_name
        self._caller = caller
        self._rigs: dict[tuple[int, float | None, bool], Rig] = {}
        self._observed: dict[tuple[str, bool], Observation] = {}
        self._seconds = content.kata.deadlines.call
        self.loaded: Loaded | None = None
        self.load_problem: Failure | WorkerLost | None = None
        self._source = source
        self._load(source)

    @property
    def kata(self) -> Kata:
        return self.content.kata

    @property
    def plan(self) -> Plan:
        """The right steps, without the output projection where the candidate has no layer for it."""
        return self.content.plan

    def _load(self, source: bytes) -> None:
        request = Load(file_name=self.file_name, class_name=self.kata.class_name)
        tensors = {"source": torch.tensor(list(source), dtype=torch.uint8)}
        try:
            reply, _ = self._caller.exchange(request, tensors, self._seconds)
        except WorkerLost as lost:
            self.load_problem = lost
            return
        if isinstance(reply, Loaded):
            self.loaded = reply
        elif isinstance(reply, Failure):
            self.load_problem = reply

    # building -------------------------------------------------------------------------------------------

    def rig(self, width: int = WIDTH, rate: float | None = RATE, *, half: bool = False) -> Rig:
        """An instance of that width and dropout rate; built once."""
        if not self.kata.has_dropout:
            rate = None
        key = (width, rate, half)
        if key not in self._rigs:
            self._rigs[key] = self._build(len(self._rigs), width, rate, half)
        return self._rigs[key]

    def _build(self, number: int, width: int, rate: float | None, half: bool) -> Rig:
        args, kwargs = self.constructor_arguments(width, rate)
        request = Build(instance=number, args=args, kwargs=kwargs, half=half)
        try:
            reply, _ = self._caller.exchange(request, None, self._seconds)
        except WorkerLost as lost:
            return Rig(number, width, rate, problem=lost)
        if isinstance(reply, Failure):
            return Rig(number, width, rate, problem=reply)
        assert isinstance(reply, Built)
        late = reply
        if reply.lazy or not reply.parameters:
            late = self._after_a_call(number, width) or reply
        made_in_forward = not reply.parameters and bool(late.parameters)
        reply = late
        found = units(reply.parameters, width)
        shapes: dict[str, tuple[int, ...]] = {}
        for unit in found:
            shapes[unit.weight.name] = unit.weight.shape
            if unit.bias is not None:
                shapes[unit.bias.name] = unit.bias.shape
        values = probes.draw_parameters(shapes, width, self.seed)
        return Rig(
            number, width, rate, built=reply, units=found, made_in_forward=made_in_forward, values=values
        )

    def _after_a_call(self, number: int, width: int) -> Built | None:
        """The parameters once forward has run: lazy layers take their shape from the first input."""
        x = probes.draw(Probe("first_call", 2, 3, width), self.seed).x
        try:
            self._caller.exchange(Call(instance=number), {"x": x}, self._seconds)
            reply, _ = self._caller.exchange(Describe(instance=number), None, self._seconds)
        except WorkerLost:
            return None
        return reply if isinstance(reply, Built) else None

    def constructor_arguments(
        self, width: int, rate: float | None
    ) -> tuple[tuple[int, ...], dict[str, float]]:
        """How this candidate's constructor takes a width and a dropout rate."""
        return constructor_arguments(self.loaded.constructor if self.loaded else (), width, rate)

    # calling --------------------------------------------------------------------------------------------

    @cached_property
    def mask_keyword(self) -> str | None:
        return mask_keyword(self.loaded.forward if self.loaded else ())

    def run(
        self,
        rig: Rig,
        drawn: Drawn,
        *,
        values: Mapping[str, Tensor] | None = None,
        training: bool = False,
        cotangent: Tensor | None = None,
        trace: bool = False,
        dispatch: bool = False,
        seed: int | None = None,
    ) -> Observation:
        """Call forward once; never raises for what the candidate does."""
        if rig.problem is not None:
            return Observation(drawn, problem=rig.problem)
        tensors = {f"p:{name}": value for name, value in (rig.values if values is None else values).items()}
        tensors["x"] = drawn.x
        if drawn.mask is not None:
            tensors["mask"] = drawn.mask
        if cotangent is not None:
            tensors["cotangent"] = cotangent
        request = Call(
            instance=rig.number,
            training=training,
            seed=self.seed if seed is None else seed,
            mask_keyword=self.mask_keyword,
            trace=trace,
            dispatch=dispatch,
        )
        try:
            reply, back = self._caller.exchange(request, tensors, self._seconds)
        except WorkerLost as lost:
            return Observation(drawn, problem=lost)
        if isinstance(reply, Failure):
            return Observation(drawn, problem=reply)
        assert isinstance(reply, Called)
        return heard(drawn, tensors, reply, back)

    def observe(self, probe: Probe, *, training: bool = False) -> Observation:
        """The output on a standard probe, in eval mode or with dropout rate 0 in training; recorded once.

        A candidate that drops in eval mode is observed at rate 0, so that the other steps can be judged.
        """
        key = (probe.name, training)
        if key not in self._observed:
            rate = 0.0 if training or self.eval_is_random else self._rate_at(probe.width)
            drawn = probes.draw(probe, self.seed)
            traced = probe.name in ("base", "mask_bss_bool", "mask_bss_int")
            self._observed[key] = self.run(
                self.rig(probe.width, rate), drawn, training=training, trace=traced
            )
        return self._observed[key]

    @cached_property
    def eval_is_random(self) -> bool:
        """Two calls in eval mode with other seeds differ."""
        if not self.kata.has_dropout:
            return self._differs_by_seed(self.rig())
        return self._differs_by_seed(self.rig(rate=RATE))

    @cached_property
    def still_random(self) -> bool:
        """Random in eval mode even at dropout rate 0."""
        return self.eval_is_random and self._differs_by_seed(self.rig(rate=0.0))

    @property
    def quiet_rig(self) -> Rig:
        """The instance for measuring everything but dropout."""
        return self.rig(rate=0.0) if self.eval_is_random else self.rig()

    def _differs_by_seed(self, rig: Rig) -> bool:
        drawn = probes.draw(probes.UNMASKED[0], self.seed)
        one, other = (self.run(rig, drawn, seed=seed).output for seed in (11, 12))
        if one is None or other is None or one.shape != other.shape:
            return False
        return not torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))

    def _rate_at(self, width: int) -> float:
        return RATE if width == WIDTH else OTHER_RATE

    @property
    def takes_rate(self) -> bool:
        """Whether the constructor has an argument for the dropout rate."""
        return RATE in self.constructor_arguments(WIDTH, RATE)[1].values()

    @property
    def accepts_mask(self) -> bool:
        """Whether forward has a second argument."""
        return len(self.loaded.forward) > 1 if self.loaded is not None else False

    @property
    def standard_probes(self) -> tuple[Probe, ...]:
        return (*probes.UNMASKED, *probes.MASKED) if self.kata.takes_mask else probes.UNMASKED

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """All standard probes in eval mode."""
        return tuple(self.observe(probe) for probe in self.standard_probes)

    @property
    def unmasked(self) -> tuple[Observation, ...]:
        return tuple(seen for seen in self.observations if seen.drawn.mask is None)

    @property
    def masked(self) -> tuple[Observation, ...]:
        return tuple(seen for seen in self.observations if seen.drawn.mask is not None)

    @property
    def written_numbers(self) -> tuple[int, ...]:
        """The whole numbers that the source spells out, in order, found by a text search."""
        text = self._source.decode("utf-8", errors="replace")
        return tuple(dict.fromkeys(int(digits) for digits in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", text)))

    # comparing ------------------------------------------------------------------------------------------

    @cached_property
    def hypotheses(self) -> tuple[Layout, ...]:
        """Who may play which role, most plausible first."""
        return layouts(self.rig().units, order_is_fixed=self.kata.layers.fused == "required")

    @cached_property
    def layout(self) -> Layout | None:
        """The hypothesis under which the right attention reproduces the output; None: the answer is wrong.

        Judged on the first probe that ran; whether all others agree is the business of the checks.
        """
        ran = next((seen for seen in self.observations if seen.output is not None), None)
        if ran is None:
            return None
        for layout in self.hypotheses:
            if not layout.borrowed and self.reproduces(ran, layout):
                return layout
        return None

    @property
    def likely_layout(self) -> Layout | None:
        """The layout for measuring: the one that fits, else the most plausible."""
        if self.layout is not None:
            return self.layout
        return self.hypotheses[0] if self.hypotheses else None

    def reproduces(self, seen: Observation, layout: Layout) -> bool:
        return seen.output is not None and same(seen.output, self.expected(seen.drawn, layout))

    def context(
        self, drawn: Drawn, layout: Layout, values: Mapping[str, Tensor] | None = None
    ) -> Context | None:
        """The oracle's starting point on a probe; None where that width's layers do not fit the layout."""
        width = drawn.probe.width
        if values is None:
            values = self.rig(width, self._rate_at(width)).values
        try:
            layers = layout.layers(values, width)
        except (KeyError, RuntimeError):
            return None
        return Context(
            x=drawn.x,
            layers=layers,
            mask=drawn.mask,
            visible=drawn.visible,
            rate=self._rate_at(width) if self.kata.has_dropout else 0.0,
            extra={"output_step": "output" in self.kata.layers.roles},
        )

    def plan_for(self, layout: Layout) -> Plan:
        """The kata's plan; a candidate without an output layer is measured without that step."""
        if "output" in self.kata.layers.roles and "output" not in layout.slots:
            return {**self.plan, "output": lambda c: c.but(output=c.mixed)}
        return self.plan

    def expected(self, drawn: Drawn, layout: Layout) -> Tensor | None:
        """The right output on a probe under a layout."""
        context = self.context(drawn, layout)
        if context is None:
            return None
        with torch.inference_mode():
            return run(self.plan_for(layout), context).output
