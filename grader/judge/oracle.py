"""Attention as a row of named steps on one context.

A kata's *plan* names its steps in order, each a small function `Context -> Context`. A *form* of a mistake
replaces one step (rarely two). So mistakes compose: a variant is a set of forms on different steps.

The same engine serves later levels: a kata with heads, a cache or rotary positions adds steps to its plan and
fields to `Context.extra`; nothing here knows which steps exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

RTOL, ATOL = 1e-4, 1e-5  # for float32
CRASHES = (RuntimeError, IndexError, ValueError)


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear layer with `weight` (out, in) and `bias` (out) or None: y = x Wᵀ + b."""

    weight: Tensor
    bias: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x, self.weight, self.bias)


@dataclass(frozen=True)
class Context:
    """What the steps read and write.

    x: (batch, seq_len, hidden_dim). mask: as the candidate got it, broadcastable to (batch, seq_len,
    seq_len), 0 = hidden, or None. visible: the same as bool. query, key, value, mixed: (batch, seq_len,
    hidden_dim); scores, weights: (batch, seq_len, seq_len).
    """

    x: Tensor
    layers: Mapping[str, Affine]
    mask: Tensor | None = None
    visible: Tensor | None = None
    training: bool = False
    rate: float = 0.0
    query: Tensor = field(default_factory=lambda: torch.empty(0))
    key: Tensor = field(default_factory=lambda: torch.empty(0))
    value: Tensor = field(default_factory=lambda: torch.empty(0))
    scores: Tensor = field(default_factory=lambda: torch.empty(0))
    weights: Tensor = field(default_factory=lambda: torch.empty(0))
    mixed: Tensor = field(default_factory=lambda: torch.empty(0))
    output: Tensor = field(default_factory=lambda: torch.empty(0))
    extra: Mapping[str, Any] = field(default_factory=dict)

    def but(self, **changes: Any) -> Context:
        """A copy with these fields changed; made by the thousand, so faster than `replace`."""
        if not changes.keys() <= self.__dict__.keys():
            raise TypeError(f"a context has no {', '.join(sorted(changes.keys() - self.__dict__.keys()))}")
        copy = object.__new__(Context)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    @property
    def hidden_dim(self) -> int:
        return int(self.x.shape[-1])

    @property
    def seq_len(self) -> int:
        return int(self.x.shape[-2])


StepFunction = Callable[[Context], Context]
Plan = Mapping[str, StepFunction]
Variant = Mapping[str, StepFunction]  # step name -> what replaces it; empty: the right answer


@dataclass(frozen=True)
class Form:
    """One way of making the mistake `label`: the steps it replaces.

    `shows`, `sentence` and `fix` override the label's words in mistakes.toml where the form is more special.
    `entails` are the labels of mistakes that this one is as well; `in_one_mode` is the label where it is made
    in eval mode or in training only. `needs` names what the candidate's layers
    or the kata must have for the form to make sense ("fused", "output_layer", "no_output_step",
    "fixed_order").
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
        context = (variant or {}).get(name, step)(context)
    return context


def attempt(plan: Plan, context: Context, variant: Variant) -> Tensor | None:
    """The output of a variant; None where it cannot run on these shapes (it would crash)."""
    try:
        return run(plan, context, variant).output
    except CRASHES:
        return None


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
