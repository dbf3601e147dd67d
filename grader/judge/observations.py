"""What the judge keeps of a candidate: instances with the values it drew for them, and what calls gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from grader.judge.channel import WorkerLost
from grader.judge.probes import Drawn, Probe
from grader.judge.roles import Unit
from grader.protocol import Built, Called, Failure


@dataclass(frozen=True)
class Rig:
    """An instance in the worker, the parameters it reported, and the values that the judge drew for them."""

    number: int
    width: int
    rate: float | None
    built: Built | None = None
    problem: Failure | WorkerLost | None = None
    units: tuple[Unit, ...] = ()
    made_in_forward: bool = False  # the first call made parameters that the constructor did not
    values: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """What one call gave: `output`, or the reason why there is none."""

    drawn: Drawn
    called: Called | None = None
    problem: Failure | WorkerLost | None = None
    output: Tensor | None = None
    x_after: Tensor | None = None
    mask_after: Tensor | None = None
    gradients: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def probe(self) -> Probe:
        return self.drawn.probe
