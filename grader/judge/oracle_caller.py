"""The oracle as a candidate: it answers the judge's requests by running a plan, right or with mistakes in it.

So every mistake of the catalogue, and every pair, can be judged by the real checks without a process. It
holds layers of its own under conventional names, takes the values that the judge sets, and computes
gradients by autograd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.catalog import Kata
from grader.judge.channel import Answer, Pending
from grader.judge.content import KataContent
from grader.judge.oracle import Affine, Context, Form, Plan, Variant, compose, run
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
    Request,
    Stage,
)

PACKED = ("query", "key", "value")
# What torch raises on shapes and dtypes that do not fit.
CRASHES = (RuntimeError, IndexError, ValueError, TypeError)


@dataclass(frozen=True)
class Layers:
    """Which layers the played candidate has: one for each role, or one `proj` for query, key and value."""

    roles: tuple[str, ...]
    fused: bool

    @classmethod
    def for_forms(cls, kata: Kata, forms: Sequence[Form], *, fused: bool = False) -> Layers:
        """The kata's own layers, and those that the forms cannot do without."""
        needs = frozenset().union(*(form.needs for form in forms))
        roles = kata.layers.roles
        if "output_layer" in needs and "output" not in roles:
            roles = (*roles, "output")
        return cls(roles, fused or kata.layers.fused == "required" or "fused" in needs)

    @property
    def features(self) -> frozenset[str]:
        """What a form may rely on, in the words of `Form.needs`."""
        return frozenset(
            name for name, has in (("fused", self.fused), ("output_layer", "output" in self.roles)) if has
        )

    def shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter."""
        shapes: dict[str, tuple[int, ...]] = {}
        if self.fused:
            shapes |= {"proj.weight": (3 * width, width), "proj.bias": (3 * width,)}
        for role in self.roles:
            if not (self.fused and role in PACKED):
                shapes |= {f"{role}_proj.weight": (width, width), f"{role}_proj.bias": (width,)}
        return shapes

    def affine(self, values: Mapping[str, Tensor], width: int) -> dict[str, Affine]:
        """The layers as the steps take them."""
        layers = {}
        for role in self.roles:
            if self.fused and role in PACKED:
                start = PACKED.index(role) * width
                piece = slice(start, start + width)
                layers[role] = Affine(values["proj.weight"][piece], values["proj.bias"][piece])
            else:
                layers[role] = Affine(values[f"{role}_proj.weight"], values[f"{role}_proj.bias"])
        return layers


@dataclass
class _Instance:
    width: int
    rate: float
    values: dict[str, Tensor]


class OracleCaller:
    """Answers `Load`, `Build`, `Describe` and `Call` as a worker with the candidate `forms` would.

    Raises `ValueError` when two of the forms replace the same step.
    """

    def __init__(self, content: KataContent, forms: Sequence[Form] = (), *, fused: bool = False) -> None:
        self._kata = content.kata
        self._plan: Plan = content.plan
        self._variant: Variant = _composed(forms)
        self._layers = Layers.for_forms(content.kata, forms, fused=fused)
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
        if isinstance(request, Describe):
            return self._describe(self._instances[request.instance]), {}
        return self._call(request, tensors or {})

    def _load(self, request: Load) -> Loaded:
        constructor = tuple(
            Argument(name=name, has_default=True, default=default)
            for name, default in self._kata.constructor.items()
        )
        forward = tuple(
            Argument(name=name, has_default=place > 0) for place, name in enumerate(self._kata.forward)
        )
        return Loaded(
            class_name=request.class_name,
            constructor=constructor,
            forward=forward,
            own_constructor=True,
            own_forward=True,
            classes=(request.class_name,),
        )

    def _build(self, request: Build) -> Built:
        named = dict(zip(self._kata.constructor, request.args, strict=False)) | request.kwargs
        width = int(named.get("hidden_dim", self._kata.constructor["hidden_dim"]))
        rate = float(named.get("dropout_rate", self._kata.constructor.get("dropout_rate", 0.0)))
        dtype = torch.float16 if request.half else torch.float32
        values = {name: torch.zeros(shape, dtype=dtype) for name, shape in self._layers.shapes(width).items()}
        instance = self._instances[request.instance] = _Instance(width, rate, values)
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
        x = _leaf(tensors["x"], cotangent)
        mask = tensors.get("mask")
        context = Context(
            x=x,
            layers=self._layers.affine(leaves, instance.width),
            mask=mask,
            visible=None if mask is None else mask != 0,
            training=request.training and not request.calm,
            rate=instance.rate,
            extra={"output_step": "output" in self._kata.layers.roles},
        )
        try:
            with seeded(request.seed), torch.set_grad_enabled(cotangent is not None):
                output = run(self._plan, context, self._variant).output
        except CRASHES as error:
            return _failure("forward", error), {}
        reply = {"output": output.detach().clone(), "x_after": tensors["x"]}
        if mask is not None:
            reply["mask_after"] = mask
        backward = None
        if cotangent is not None and output.requires_grad and output.shape == cotangent.shape:
            backward = _gradients(output, {"x": x, **leaves}, cotangent, reply)
        called = Called(
            returned="tensor",
            type="Tensor",
            shape=tuple(output.shape),
            training_after=request.training,
            backward=backward,
        )
        return called, reply


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
    """Gradients of sum(output * cotangent) into the reply, as `g:<name>`."""
    try:
        loss = (output * cotangent.to(output.dtype)).sum()
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    except CRASHES as error:
        return _failure("backward", error)
    reply |= {f"g:{name}": value for name, value in zip(wanted, found, strict=True) if value is not None}
    return None


def _failure(stage: Stage, error: Exception) -> Failure:
    return Failure(stage=stage, type=type(error).__name__, text=str(error)[:400])
