"""The candidate as the checks see it: a worker that builds instances and calls them on the judge's numbers.

Parameters, inputs, masks and cotangents are the judge's own draws, sent along with every call; what comes
back is compared with the judge's own copies.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import msgspec
import torch
from torch import Tensor

from grader.answer_text import answer_text
from grader.catalog import Kata
from grader.judge import probes, turns
from grader.judge.channel import Pending, WorkerLost
from grader.judge.content import KataContent
from grader.judge.family import Family
from grader.judge.observations import Asked, Observation, Rig
from grader.judge.oracle import Affine, Context, Plan, output_of, run, same
from grader.judge.probes import OTHER_RATE, RATE, Drawn, Probe
from grader.judge.roles import Layout, Slot, layouts
from grader.judge.signature import call_arguments, constructor_arguments
from grader.judge.units import Finder, Misfit
from grader.protocol import (
    MAX_BODY,
    Build,
    Built,
    Call,
    Describe,
    Failure,
    Load,
    Loaded,
    Paste,
    Pasted,
    Request,
)
from grader.records import Planted
from grader.signature import Signature, Sizes, shape_of

RigKey = tuple[tuple[tuple[str, int], ...], float | None, bool]  # sizes, dropout rate, in float16

T = TypeVar("T")

MAX_NUMBERS = MAX_BODY // 4  # of all parameters: what a frame can carry
TOO_MANY = Failure(
    stage="build", type="MemoryError", text="its parameters are more numbers than a grade can send"
)


class Caller(Protocol):
    """Something that answers requests: a worker behind a channel, or the oracle playing a candidate."""

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        """Send a request; what is returned waits for the reply. Answered in the order of sending."""


class Candidate:
    """One submission under judgement. Observations are made once and kept.

    What is asked for ahead (`build_ahead`, `ask`, `ask_probe`) is on its way while the judge goes on.
    """

    def __init__(
        self,
        content: KataContent,
        caller: Caller,
        seed: int,
        source: bytes,
        file_name: str,
        planted: tuple[Planted, ...] = (),
    ) -> None:
        self.content = content
        self.seed = seed
        self.planted = planted  # what a bug hunt put into it
        self.file_name = file_name
        self._caller = caller
        self._started: dict[RigKey, tuple[int, Pending]] = {}
        self._rigs: dict[RigKey, Rig] = {}
        self._asked: dict[tuple[str, bool], Asked] = {}
        self._once: dict[Callable[[Candidate], Any], Any] = {}
        self._drawn: dict[Probe, Drawn] = {}
        self._read: dict[int, dict[Slot, Affine]] = {}  # by the number of the rig
        self._seconds = content.kata.deadlines.call
        self.loaded: Loaded | None = None
        self.load_problem: Failure | WorkerLost | None = None
        self.text = answer_text(source, file_name)  # what line numbers refer to, whatever a worker says
        self._load(source)

    @property
    def kata(self) -> Kata:
        return self.content.kata

    @property
    def family(self) -> Family:
        return self.content.family

    @property
    def signature(self) -> Signature:
        return self.kata.signature

    @property
    def sizes(self) -> Sizes:
        """Those of the first probe."""
        return self.family.sizes(self.family.base.sizes)

    def _load(self, source: bytes) -> None:
        request = Load(file_name=self.file_name, name=self.signature.name, sort=self.signature.kind)
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

    def rig(self, sizes: Sizes | None = None, rate: float | None = RATE, *, half: bool = False) -> Rig:
        """An instance of those sizes, by default the first probe's, and that dropout rate; built once."""
        key = self._start(sizes, rate, half)
        if key not in self._rigs:
            self._rigs[key] = self._built(key)
        return self._rigs[key]

    def build_ahead(
        self, sizes: Sizes | None = None, rate: float | None = RATE, *, half: bool = False
    ) -> None:
        """Ask for an instance that `rig` will be asked for."""
        self._start(sizes, rate, half)

    def _start(self, sizes: Sizes | None, rate: float | None, half: bool) -> RigKey:
        built = self.signature.built(self.family.base.sizes if sizes is None else sizes)
        key = (tuple(built.items()), rate if self.kata.has_dropout else None, half)
        if key not in self._started:
            number = len(self._started)
            args, kwargs = self.constructor_arguments(built, key[1])
            request = Build(instance=number, args=args, kwargs=kwargs, half=half)
            self._started[key] = number, self._caller.post(request, None, self._seconds)
        return key

    def _built(self, key: RigKey) -> Rig:
        sizes = self.family.sizes(dict(key[0])) if key[0] else {}  # a function is of no size
        rate = key[1]
        number, pending = self._started[key]
        try:
            reply, _ = pending()
        except WorkerLost as lost:
            return Rig(number, sizes, rate, problem=lost)
        if isinstance(reply, Failure):
            return Rig(number, sizes, rate, problem=reply)
        assert isinstance(reply, Built)
        late = reply
        if self.signature.is_module and (reply.lazy or not reply.parameters):
            late = self._after_a_call(number, sizes) or reply
        made_in_forward = not reply.parameters and bool(late.parameters)
        reply = late
        found = Finder(self.family, sizes).units(reply.parameters)
        known = {info.name: info.shape for info in reply.parameters}
        shapes: dict[str, tuple[tuple[int, ...], int | None]] = {}
        for unit in found:
            shapes |= {name: (known[name], unit.fan_in) for name in unit.weight.members(known)}
            for bias in (unit.bias, *unit.role_biases.values()):
                if bias is not None:
                    shapes |= {name: (known[name], None) for name in bias.members(known)}
        if sum(math.prod(shape) for shape, _ in shapes.values()) > MAX_NUMBERS:
            return Rig(number, sizes, rate, problem=TOO_MANY)
        named = " ".join(str(size) for _, size in key[0])
        values = probes.draw_parameters(shapes, named, self.seed)
        return Rig(
            number, sizes, rate, built=reply, units=found, made_in_forward=made_in_forward, values=values
        )

    def _after_a_call(self, number: int, sizes: Sizes) -> Built | None:
        """The parameters once forward has run: lazy layers take their shape from the first input."""
        drawn = self.draw(self.family.base.named("first_call", sizes={**self.family.base.sizes, **sizes}))
        request, tensors = self._call(drawn, number)
        try:
            self._caller.post(request, tensors, self._seconds)
            reply, _ = self._caller.post(Describe(instance=number), None, self._seconds)()
        except WorkerLost:
            return None
        return reply if isinstance(reply, Built) else None

    def constructor_arguments(
        self, sizes: Sizes, rate: float | None
    ) -> tuple[tuple[int, ...], dict[str, int | float]]:
        """How this candidate's constructor takes sizes and a dropout rate."""
        arguments = self.loaded.constructor if self.loaded else ()
        return constructor_arguments(arguments, self.signature, sizes, rate)

    # calling --------------------------------------------------------------------------------------------

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
        locals: bool = False,  # noqa: A002 - the request's word
        below: bool = False,
        keep: str = "",
        use: str = "",
    ) -> Asked:
        """Have it called once. What it gave is in `seen`, which waits for it if it must.

        A state that it gives back is kept under `keep`; the one that was kept under `use` is handed in.
        """
        if rig.problem is not None:
            return Asked.answered(Observation(drawn, problem=rig.problem))
        request, tensors = self._call(drawn, rig.number, use=use)
        tensors |= {f"p:{name}": value for name, value in (rig.values if values is None else values).items()}
        if cotangent is not None:
            tensors["cotangent"] = cotangent
        request = msgspec.structs.replace(
            request,
            keep=keep,
            wanted=() if cotangent is None else tuple(drawn.floats),
            training=training,
            seed=self.seed if seed is None else seed,
            trace=trace,
            dispatch=dispatch,
            below=below,
            calm=rig.calm,
            locals=locals,
        )
        pending = self._caller.post(request, tensors, self._seconds)
        return Asked(drawn, tensors, pending, is_mask=self.signature.outputs[0].kind == "mask")

    def paste(self, lines: tuple[str, ...]) -> str | None:
        """What lines print that are run behind the candidate's module; None where there is no answer."""
        try:
            reply, _ = self._caller.post(Paste(lines=lines), None, self._seconds)()
        except WorkerLost:
            return None
        return reply.text if isinstance(reply, Pasted) else None

    def ask_whole(
        self,
        rig: Rig,
        drawn: Drawn,
        *,
        values: Mapping[str, Tensor] | None = None,
        training: bool = False,
        trace: bool = False,
        dispatch: bool = False,
        below: bool = False,
    ) -> Asked:
        """Have it called on all that was drawn: in one call, or in turns where the probe has turns."""
        some = functools.partial(
            self.ask, rig, values=values, training=training, trace=trace, dispatch=dispatch, below=below
        )
        if not drawn.probe.turns:
            return some(drawn)
        calls = [
            some(part, keep=turn.keep, use=turn.use) for turn, part in turns.parts(drawn, self.signature)
        ]
        return turns.AskedInTurns(drawn, self.signature, calls)

    def _call(self, drawn: Drawn, number: int, *, use: str = "") -> tuple[Call, dict[str, Tensor]]:
        """The call of an instance on these inputs, in the order that the candidate's signature has."""
        states = [wanted.name for wanted in self.signature.inputs if wanted.kind == "state"] if use else []
        numbers = dict(drawn.probe.numbers)
        given = {*drawn.inputs, *numbers, *states}
        arguments = self.loaded.forward if self.loaded else ()
        args, kwargs = call_arguments(arguments, self.signature, given)
        request = Call(
            instance=number,
            args=args,
            kwargs=kwargs,
            numbers=numbers,
            states=dict.fromkeys(states, use),
            returns=len(self.signature.outputs),
        )
        return request, {f"i:{name}": value for name, value in drawn.inputs.items()}

    def draw(self, probe: Probe) -> Drawn:
        """The probe's tensors for this grade; drawn once."""
        if probe not in self._drawn:
            self._drawn[probe] = probes.draw(probe, self.signature, self.family.sizes(probe.sizes), self.seed)
        return self._drawn[probe]

    def ask_probe(self, probe: Probe, *, training: bool = False) -> Asked:
        """A standard probe, in eval mode or with dropout rate 0 in training; asked once.

        A candidate that drops in eval mode is observed with its dropout out of the way, so that the other
        steps can be judged.
        """
        key = (probe.name, training)
        if key not in self._asked:
            rate = 0.0 if training or self.eval_is_random else self._rate_at(probe.sizes)
            rig = self.rig(probe.sizes, rate)
            if self.eval_is_random:
                rig = replace(rig, calm=True)
            self._asked[key] = self.ask_whole(
                rig, self.draw(probe), training=training, trace=training or probe.traced
            )
        return self._asked[key]

    def once(self, ask: Callable[[Candidate], T]) -> T:
        """What a check asks by itself; sent once, ahead where the check says so."""
        if ask not in self._once:
            self._once[ask] = ask(self)
        kept: T = self._once[ask]
        return kept

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
        drawn = [self.draw(probe) for probe in self.family.by_stage.values()]
        return tuple((self.ask(rig, one, seed=11), self.ask(rig, one, seed=12)) for one in drawn)

    def rate_of(self, probe: Probe) -> float:
        """The dropout rate of the instance that a probe is put to in eval mode."""
        return self._rate_at(probe.sizes)

    def output_shape(self, drawn: Drawn) -> tuple[int, ...]:
        """The shape that the output of a call must have: that of the input, unless the kata says
        otherwise.
        """
        output = self.signature.outputs[0]
        axes = drawn.probe.axes.get(output.name, output.axes)
        if not axes or axes == self.signature.first.axes:
            return tuple(drawn.x.shape)
        return shape_of(axes, drawn.sizes)

    def has_right_shape(self, seen: Observation) -> bool:
        """Whether there is an output, of the shape that it must have."""
        return seen.output is not None and tuple(seen.output.shape) == self.output_shape(seen.drawn)

    @property
    def shape_in_words(self) -> str:
        """ "x's shape", or what the kata asks for."""
        output, first = self.signature.outputs[0], self.signature.first
        if not output.axes or output.axes == first.axes:
            return f"{first.name}'s shape"
        names = (self.signature.axes.get(axis, axis) for axis in output.axes.split())
        return f"the shape ({', '.join(names)})"

    def _rate_at(self, sizes: Sizes) -> float:
        return (
            RATE
            if self.signature.built(sizes) == self.signature.built(self.family.base.sizes)
            else OTHER_RATE
        )

    @property
    def takes_rate(self) -> bool:
        """Whether the constructor has an argument for the dropout rate."""
        return RATE in self.constructor_arguments(self.sizes, RATE)[1].values()

    @property
    def accepts_mask(self) -> bool:
        """Whether forward has so many arguments that one can be the mask."""
        mask = self.signature.mask
        places = len(self.loaded.forward) if self.loaded is not None else 0
        return mask is not None and places > self.signature.inputs.index(mask)

    @property
    def standard_probes(self) -> tuple[Probe, ...]:
        return self.family.standard

    @property
    def further_probes(self) -> tuple[Probe, ...]:
        return self.family.further

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
        return layouts(self.rig().units, self.family)

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
        """The oracle's starting point on a probe; None where the layers of that size do not fit the
        layout.
        """
        sizes = drawn.probe.sizes
        read: dict[Slot, Affine] = {}
        if values is None:
            rig = self.rig(sizes, self._rate_at(sizes))
            values, read = rig.values, self._read.setdefault(rig.number, {})
        try:
            layers = layout.layers(values, drawn.sizes, read)
        except Misfit:
            return None
        return Context(
            self.plan_for(layout),
            drawn.inputs,
            layers,
            mask=drawn.mask,
            visible=drawn.visible,
            sizes=drawn.sizes,
            names=self.signature.axes,
            numbers=drawn.probe.numbers,
            rate=self._rate_at(sizes) if self.kata.has_dropout else 0.0,
            turns=drawn.probe.turns,
        )

    def plan_for(self, layout: Layout) -> Plan:
        """The kata's plan under its conventions; steps of a layer that the candidate lacks are left out."""
        lacking = {role for role in self.family.optional if role not in layout.slots}
        return self.family.plan_of(frozenset(lacking), layout.convention)

    def expected(self, drawn: Drawn, layout: Layout) -> Tensor | None:
        """The right output on a probe under a layout."""
        context = self.context(drawn, layout)
        if context is None:
            return None
        with torch.inference_mode():
            return output_of(run(context.plan, context))


def _differ(first: Asked, second: Asked) -> bool:
    one, other = first.seen.output, second.seen.output
    if one is None or other is None or one.shape != other.shape:
        return False
    return not torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
