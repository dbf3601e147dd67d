"""The candidate as the checks see it: a worker that builds instances and runs forward on the judge's numbers.

Parameters, inputs, masks and cotangents are the judge's own draws, sent along with every call; what comes
back is compared with the judge's own copies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from grader.answer_text import answer_text
from grader.catalog import Kata
from grader.judge import probes
from grader.judge.channel import Pending, WorkerLost
from grader.judge.content import KataContent
from grader.judge.observations import Asked, Observation, Rig
from grader.judge.oracle import Context, Plan, run, same
from grader.judge.probes import OTHER_RATE, RATE, WIDTH, Drawn, Probe
from grader.judge.roles import Layout, Misfit, layouts
from grader.judge.signature import constructor_arguments, mask_keyword
from grader.judge.units import units
from grader.protocol import (
    Build,
    Built,
    Call,
    Describe,
    Failure,
    Load,
    Loaded,
    Request,
)

RigKey = tuple[int, float | None, bool]  # width, dropout rate, in float16


class Caller(Protocol):
    """Something that answers requests: a worker behind a channel, or the oracle playing a candidate."""

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        """Send a request; what is returned waits for the reply. Answered in the order of sending."""


class Candidate:
    """One submission under judgement. Observations are made once and kept.

    What is asked for ahead (`build_ahead`, `ask`, `ask_probe`) is on its way while the judge goes on.
    """

    def __init__(
        self, content: KataContent, caller: Caller, seed: int, source: bytes, file_name: str
    ) -> None:
        self.content = content
        self.seed = seed
        self.file_name = file_name
        self._caller = caller
        self._started: dict[RigKey, tuple[int, Pending]] = {}
        self._rigs: dict[RigKey, Rig] = {}
        self._asked: dict[tuple[str, bool], Asked] = {}
        self._drawn: dict[Probe, Drawn] = {}
        self._seconds = content.kata.deadlines.call
        self.loaded: Loaded | None = None
        self.load_problem: Failure | WorkerLost | None = None
        self.text = answer_text(source, file_name)  # what line numbers refer to, whatever a worker says
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
        empty = torch.empty(0, dtype=torch.uint8)
        tensors = {"source": torch.frombuffer(bytearray(source), dtype=torch.uint8) if source else empty}
        try:
            reply, _ = self._caller.post(request, tensors, self._seconds)()
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
        key = self._start(width, rate, half)
        if key not in self._rigs:
            self._rigs[key] = self._built(key)
        return self._rigs[key]

    def build_ahead(self, width: int = WIDTH, rate: float | None = RATE, *, half: bool = False) -> None:
        """Ask for an instance that `rig` will be asked for."""
        self._start(width, rate, half)

    def _start(self, width: int, rate: float | None, half: bool) -> RigKey:
        key = (width, rate if self.kata.has_dropout else None, half)
        if key not in self._started:
            number = len(self._started)
            args, kwargs = self.constructor_arguments(*key[:2])
            request = Build(instance=number, args=args, kwargs=kwargs, half=half)
            self._started[key] = number, self._caller.post(request, None, self._seconds)
        return key

    def _built(self, key: RigKey) -> Rig:
        width, rate, _ = key
        number, pending = self._started[key]
        try:
            reply, _ = pending()
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
            for bias in (unit.bias, *unit.role_biases.values()):
                if bias is not None:
                    shapes[bias.name] = bias.shape
        values = probes.draw_parameters(shapes, width, self.seed)
        return Rig(
            number, width, rate, built=reply, units=found, made_in_forward=made_in_forward, values=values
        )

    def _after_a_call(self, number: int, width: int) -> Built | None:
        """The parameters once forward has run: lazy layers take their shape from the first input."""
        x = probes.draw(Probe("first_call", 2, 3, width), self.seed).x
        try:
            self._caller.post(Call(instance=number), {"x": x}, self._seconds)
            reply, _ = self._caller.post(Describe(instance=number), None, self._seconds)()
        except WorkerLost:
            return None
        return reply if isinstance(reply, Built) else None

    def constructor_arguments(
        self, width: int, rate: float | None
    ) -> tuple[tuple[int, ...], dict[str, float]]:
        """How this candidate's constructor takes a width and a dropout rate."""
        wanted = tuple(self.kata.constructor)
        return constructor_arguments(self.loaded.constructor if self.loaded else (), wanted, width, rate)

    # calling --------------------------------------------------------------------------------------------

    @cached_property
    def mask_keyword(self) -> str | None:
        return mask_keyword(self.loaded.forward if self.loaded else ())

    def ask(
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
    ) -> Asked:
        """Have forward called once. What it gave is in `seen`, which waits for it if it must."""
        if rig.problem is not None:
            return Asked.answered(Observation(drawn, problem=rig.problem))
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
            calm=rig.calm,
        )
        return Asked(drawn, tensors, self._caller.post(request, tensors, self._seconds))

    def draw(self, probe: Probe) -> Drawn:
        """The probe's tensors for this grade; drawn once."""
        if probe not in self._drawn:
            self._drawn[probe] = probes.draw(probe, self.seed)
        return self._drawn[probe]

    def ask_probe(self, probe: Probe, *, training: bool = False) -> Asked:
        """A standard probe, in eval mode or with dropout rate 0 in training; asked once.

        A candidate that drops in eval mode is observed with its dropout out of the way, so that the other
        steps can be judged.
        """
        key = (probe.name, training)
        if key not in self._asked:
            rate = 0.0 if training or self.eval_is_random else self._rate_at(probe.width)
            traced = training or probe.name in ("base", "mask_bss_bool", "mask_bss_int")
            rig = self.rig(probe.width, rate)
            if self.eval_is_random:
                rig = replace(rig, calm=True)
            self._asked[key] = self.ask(rig, self.draw(probe), training=training, trace=traced)
        return self._asked[key]

    def observe(self, probe: Probe, *, training: bool = False) -> Observation:
        """What a standard probe gave."""
        return self.ask_probe(probe, training=training).seen

    @cached_property
    def twice(self) -> tuple[tuple[Asked, Asked], ...]:
        """The first probe in eval mode under two seeds; then the same with a mask, where the kata has one."""
        return self._ask_twice(self.rig())

    @cached_property
    def eval_is_random(self) -> bool:
        """Two calls in eval mode with other seeds differ."""
        return any(_differ(*calls) for calls in self.twice)

    @cached_property
    def still_random(self) -> bool:
        """Random in eval mode even at dropout rate 0 and with torch's dropout out of the way."""
        return self.eval_is_random and any(_differ(*calls) for calls in self._ask_twice(self.quiet_rig))

    @property
    def quiet_rig(self) -> Rig:
        """The instance for measuring everything but dropout."""
        return replace(self.rig(rate=0.0), calm=True) if self.eval_is_random else self.rig()

    def _ask_twice(self, rig: Rig) -> tuple[tuple[Asked, Asked], ...]:
        first = probes.MASKED[:1] if self.kata.takes_mask else ()
        drawn = [self.draw(probe) for probe in (probes.UNMASKED[0], *first)]
        return tuple((self.ask(rig, one, seed=11), self.ask(rig, one, seed=12)) for one in drawn)

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

    @property
    def further_probes(self) -> tuple[Probe, ...]:
        masked = probes.FURTHER_MASKED if self.kata.takes_mask else ()
        return (*probes.FURTHER_UNMASKED, *masked)

    @cached_property
    def further(self) -> tuple[Observation, ...]:
        """The further probes in eval mode."""
        asked = [self.ask_probe(probe) for probe in self.further_probes]
        return tuple(call.seen for call in asked)

    @cached_property
    def in_training(self) -> tuple[Observation, ...]:
        """The first and the last standard probe in training mode: without a mask, and with one."""
        ends = (self.standard_probes[0], self.standard_probes[-1])
        asked = [self.ask_probe(probe, training=True) for probe in ends]
        return tuple(call.seen for call in asked)

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """All standard probes in eval mode."""
        asked = [self.ask_probe(probe) for probe in self.standard_probes]
        return tuple(call.seen for call in asked)

    @property
    def unmasked(self) -> tuple[Observation, ...]:
        return tuple(seen for seen in self.observations if seen.drawn.mask is None)

    @property
    def masked(self) -> tuple[Observation, ...]:
        return tuple(seen for seen in self.observations if seen.drawn.mask is not None)

    @property
    def written_numbers(self) -> tuple[int, ...]:
        """The whole numbers that the source spells out, in order, found by a text search."""
        found = re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", self.text)
        return tuple(dict.fromkeys(int(digits) for digits in found))

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
        seen_in_turn = (self.observe(probe) for probe in self.standard_probes)
        ran = next((seen for seen in seen_in_turn if seen.output is not None), None)
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

    @staticmethod
    def alike(one: Observation, other: Observation) -> bool:
        """Two outputs that agree within the tolerance."""
        return one.output is not None and other.output is not None and same(one.output, other.output)

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
        except Misfit:
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


def _differ(first: Asked, second: Asked) -> bool:
    one, other = first.seen.output, second.seen.output
    if one is None or other is None or one.shape != other.shape:
        return False
    return not torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
