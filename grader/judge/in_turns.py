"""Calls in turn as checks ask for them: one by one, beside what each should have given."""

from __future__ import annotations

from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.observations import Asked, Rig
from grader.judge.probes import Probe
from grader.judge.roles import Layout
from grader.judge.turns import AskedInTurns, output_axes, part_of


def ask_in_turns(
    candidate: Candidate,
    rig: Rig,
    probe: Probe,
    *,
    training: bool = False,
    trace: bool = False,
    dispatch: bool = False,
    below: bool = False,
) -> tuple[Asked, ...]:
    """Have it called once for each of the probe's turns, with states kept and handed on as they say."""
    drawn = candidate.draw(probe)
    asked = candidate.ask_whole(rig, drawn, training=training, trace=trace, dispatch=dispatch, below=below)
    return asked.calls if isinstance(asked, AskedInTurns) else (asked,)


def expected_in_turns(candidate: Candidate, probe: Probe, layout: Layout) -> tuple[Tensor, ...] | None:
    """The right outputs of the turns: that of one call with everything, cut as they are."""
    drawn = candidate.draw(probe)
    whole = candidate.expected(drawn, layout)
    axes = output_axes(drawn, candidate.signature)
    return None if whole is None else tuple(part_of(whole, axes, turn) for turn in probe.turns)
