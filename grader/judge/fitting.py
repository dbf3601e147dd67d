"""A wrong number that no known formula gives: it is fitted to the output.

A kata names the steps that hold one number (`Fitted`: the divisor of the scores, the fill of a mask). Where
everything else is right, the number under which the oracle gives the candidate's output is what was used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.judge.oracle import Context, Form, Plan, StepFunction, attempt, same
from grader.signature import Sizes

GRID, REFINEMENTS = 41, 6  # the last grid is finer than a millionth
HOPELESS = 0.2  # distance of the outputs, after two refinements, that no finer grid will close
Numbers = Mapping[tuple[int, ...], float]  # by the sizes of the axes that it may depend on


@dataclass(frozen=True)
class Fitted:
    """A step with one number in it, positive, somewhere between `low` and `high`.

    `replaces` is what the step is with that number: a float, or a tensor of them that broadcasts in front of
    what the step makes. `form` names what was found, from the number for each of the sizes of the axes `by`
    and the whole numbers that the source spells out; None when it is no mistake of this kind.
    """

    step: str
    replaces: Callable[[Context, Tensor | float], Context]
    form: Callable[[Numbers, Sequence[int]], Form | None]
    by: tuple[str, ...]
    low: float = 1e-4
    high: float = 1e4
    masked_only: bool = False  # without a mask the step does nothing

    def key(self, sizes: Sizes) -> tuple[int, ...]:
        """The sizes that the number may depend on."""
        return tuple(sizes[axis] for axis in self.by)

    def step_with(self, numbers: Numbers) -> StepFunction:
        """The step with what was fitted; on a size that was not asked for it changes nothing."""

        def step(c: Context) -> Context:
            number = numbers.get(self.key(c.sizes))
            return c if number is None else self.replaces(c, number)

        return step

    def fit(self, plan: Plan, context: Context, output: Tensor) -> float | None:
        """The number under which the output is reproduced: a grid over decades, refined."""
        low, high = self.low, self.high
        outputs: Tensor | None = None
        for refinement in range(REFINEMENTS):
            numbers = torch.logspace(math.log10(low), math.log10(high), GRID)
            outputs = self._outputs(plan, context, numbers)
            if outputs is None or outputs.shape[1:] != output.shape:
                return None
            errors = (outputs - output).abs().flatten(1).amax(dim=1)
            best = int(torch.where(errors.isfinite(), errors, torch.inf).argmin())
            hopeless = refinement == 2 and float(errors[best]) > HOPELESS
            if hopeless or not bool(errors[best].isfinite()):
                return None
            low, high = float(numbers[max(0, best - 1)]), float(numbers[min(GRID - 1, best + 1)])
        return float(numbers[best]) if outputs is not None and same(output, outputs[best]) else None

    def _outputs(self, plan: Plan, context: Context, numbers: Tensor) -> Tensor | None:
        """The outputs under each number, stacked in front: right steps count axes from the end."""
        axes = next(iter(plan[self.step].makes.values()))
        many = numbers.reshape(-1, *[1] * len(axes.split()))
        with torch.inference_mode():
            return attempt(plan, context, {self.step: lambda c: self.replaces(c, many)})
