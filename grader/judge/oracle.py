"""Attention as a row of named steps on one context, and the evaluation of many variants of it at once.

A kata's *plan* names its steps in order, each a small function `Context -> Context`. A *form* of a mistake
replaces one step (rarely two). So mistakes compose: a variant is a set of forms on different steps, and
`evaluate` runs thousands of them sharing every common prefix.

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
STACKED = ("query", "key", "value", "scores", "weights", "mixed", "output")
CHUNK = 256


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

    `shows` overrides the label's clause in mistakes.toml where the form is more special. `needs` names what
    the candidate's layers or the kata must have for the form to make sense ("fused", "output_layer",
    "no_output_step", "fixed_order").
    """

    label: str
    steps: Variant
    shows: str = ""
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


def evaluate(plan: Plan, variants: Sequence[Variant], context: Context) -> list[Tensor | None]:
    """The output of every variant; None where the variant cannot run on these shapes (it would crash).

    Common beginnings are run once. A variant that has no replacement left waits for the others that got as
    far with the same shapes, and the rest of the plan, right steps only, is run on all of them stacked: right
    steps count axes from the end, so they take one more in front.
    """
    results: list[Tensor | None] = [None] * len(variants)
    steps = list(plan.items())
    places = {name: place for place, (name, _) in enumerate(steps)}
    last = [max((places[name] for name in variant), default=-1) for variant in variants]
    waiting: dict[tuple[object, ...], list[tuple[Context, list[int]]]] = {}

    def descend(level: int, at: Context, members: list[int]) -> None:
        done = [index for index in members if last[index] < level]
        name, right = steps[level] if level < len(steps) else ("", lambda c: c)
        groups: dict[StepFunction, list[int]] = {}
        for index in members:
            if last[index] >= level:
                groups.setdefault(variants[index].get(name, right), []).append(index)
        if done and right in groups:
            groups[right] += done  # somebody else goes this way in any case
        elif done:
            waiting.setdefault((level, *_shapes(at)), []).append((at, done))
        for function, group in groups.items():
            try:
                after = function(at)
            except CRASHES:
                continue  # a variant that crashes on these shapes explains no output
            descend(level + 1, after, group)

    with torch.inference_mode():
        descend(0, context, list(range(len(variants))))
        for (level, *_), entries in waiting.items():
            rest = [function for _, function in steps[int(str(level)) :]]
            outputs = _finish(rest, [at for at, _ in entries])
            for (_, members), output in zip(entries, outputs, strict=True):
                for index in members:
                    results[index] = output
    return results


def _shapes(at: Context) -> tuple[object, ...]:
    """What must agree before contexts can be stacked; few fields, as it is asked for by the thousand."""
    return (id(at.x), at.value.shape, at.scores.shape, at.mixed.shape)


def _finish(rest: Sequence[StepFunction], contexts: Sequence[Context]) -> list[Tensor | None]:
    """The outputs after the rest of the plan; all contexts have the same x and, but for oddities, shapes."""
    first = contexts[0]
    filled = [name for name in STACKED if getattr(first, name).numel()]
    shapes = [getattr(first, name).shape for name in filled]
    if len(contexts) < 4 or any(len(shape) != 3 for shape in shapes):
        return [_run_on(rest, at) for at in contexts]
    outputs: list[Tensor | None] = []
    for start in range(0, len(contexts), CHUNK):
        chunk = contexts[start : start + CHUNK]
        try:
            stacked = {name: torch.stack([getattr(at, name) for at in chunk]) for name in filled}
        except RuntimeError:  # some are of another shape after all
            outputs += [_run_on(rest, at) for at in chunk]
            continue
        output = _run_on(rest, first.but(**stacked))
        outputs += [None] * len(chunk) if output is None else list(output.unbind(0))
    return outputs


def _run_on(rest: Sequence[StepFunction], at: Context) -> Tensor | None:
    try:
        for function in rest:
            at = function(at)
    except CRASHES:
        return None
    return at.output


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


def matches(actual: Tensor, outputs: Sequence[Tensor | None]) -> list[int]:
    """Indices of the outputs that equal `actual`; one comparison for all of the same shape."""
    fitting = [
        index for index, output in enumerate(outputs) if output is not None and output.shape == actual.shape
    ]
    if not fitting:
        return []
    stacked = torch.stack([outputs[index].to(actual.dtype) for index in fitting])  # type: ignore[union-attr]
    close = torch.isclose(actual.unsqueeze(0), stacked, rtol=RTOL, atol=ATOL, equal_nan=True)
    equal = close.flatten(1).all(dim=1)
    return [fitting[place] for place in equal.nonzero().flatten().tolist()]
