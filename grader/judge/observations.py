"""What the judge keeps of a candidate: instances with the values it drew for them, and what calls gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import torch
from torch import Tensor

from grader.judge.channel import Pending, WorkerLost
from grader.judge.probes import Drawn, Probe
from grader.judge.units import Unit
from grader.protocol import Built, Called, Failure, TraceEntry


@dataclass(frozen=True)
class Rig:
    """An instance in the worker, the parameters it reported, and the values that the judge drew for them."""

    number: int
    width: int
    rate: float | None
    built: Built | None = None
    problem: Failure | WorkerLost | None = None
    units: tuple[Unit, ...] = ()
    calm: bool = False  # called with every dropout doing nothing
    made_in_forward: bool = False  # the first call made parameters that the constructor did not
    values: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """What one call gave: `output`, or the reason why there is none.

    The output is compared in x's dtype; `dtype` is the one that it came in.
    """

    drawn: Drawn
    called: Called | None = None
    problem: Failure | WorkerLost | None = None
    output: Tensor | None = None
    dtype: torch.dtype | None = None
    x_after: Tensor | None = None
    mask_after: Tensor | None = None
    gradients: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def probe(self) -> Probe:
        return self.drawn.probe


class Asked:
    """A call of forward on its way: its probe, the tensors that were sent, and how to wait for the reply."""

    def __init__(self, drawn: Drawn, sent: Mapping[str, Tensor], pending: Pending) -> None:
        self._drawn = drawn
        self._sent = sent
        self._pending = pending

    @classmethod
    def answered(cls, seen: Observation) -> Asked:
        """A call that needs no worker, because it is known what comes of it."""
        made = cls.__new__(cls)
        made.__dict__["seen"] = seen
        return made

    @cached_property
    def seen(self) -> Observation:
        """What it gave; waits for it. Never raises for what the candidate does."""
        try:
            reply, back = self._pending()
        except WorkerLost as lost:
            return Observation(self._drawn, problem=lost)
        if isinstance(reply, Failure):
            return Observation(self._drawn, problem=reply)
        assert isinstance(reply, Called)
        return heard(self._drawn, self._sent, reply, back)


def heard(
    drawn: Drawn, sent: Mapping[str, Tensor], called: Called, back: Mapping[str, Tensor]
) -> Observation:
    """What a reply is worth. A worker may send any tensors under any names: only those count that were asked
    for, and are of the kind that was asked for. `sent` are the request's tensors.
    """
    output = back.get("output") if called.returned in ("tensor", "tuple") else None
    if called.returned in ("tensor", "tuple") and output is None:
        nothing = Failure(stage="reply", type="ProtocolError", text="the answer holds no output")
        return Observation(drawn, problem=nothing)
    if output is not None and not output.is_floating_point():
        kind = str(output.dtype).removeprefix("torch.")
        called = msgspec.structs.replace(called, returned="odd", odd=f"a tensor of {kind}")
        output = None
    wanted = {"x": sent["x"], **{name[2:]: value for name, value in sent.items() if name.startswith("p:")}}
    found = {name[2:]: value for name, value in back.items() if name.startswith("g:")}
    return Observation(
        drawn,
        called=called,
        output=None if output is None else output.to(drawn.x.dtype),
        dtype=None if output is None else output.dtype,
        x_after=_of_kind(back.get("x_after"), sent["x"]),
        mask_after=_of_kind(back.get("mask_after"), sent.get("mask")),
        gradients={
            name: value
            for name, value in found.items()
            if name in wanted and value.shape == wanted[name].shape and value.is_floating_point()
        },
    )


def _of_kind(value: Tensor | None, sent: Tensor | None) -> Tensor | None:
    return value if value is not None and sent is not None and value.dtype == sent.dtype else None


def trace_of(observations: Sequence[Observation]) -> tuple[TraceEntry, ...]:
    """The first trace among them; of a call that raised, the last calls before it."""
    for seen in observations:
        if seen.called is not None and seen.called.trace:
            return seen.called.trace
        if isinstance(seen.problem, Failure) and seen.problem.trace:
            return seen.problem.trace
    return ()
