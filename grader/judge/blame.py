"""Which line is to blame: from the recorder's calls, and where it saw nothing from a search in the text.

Lines and calls come from the worker, so they explain; they decide nothing.
"""

from __future__ import annotations

import re
from functools import cached_property

from grader.judge.candidate import Candidate
from grader.judge.knowledge import Knowledge
from grader.judge.observations import trace_of
from grader.judge.source import Source
from grader.protocol import Failure, TraceEntry

CUTS = frozenset({"detach", "detach_", "round", "floor_divide", "floor", "requires_grad_"})
IN_PLACE = re.compile(r"[a-z]\w*_$|__i\w+__$|__setitem__$")


class Blame:
    """The lines of one candidate's file that its mistakes stand on."""

    def __init__(self, candidate: Candidate, source: Source) -> None:
        self._candidate = candidate
        self.source = source

    @property
    def known(self) -> Knowledge:
        """What content knows of mistakes."""
        return self._candidate.content.known

    @cached_property
    def unmasked(self) -> tuple[TraceEntry, ...]:
        return trace_of(self._candidate.unmasked)

    @cached_property
    def masked(self) -> tuple[TraceEntry, ...]:
        return trace_of(self._candidate.masked)

    @cached_property
    def turned(self) -> tuple[TraceEntry, ...]:
        """Of the last of several calls."""
        return trace_of([seen for seen in self._candidate.observations if seen.probe.turns])

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        """The fullest trace there is: under a mask, else without."""
        return self.masked or self.unmasked

    @cached_property
    def trained(self) -> tuple[TraceEntry, ...]:
        """Under a mask in training mode, else without one."""
        return trace_of(self._candidate.in_training[::-1])

    def last(self) -> int | None:
        """The line that makes forward's result: the last traced one, else its `return`."""
        return self.unmasked[-1].line if self.unmasked else self.source.last_return()

    def in_place(self) -> int | None:
        """The last in-place call: the one that overwrote what backward needs. Else the last in training."""
        for trace in (self.trace, self.trained):
            entries = [entry for entry in trace if IN_PLACE.match(entry.call)]
            if entries:
                return entries[-1].line
        return None

    @property
    def arguments(self) -> list[str]:
        """What the candidate calls what goes in."""
        loaded = self._candidate.loaded
        return [argument.name for argument in loaded.forward] if loaded is not None else []

    def changed_argument(self, place: int) -> int | None:
        """Where forward's argument at `place` is changed in place."""
        names = self.arguments
        found = self.source.changes_in_place(names[place]) if len(names) > place else None
        return found or self.in_place()

    @property
    def refused(self) -> bool:
        """Whether forward's signature did not take a call: Python raised ahead of its first line."""
        problems = [seen.problem for seen in self._candidate.observations]
        return any(
            isinstance(problem, Failure) and problem.type == "TypeError" and problem.line is None
            for problem in problems
        )

    @property
    def mask_name(self) -> str | None:
        """What forward calls its second argument."""
        names = self.arguments
        return names[1] if len(names) > 1 and names[1].isidentifier() else None

    @property
    def output_layers(self) -> list[str]:
        """The names of the layers that say they are the output's."""
        optional = self._candidate.family.optional
        return [unit.name for unit in self._candidate.rig().units if unit.states in optional]

    def call_line(self, names: frozenset[str], *, last: bool = False, square: bool = False) -> int | None:
        entries = [entry for entry in self.trace if entry.call in names]
        if square:
            squares = [entry for entry in entries if entry.output is not None and _is_square(entry.output)]
            entries = squares or entries
        if not entries:
            return None
        return entries[-1 if last else 0].line

    def signature(self) -> int | None:
        """Where forward names its arguments, the mask's line if it stands on several."""
        own = None
        if self.mask_name is not None:
            own = self.source.find(rf"^\s*{re.escape(self.mask_name)}\s{{0,9}}[:,)]")
        return own or self.source.find(r"def forward\b")

    def cuts(self) -> int | None:
        """A call or an expression that cuts the graph."""
        return self.call_line(CUTS) or self.source.find(
            r"\.detach\(|no_grad|\.data\b|\.item\(|inference_mode|round\(|//|\.numpy\(|tolist|torch\.tensor\("
        )

    def cut(self) -> int | None:
        """Where the graph is cut, else the last line."""
        return self.cuts() or self.last()

    def fresh_layer(self) -> int | None:
        """Where forward applies a layer that is not part of the model: it was made on the spot."""
        return next(
            (entry.line for entry in self.trace if entry.call == "linear" and entry.fresh_module), None
        )


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]
