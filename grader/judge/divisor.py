"""A wrong scale that no known formula explains: the divisor is fitted to the output."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.judge.oracle import Context, Plan, run, same

GRID, REFINEMENTS = 41, 6  # the last grid is finer than a millionth
HOPELESS = 0.2  # distance of the outputs, after two refinements, that no finer grid will close


@dataclass(frozen=True, eq=False)
class MeasuredScale:
    """A scale step that divides by what was measured on each (hidden_dim, seq_len)."""

    divisors: dict[tuple[int, int], float]

    def __call__(self, c: Context) -> Context:
        return c.but(scores=c.scores / self.divisors.get((c.hidden_dim, c.seq_len), math.sqrt(c.hidden_dim)))


def fit_divisor(plan: Plan, context: Context, output: Tensor) -> float | None:
    """The divisor of the scores under which the output is reproduced: a grid over eight decades, refined."""
    low, high = 1e-4, 1e4
    for refinement in range(REFINEMENTS):
        factors = torch.logspace(math.log10(low), math.log10(high), GRID)
        outputs = _with_factors(plan, context, factors)
        if outputs.shape[1:] != output.shape:
            return None
        errors = (outputs - output).abs().flatten(1).amax(dim=1)
        best = int(torch.where(errors.isfinite(), errors, torch.inf).argmin())
        hopeless = refinement == 2 and float(errors[best]) > HOPELESS
        if hopeless or not bool(errors[best].isfinite()):
            return None
        low, high = float(factors[max(0, best - 1)]), float(factors[min(GRID - 1, best + 1)])
    return 1 / float(factors[best]) if same(output, outputs[best]) else None


def _with_factors(plan: Plan, context: Context, factors: Tensor) -> Tensor:
    """The outputs under each factor, stacked in front: right steps count axes from the end."""

    def scale(c: Context) -> Context:
        return c.but(scores=c.scores * factors[:, None, None, None])

    with torch.inference_mode():
        return run(plan, context, {"scale": scale}).output
