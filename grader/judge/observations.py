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
from grader.signature import Sizes


@dataclass(frozen=True)
class Rig:
    """An instance in the worker, the parameters it reported, and the values that the judge drew for them."""

    number: int
    sizes: Sizes  # of all axes that the constructor's arguments set
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

    The output is compared in the dtype of the input; `dtype` is the one that it came in. `after` are the
    inputs as they were when it returned; `gradients` are under the names of parameters and of inputs.
    """

    drawn: Drawn
    called: Called | None = None
    problem: Failure | WorkerLost | None = None
    output: Tensor | None = None
    dtype: torch.dtype | None = None
    after: Mapping[str, Tensor] = field(default_factory=dict)
    gradients: Mapping[str, Tensor] = field(default_factory=dict)
    locals: tuple[Tensor, ...] = ()  # of the frames that a failure came through, where they were asked for

    @property
    def probe(self) -> Probe:
        return self.drawn.probe

    def changed(self, name: str) -> Tensor | None:
        """What became of an input that the call changed in place; None where it is as it was."""
        before, after = self.drawn.inputs.get(name), self.after.get(name)
        return None if before is None or after is None or torch.equal(after, before) else after


class Asked:
    """A call of forward on its way: its probe, the tensors that were sent, and how to wait for the reply."""

    def __init__(
        self, drawn: Drawn, sent: Mapping[str, Tensor], pending: Pending, *, is_mask: bool = False
    ) -> None:
        self._drawn = drawn
        self._sent = sent
        self._pending = pending
        self._is_mask = is_mask

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
            kept = tuple(value for name, value in back.items() if name.startswith("l:"))
            return Observation(self._drawn, problem=reply, locals=kept)
        assert isinstance(reply, Called)
        return heard(self._drawn, self._sent, reply, back, is_mask=self._is_mask)


def heard(
    drawn: Drawn,
    sent: Mapping[str, Tensor],
    called: Called,
    back: Mapping[str, Tensor],
    *,
    is_mask: bool = False,
) -> Observation:
    """What a reply is worth. A worker may send any tensors under any names: only those count that were asked
    for, and are of the kind that was asked for. `sent` are the request's tensors. Of an output that
    `is_mask` only what is zero counts.
    """
    output = back.get("output") if called.returned in ("tensor", "tuple") else None
    if called.returned in ("tensor", "tuple") and output is None:
        nothing = Failure(stage="reply", type="ProtocolError", text="the answer holds no output")
        return Observation(drawn, problem=nothing)
    if output is not None and not is_mask and not output.is_floating_point():
        kind = str(output.dtype).removeprefix("torch.")
        called = msgspec.structs.replace(called, returned="odd", odd=f"a tensor of {kind}")
        output = None
    inputs = {name[2:]: value for name, value in sent.items() if name.startswith("i:")}
    wanted = {f"d:{name}": value for name, value in inputs.items()}
    wanted |= {f"g:{name[2:]}": value for name, value in sent.items() if name.startswith("p:")}
    found = {
        name: value
        for name, value in back.items()
        if name in wanted and value.shape == wanted[name].shape and value.is_floating_point()
    }
    return Observation(
        drawn,
        called=called,
        output=None if output is None else _compared(output, drawn.x, is_mask=is_mask),
        dtype=None if output is None else output.dtype,
        after={
            name: after
            for name, value in inputs.items()
            if (after := back.get(f"a:{name}")) is not None and after.dtype == value.dtype
        },
        gradients={name[2:]: found[name] for name in sorted(found, key=lambda name: name.startswith("d:"))},
    )


def _compared(output: Tensor, like: Tensor, *, is_mask: bool) -> Tensor:
    """The output in the dtype in which it is compared."""
    if is_mask:
        return (output != 0).float()
    return output.to(like.dtype) if like.is_floating_point() else output


def trace_of(observations: Sequence[Observation]) -> tuple[TraceEntry, ...]:
    """The first trace among them; of a call that raised, the last calls before it."""
    for seen in observations:
        if seen.called is not None and seen.called.trace:
            return seen.called.trace
        if isinstance(seen.problem, Failure) and seen.problem.trace:
            return seen.problem.trace
    return ()
