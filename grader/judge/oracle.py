"""A computation as a row of named steps on one context.

A kata's *plan* names its steps in order, each a small function `Context -> Context`. A *form* of a mistake
replaces one step (rarely two). So mistakes compose: a variant is a set of forms on different steps.

Nothing here knows which steps exist, which tensors they make, or which layers there are: content says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grader.judge.probes import Turn
from grader.signature import Sizes

RTOL, ATOL = 1e-4, 1e-5  # for float32
CRASHES = (RuntimeError, IndexError, ValueError)
NOTHING = torch.empty(0)  # what a step has yet to make


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear layer with `weight` (out, in) and `bias` (out) or None: y = x Wᵀ + b."""

    weight: Tensor
    bias: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x, self.weight, self.bias)


class Remembered(Affine):
    """A layer that works out once what it makes of an input: dozens of forms ask for just that."""

    __slots__ = ("_inputs", "_made")
    _inputs: dict[int, Tensor]
    _made: dict[int, Tensor]

    def __init__(self, layer: Affine, inputs: Iterable[Tensor]) -> None:
        super().__init__(layer.weight, layer.bias)
        object.__setattr__(self, "_inputs", {id(value): value for value in inputs})
        object.__setattr__(self, "_made", {})

    def __call__(self, x: Tensor) -> Tensor:
        made = self._made
        if id(x) not in self._inputs:
            return super().__call__(x)
        if id(x) not in made:
            made[id(x)] = super().__call__(x)
        return made[id(x)]


class Context:
    """What the steps read and write, as attributes: `c.x`, `c.scores`, `c.hidden_dim`.

    The call's inputs under their names; `mask`, as the candidate got it, 0 = hidden, or None, and `visible`,
    the same as bool; every tensor that a step of the plan makes (`NOTHING` until then); every size under the
    name of its axis; `numbers`, `sizes`, `layers`, `rate` and `training`; `plan`, the right steps; `turns`,
    where what came in came in several calls.
    """

    given: tuple[str, ...]  # the names of the tensors that came in
    makes: tuple[str, ...]  # the names of the tensors that steps make
    layers: Mapping[str, Affine]
    sizes: Sizes
    numbers: Mapping[str, float]
    plan: Plan
    mask: Tensor | None
    visible: Tensor | None
    rate: float
    training: bool
    turns: tuple[Turn, ...]

    def __init__(
        self,
        plan: Plan,
        inputs: Mapping[str, Tensor],
        layers: Mapping[str, Affine],
        *,
        mask: Tensor | None = None,
        visible: Tensor | None = None,
        sizes: Sizes | None = None,
        names: Mapping[str, str] | None = None,
        numbers: Mapping[str, float] | None = None,
        rate: float = 0.0,
        training: bool = False,
        turns: tuple[Turn, ...] = (),
    ) -> None:
        sizes, names = sizes or {}, names or {}
        made = dict.fromkeys((name for step in plan.values() for name in step.makes), NOTHING)
        self.__dict__.update({name: sizes[axis] for axis, name in names.items() if axis in sizes})
        self.__dict__.update(inputs)
        self.__dict__.update(made)
        self.__dict__.update(
            given=tuple(inputs),
            makes=tuple(made),
            layers=layers,
            sizes=sizes,
            numbers=numbers or {},
            plan=plan,
            mask=mask,
            visible=visible,
            rate=rate,
            training=training,
            turns=turns,
        )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def but(self, **changes: Any) -> Context:
        """A copy with these fields changed; made by the thousand."""
        if not changes.keys() <= self.__dict__.keys():
            raise TypeError(f"a context has no {', '.join(sorted(changes.keys() - self.__dict__.keys()))}")
        copy = object.__new__(Context)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    def axis(self, tensor: str, name: str) -> int:
        """Where a tensor that a step makes has this axis, counted from the end; `KeyError` where it has
        not.
        """
        axes = next(step.makes[tensor] for step in self.plan.values() if tensor in step.makes).split()
        if name not in axes:
            raise KeyError(f"{tensor} has the axes {' '.join(axes)}, and no {name}")
        return axes.index(name) - len(axes)

    def inputs(self) -> dict[str, Tensor]:
        """The tensors that came in, by name."""
        return {name: self.__dict__[name] for name in self.given}


StepFunction = Callable[[Context], Context]


@dataclass(frozen=True, eq=False)
class Step:
    """One right step: what it does, the concept whose points it costs, the tensors that it makes with their
    axes.

    Where an answer has no layer for `role`, it is measured `without` it.
    """

    run: StepFunction
    concept: str
    makes: Mapping[str, str] = field(default_factory=dict)
    role: str = ""
    without: StepFunction | None = None

    def __call__(self, context: Context) -> Context:
        return self.run(context)


Plan = Mapping[str, Step]
Variant = Mapping[str, StepFunction]  # step name -> what replaces it; empty: the right answer


@dataclass(frozen=True)
class Form:
    """One way of making the mistake `label`: the steps it replaces.

    `shows`, `sentence` and `fix` override the label's words in mistakes.toml where the form is more special.
    `entails` are the labels of mistakes that this one is as well; `in_one_mode` is the label where it is made
    in eval mode or in training only. `needs` names what the candidate's layers or the kata must have for the
    form to make sense: "fused", "fixed_order", and for a role that not every answer has "output_layer",
    "output_step", "no_output_step".
    """

    label: str
    steps: Variant
    shows: str = ""
    sentence: str = ""
    fix: str = ""
    entails: tuple[str, ...] = ()
    in_one_mode: str = ""
    needs: frozenset[str] = frozenset()
    name: str = ""

    @property
    def neutral(self) -> bool:
        """Another right way, which only matters beside a mistake: no label, no charge."""
        return not self.label

    def fits(self, plan: Plan, features: frozenset[str]) -> bool:
        return all(step in plan for step in self.steps) and self.needs <= features


def run(plan: Plan, context: Context, variant: Variant | None = None) -> Context:
    """The context after all steps, with the variant's replacements."""
    for name, step in plan.items():
        context = (variant or {}).get(name, step.run)(context)
    return context


def attempt(plan: Plan, context: Context, variant: Variant) -> Tensor | None:
    """The output of a variant; None where it cannot run on these shapes (it would crash)."""
    try:
        return output_of(run(plan, context, variant))
    except CRASHES:
        return None


def output_of(context: Context) -> Tensor:
    """What came out at the end."""
    output: Tensor = context.output
    return output


def compose(forms: Sequence[Form]) -> Variant | None:
    """The variant that makes all these mistakes at once; None when two of them replace the same step."""
    variant: dict[str, StepFunction] = {}
    for form in forms:
        if variant.keys() & form.steps.keys():
            return None
        variant.update(form.steps)
    return variant


def same(actual: Tensor, expected: Tensor | None, rtol: float = RTOL, atol: float = ATOL) -> bool:
    """Equal within the tolerance for float32, NaN and infinities at the same places, same shape."""
    if expected is None or actual.shape != expected.shape:
        return False
    return torch.allclose(actual.to(expected.dtype), expected, rtol=rtol, atol=atol, equal_nan=True)
