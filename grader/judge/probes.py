"""Inputs of one call as recipes, and the tensors drawn from them: the same for the same seed.

Which probes tell everything apart is for a family to say (`grader.judge.family`): no size equals another in
the standard one, no rate is 0.5, masks are asymmetric and differ from sample to sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from grader.signature import Input, Signature, Sizes, shape_of

RATE = 0.35
OTHER_RATE = 0.15
HIGH_RATE = 0.6


@dataclass(frozen=True)
class MaskSpec:
    """A mask: its axes, `1` where it broadcasts, and its dtype. 0 hides."""

    axes: str
    dtype: torch.dtype = torch.bool
    open_rows: bool = False  # the first query of each sample sees everything
    open_samples: int = 0  # in so many samples, the first ones, nothing is hidden


@dataclass(frozen=True)
class Turn:
    """One of several calls on one instance: the slice of each input along its axis, and which state goes in.

    What is returned as state is kept under `keep`, and handed to the call whose `use` names it.
    """

    axis: str
    start: int
    stop: int
    keep: str = ""
    use: str = ""


@dataclass(frozen=True)
class Probe:
    """One input of a call, as a recipe. Two probes of a family never have the same name.

    Explanations are sought on probes of stage 0 first, then on those of stage 1, which show more: a mask, or
    logits that overflow. A `thin` probe says little; it sieves last. The inputs have the axes that the
    signature gives them, unless `axes` says otherwise; `change` makes something special of what was drawn.
    """

    name: str
    sizes: Sizes
    mask: MaskSpec | None = None
    stage: int = 0
    traced: bool = False
    thin: bool = False
    axes: Mapping[str, str] = field(default_factory=dict)
    dtypes: Mapping[str, torch.dtype] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    change: Mapping[str, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def in_calls(self) -> str:
        """For people: "in calls of 3, 1 and 3"."""
        *some, last = (str(turn.stop - turn.start) for turn in self.turns)
        return f"in calls of {', '.join(some)} and {last}" if some else f"in a call of {last}"

    def named(self, name: str, **changes: object) -> Probe:
        """The same under another name, so with other numbers."""
        return replace(self, name=name, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Drawn:
    """The tensors of a probe, under the names of the signature. `visible` is its mask as bool."""

    probe: Probe
    sizes: Sizes
    inputs: Mapping[str, Tensor]
    first: str  # the name of what people mean by the input
    mask_name: str = ""
    visible: Tensor | None = None

    @property
    def x(self) -> Tensor:
        return self.inputs[self.first]

    @property
    def mask(self) -> Tensor | None:
        return self.inputs.get(self.mask_name)

    def but(self, *, visible: Tensor | None = None, **inputs: Tensor) -> Drawn:
        """With other tensors in place of some; of a mask, what it shows."""
        masks = {} if visible is None else {self.mask_name: visible}
        shown = self.visible if visible is None else visible
        return replace(self, inputs={**self.inputs, **inputs, **masks}, visible=shown)

    def unmasked(self) -> Drawn:
        """Without the mask."""
        inputs = {name: value for name, value in self.inputs.items() if name != self.mask_name}
        return replace(self, inputs=inputs, visible=None)

    @property
    def floats(self) -> dict[str, Tensor]:
        """The inputs that gradients can reach."""
        return {
            name: value
            for name, value in self.inputs.items()
            if value.is_floating_point() and name != self.mask_name
        }

    @property
    def says(self) -> str:
        """For people: "x (3, 5, 12), bool mask (3, 5, 5)"."""
        parts = []
        for name, value in self.inputs.items():
            kind = str(value.dtype).removeprefix("torch.")
            shape = tuple(value.shape)
            if name == self.mask_name:
                parts.append(f"{kind} mask {shape}")
            else:
                parts.append(f"{name} {shape}" + (f" of {kind}" if value.dtype != torch.float32 else ""))
        parts += [f"{name}={number:g}" for name, number in self.probe.numbers.items()]
        if self.probe.turns:
            parts.append(self.probe.in_calls)
        return ", ".join(parts) + self._what_the_mask_hides

    @property
    def _what_the_mask_hides(self) -> str:
        spec, mask = self.probe.mask, self.mask
        if spec is None or mask is None or not spec.open_samples:
            return ""
        return " that hides nothing" + (" of the first sample" if spec.open_samples < len(self.x) else "")


def draw(probe: Probe, signature: Signature, sizes: Sizes, seed: int) -> Drawn:
    """The probe's tensors. `sizes` are those of all axes."""
    generator = torch.Generator().manual_seed(_mix(seed, probe.name))
    inputs: dict[str, Tensor] = {}
    visible = None
    mask = signature.mask
    for wanted in signature.inputs:
        if wanted is mask:
            if probe.mask is not None:
                visible = _visible(probe.mask, sizes, generator)
                inputs[wanted.name] = visible.to(probe.mask.dtype)
        elif wanted.is_tensor:
            value = _drawn(wanted, shape_of(probe.axes.get(wanted.name, wanted.axes), sizes), generator)
            value = probe.change.get(wanted.name, _as_it_is)(value)
            inputs[wanted.name] = value.to(probe.dtypes.get(wanted.name, value.dtype))
    return Drawn(probe, sizes, inputs, signature.first.name, mask.name if mask else "", visible)


def _as_it_is(value: Tensor) -> Tensor:
    return value


def _drawn(wanted: Input, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    if wanted.kind == "ids":
        return torch.arange(shape[-1]).expand(shape).clone()
    return torch.randn(shape, generator=generator)


def _visible(spec: MaskSpec, sizes: Sizes, generator: torch.Generator) -> Tensor:
    shape = shape_of(spec.axes, sizes)
    visible = draw_mask(shape, generator, per_sample=spec.axes.startswith("B"))
    if spec.open_rows:
        visible[..., 0, :] = True
    visible[: spec.open_samples] = True
    return visible


def draw_mask(shape: tuple[int, ...], generator: torch.Generator, *, per_sample: bool = True) -> Tensor:
    """A bool mask with at least one visible and one hidden key in each row, and no symmetry."""
    while True:
        visible = torch.rand(shape, generator=generator) < 0.6
        rows = visible.flatten(0, -2)
        mixed = bool(rows.any(dim=-1).all() and (~rows).any(dim=-1).all())
        square = visible if shape[-2] == shape[-1] else None
        lopsided = square is None or not torch.equal(square, square.mT)
        samples = visible if per_sample and shape[0] > 1 else None
        varied = samples is None or not torch.equal(samples[0], samples[1])
        if (mixed or shape[-1] == 1) and lopsided and varied:
            return visible


def draw_parameters(
    shapes: Mapping[str, tuple[tuple[int, ...], int | None]], name: str, seed: int
) -> dict[str, Tensor]:
    """Values for weights (standard deviation 0.8/√fan_in) and for what has no fan-in: biases (0.4).

    So logits spread by about 0.8: enough to tell every mistake, and not so much that a mask leaves a row with
    next to no weight, where a right answer's `w / (w.sum() + 1e-8)` would part from the formula.
    """
    generator = torch.Generator().manual_seed(_mix(seed, f"parameters {name}"))
    return {
        parameter: torch.randn(shape, generator=generator) * (0.8 / fan_in**0.5 if fan_in else 0.4)
        for parameter, (shape, fan_in) in shapes.items()
    }


def _mix(seed: int, name: str) -> int:
    """One number from the grade's seed and a name; stable between runs and machines."""
    value = seed & 0xFFFFFFFF
    for character in name:
        value = (value * 1_000_003 ^ ord(character)) & 0x7FFFFFFFFFFF
    return value
