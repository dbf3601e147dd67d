"""Whether the answer calls attention instead of writing it, and whether anybody saw how it does.

What the recorders saw is told by the worker. It decides one thing: a banned call takes the pass away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import torch

from grader.judge.candidate import Candidate
from grader.judge.observations import Asked, trace_of
from grader.judge.probes import Probe
from grader.protocol import Called

# Attention that comes with torch: operations, at any level below, and functions.
LIBRARY = re.compile(
    r"^(aten|torch)\.\w*(attention|attn|dot_product|sdp|multi_?head|transformer|safe_softmax)"
)


@dataclass(frozen=True)
class Recorded:
    """One mode with all operations recorded: as they are called, in training below autograd too, and back."""

    where: str
    calls: tuple[Asked, ...]

    @property
    def called(self) -> list[Called]:
        """What came of them: nothing where forward itself asks for gradients, which above there are not."""
        return [asked.seen.called for asked in self.calls if asked.seen.called is not None]


class Delegation:
    """What the recorders saw of one candidate, with every operation recorded."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    @cached_property
    def recorded(self) -> tuple[Recorded, ...]:
        """Each mode with every operation recorded."""
        family = self._candidate.family
        masked = {} if family.masked is None else {" under a mask": family.masked}
        return tuple(
            self._record(mode + mask, probe, training=training)
            for mask, probe in {"": family.base, **masked}.items()
            for mode, training in (("in eval mode", False), ("in training", True))
        )

    def _record(self, where: str, probe: Probe, *, training: bool) -> Recorded:
        candidate = self._candidate
        above = candidate.ask(candidate.rig(), candidate.draw(probe), training=training, dispatch=True)
        return Recorded(where, (above, self._below(probe, training=True)) if training else (above,))

    def _below(self, probe: Probe, *, training: bool) -> Asked:
        candidate, drawn = self._candidate, self._candidate.draw(probe)
        back = torch.ones(candidate.output_shape(drawn))
        return candidate.ask(
            candidate.rig(), drawn, training=training, dispatch=True, trace=True, cotangent=back
        )

    def banned_call(self) -> tuple[str, int | None] | None:
        """A call that the kata's rules forbid, by either recorder, with its line."""
        banned = set(self._candidate.kata.rules.banned)
        candidate = self._candidate
        seen = [candidate.observe(candidate.family.base, training=True)]
        below = [asked.seen for call in self.recorded for asked in call.calls]
        usual = (trace_of([one]) for one in candidate.observations)
        traces = [*usual, *(trace_of([one]) for one in (*seen, *below))]
        for entry in (entry for trace in traces for entry in trace):
            call = entry.call.partition(".")[0]  # without the name of the overload
            if call in banned or LIBRARY.match(f"torch.{call}"):
                return call.lstrip("_"), entry.line
        for called in (called for call in self.recorded for called in call.called):
            for name in called.dispatched:
                if LIBRARY.match(name):
                    return name.rpartition(".")[2].lstrip("_"), called.dispatched_lines.get(name)
        return None

    def not_followed(self) -> list[str]:
        """The modes in which nobody saw how the output comes about, so nobody can certify it."""
        return [call.where for call in self.recorded if not self._is_followed(call)]

    def _is_followed(self, call: Recorded) -> bool:
        called = call.called
        if not called:
            below = self._below(call.calls[0].seen.probe, training=False).seen.called
            called = [] if below is None else [below]
        return bool(called) and all(one.followed for one in called)
