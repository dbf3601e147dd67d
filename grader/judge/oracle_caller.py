"""The oracle as a candidate: it answers the judge's requests by running a plan, right or with mistakes in it.

So every mistake of the catalogue, and every pair, can be judged by the real checks without a process. It
holds layers of its own under conventional names, takes the values that the judge sets, and computes
gradients by autograd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.judge.channel import Answer, Pending
from grader.judge.content import KataContent
from grader.judge.family import Family, Role
from grader.judge.oracle import Affine, Context, Form, Variant, compose, output_of, run
from grader.judge.probes import Turn
from grader.judge.seeds import seeded
from grader.protocol import (
    Argument,
    Build,
    Built,
    Call,
    Called,
    Describe,
    Failure,
    Load,
    Loaded,
    ParameterInfo,
    Paste,
    Pasted,
    Request,
    Stage,
)
from grader.signature import Sizes, shape_of

# What torch raises on shapes and dtypes that do not fit.
CRASHES = (RuntimeError, IndexError, ValueError, TypeError)
PACKED = "proj"  # the layer that several roles share


@dataclass(frozen=True)
class PlayedLayers:
    """Which layers the played candidate has: one for each role, or one for those of the first packing."""

    family: Family
    roles: tuple[Role, ...]
    packed: tuple[str, ...]

    @classmethod
    def for_forms(cls, family: Family, forms: Sequence[Form], *, fused: bool = False) -> PlayedLayers:
        """The kata's own layers, and those that the forms cannot do without."""
        needs = frozenset().union(*(form.needs for form in forms))
        stepped = {step.role for step in family.plan.values()}
        roles = tuple(
            role
            for role in family.roles
            if not role.optional or role.name in stepped or f"{role.name}_layer" in needs
        )
        whole = fused or family.packed or "fused" in needs
        return cls(family, roles, family.packings[0].roles if whole and family.packings else ())

    @property
    def features(self) -> frozenset[str]:
        """What a form may rely on, in the words of `Form.needs`."""
        optional = {f"{role.name}_layer" for role in self.roles if role.optional}
        return frozenset(optional | ({"fused"} if self.packed else set()))

    def shapes(self, sizes: Sizes) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter."""
        shapes: dict[str, tuple[int, ...]] = {}
        if self.packed:
            out, into = self._shape(self.family.role(self.packed[0]), sizes)
            parts = len(self.packed)
            shapes |= {f"{PACKED}.weight": (parts * out, into), f"{PACKED}.bias": (parts * out,)}
        for role in self.roles:
            if role.name not in self.packed:
                out, into = self._shape(role, sizes)
                shapes |= {f"{role.name}_proj.weight": (out, into), f"{role.name}_proj.bias": (out,)}
        return shapes

    def _shape(self, role: Role, sizes: Sizes) -> tuple[int, int]:
        return math.prod(shape_of(role.out, sizes)), math.prod(shape_of(role.into, sizes))

    def affine(self, values: Mapping[str, Tensor], sizes: Sizes) -> dict[str, Affine]:
        """The layers as the steps take them."""
        layers = {}
        for role in self.roles:
            if role.name in self.packed:
                out, _ = self._shape(role, sizes)
                start = self.packed.index(role.name) * out
                piece = slice(start, start + out)
                layers[role.name] = Affine(values[f"{PACKED}.weight"][piece], values[f"{PACKED}.bias"][piece])
            else:
                layers[role.name] = Affine(
                    values[f"{role.name}_proj.weight"], values[f"{role.name}_proj.bias"]
                )
        return layers


@dataclass
class _Instance:
    sizes: Sizes
    rate: float
    values: dict[str, Tensor]
    came: dict[str, Tensor] = field(default_factory=dict)  # all that came in, where there are states
    turns: tuple[Turn, ...] = ()  # in which it came


class OracleCaller:
    """Answers `Load`, `Build`, `Describe` and `Call` as a worker with the candidate `forms` would.

    Raises `ValueError` when two of the forms replace the same step.
    """

    def __init__(self, content: KataContent, forms: Sequence[Form] = (), *, fused: bool = False) -> None:
        self._signature = content.kata.signature
        self._family = content.family
        self._variant: Variant = _composed(forms)
        self._layers = PlayedLayers.for_forms(content.family, forms, fused=fused)
        self._instances: dict[int, _Instance] = {}

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        """The reply is there at once; `seconds` is no matter for a caller that never hangs."""
        del seconds
        answer = self._answer(request, tensors)
        return lambda: answer

    def _answer(self, request: Request, tensors: dict[str, Tensor] | None) -> Answer:
        if isinstance(request, Load):
            return self._load(request), {}
        if isinstance(request, Build):
            return self._build(request), {}
        if isinstance(request, Paste):
            return Pasted(text=""), {}  # there is no module behind which they could stand
        if isinstance(request, Describe):
            return self._describe(self._instances[request.instance]), {}
        return self._call(request, tensors or {})

    def _load(self, request: Load) -> Loaded:
        asked = self._signature
        constructor = tuple(
            Argument(name=wanted.name, has_default=True, default=wanted.default) for wanted in asked.construct
        )
        forward = tuple(
            Argument(name=wanted.name, has_default=wanted.optional or wanted.kind == "number")
            for wanted in asked.inputs
        )
        return Loaded(
            class_name=request.name,
            constructor=constructor,
            forward=forward,
            own_constructor=True,
            own_forward=True,
            classes=(request.name,),
        )

    def _build(self, request: Build) -> Built:
        asked = self._signature
        named = dict(zip((wanted.name for wanted in asked.construct), request.args, strict=False))
        named |= request.kwargs
        given = {
            wanted.axis: int(named[wanted.name])
            for wanted in asked.construct
            if wanted.kind == "size" and wanted.name in named
        }
        sizes = self._family.sizes({**asked.defaults, **given}) if asked.construct else {}
        rate = 0.0 if asked.rate is None else float(named.get(asked.rate.name, asked.rate.default or 0.0))
        dtype = torch.float16 if request.half else torch.float32
        values = {name: torch.zeros(shape, dtype=dtype) for name, shape in self._layers.shapes(sizes).items()}
        instance = self._instances[request.instance] = _Instance(sizes, rate, values)
        return self._describe(instance)

    def _describe(self, instance: _Instance) -> Built:
        return Built(
            parameters=tuple(
                ParameterInfo(
                    name=name,
                    shape=tuple(value.shape),
                    dtype=str(value.dtype).removeprefix("torch."),
                    owner="Linear",
                )
                for name, value in instance.values.items()
            )
        )

    def _call(self, request: Call, tensors: dict[str, Tensor]) -> Answer:
        instance = self._instances[request.instance]
        cotangent = tensors.get("cotangent")
        for name, value in instance.values.items():
            if f"p:{name}" in tensors:
                instance.values[name] = tensors[f"p:{name}"].to(value.dtype)
        leaves = {name: _leaf(value, cotangent) for name, value in instance.values.items()}
        sent = {name[2:]: value for name, value in tensors.items() if name.startswith("i:")}
        new, sent = sent, self._with_what_came_before(request, sent, instance)
        inputs = {
            name: _leaf(value, cotangent if name in request.wanted else None) for name, value in sent.items()
        }
        wanted = self._signature.mask
        mask = None if wanted is None else sent.get(wanted.name)
        plan = self._family.plan
        context = Context(
            plan,
            inputs,
            self._layers.affine(leaves, instance.sizes),
            mask=mask,
            visible=None if mask is None else mask != 0,
            sizes=self._family.sizes({**instance.sizes, **self._sizes_of(sent)}),
            names=self._signature.axes,
            numbers=request.numbers,
            rate=instance.rate,
            training=request.training and not request.calm,
            turns=instance.turns if len(instance.turns) > 1 else (),
        )
        try:
            with seeded(request.seed), torch.set_grad_enabled(cotangent is not None):
                output = self._of_the_new(output_of(run(plan, context, self._variant)), new)
        except CRASHES as error:
            return _failure("forward", error), {}
        reply = {"output": output.detach().clone(), **{f"a:{name}": value for name, value in new.items()}}
        backward = None
        if cotangent is not None and output.requires_grad and output.shape == cotangent.shape:
            found = {f"d:{name}": inputs[name] for name in request.wanted}
            found |= {f"g:{name}": value for name, value in leaves.items()}
            backward = _gradients(output, found, cotangent, reply)
        called = Called(
            returned="tensor",
            type="Tensor" if request.returns == 1 else "tuple",
            length=request.returns,
            state="dict" if request.keep else "",
            shape=tuple(output.shape),
            training_after=request.training,
            backward=backward,
        )
        return called, reply

    @property
    def _grows(self) -> str:
        """The axis along which a state grows from call to call; none where the kata has no state."""
        return next((wanted.axes for wanted in self._signature.inputs if wanted.kind == "state"), "")

    def _with_what_came_before(
        self, request: Call, sent: dict[str, Tensor], instance: _Instance
    ) -> dict[str, Tensor]:
        """The oracle's state is what came in so far, in all sequences that are under way: it goes in again,
        and of the output the new part counts. What is kept under a name that is in use begins anew.
        """
        axis = self._grows
        if not axis:
            return sent
        use = next(iter(request.states.values()), "")
        if not use and request.keep in {"", *(turn.keep for turn in instance.turns)}:
            instance.came, instance.turns = {}, ()
        joined = dict(sent)
        for wanted in self._signature.inputs:
            axes = wanted.axes.split()
            if wanted.name in instance.came and wanted.name in sent and axis in axes:
                pair = [instance.came[wanted.name], sent[wanted.name]]
                joined[wanted.name] = torch.cat(pair, dim=axes.index(axis) - len(axes))
        start = instance.turns[-1].stop if instance.turns else 0
        first = self._signature.first
        count = sent[first.name].shape[first.axes.split().index(axis) - len(first.axes.split())]
        if not request.keep and not use:
            return joined  # a call by itself
        instance.came = joined
        instance.turns = (*instance.turns, Turn(axis, start, start + count, keep=request.keep, use=use))
        return joined

    def _of_the_new(self, output: Tensor, new: Mapping[str, Tensor]) -> Tensor:
        """Of an output over everything that came in so far, the part of this call."""
        first, axes = self._signature.first, self._signature.first.axes.split()
        if not self._grows:
            return output
        place = axes.index(self._grows) - len(axes)
        count = new[first.name].shape[place]
        return output.narrow(place, output.shape[place] - count, count)

    def _sizes_of(self, inputs: Mapping[str, Tensor]) -> dict[str, int]:
        """The sizes that the inputs have; an axis that broadcasts says nothing."""
        sizes: dict[str, int] = {}
        for wanted in self._signature.inputs:
            if wanted.name in inputs:
                axes, shape = wanted.axes.split(), inputs[wanted.name].shape
                if len(axes) == len(shape):
                    sizes |= {
                        axis: size
                        for axis, size in zip(axes, shape, strict=True)
                        if wanted.kind != "mask" or axis not in sizes
                    }
        return sizes


def _composed(forms: Sequence[Form]) -> Variant:
    variant = compose(forms)
    if variant is None:
        raise ValueError("two of the forms replace the same step")
    return variant


def _leaf(value: Tensor, cotangent: Tensor | None) -> Tensor:
    """A copy that no step reaches the judge's tensor through; it wants gradients when they are asked for."""
    return value.detach().clone().requires_grad_(cotangent is not None)


def _gradients(
    output: Tensor, wanted: Mapping[str, Tensor], cotangent: Tensor, reply: dict[str, Tensor]
) -> Failure | None:
    """Gradients of sum(output * cotangent) into the reply, under the names of what is wanted."""
    try:
        loss = (output * cotangent.to(output.dtype)).sum()
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    except CRASHES as error:
        return _failure("backward", error)
    reply |= {name: value for name, value in zip(wanted, found, strict=True) if value is not None}
    return None


def _failure(stage: Stage, error: Exception) -> Failure:
    return Failure(stage=stage, type=type(error).__name__, text=str(error)[:400])
