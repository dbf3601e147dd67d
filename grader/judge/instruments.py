"""Everything that the checks measure with, around one candidate."""

from __future__ import annotations

from dataclasses import dataclass

from grader.judge.blame import Blame
from grader.judge.candidate import Candidate
from grader.judge.content import Labels
from grader.judge.delegation import Delegation
from grader.judge.dropout import DropoutMeter
from grader.judge.gradients import GradientMeter
from grader.judge.knowledge import Knowledge
from grader.judge.source import Source
from grader.judge.steps import Steps
from grader.judge.variations import Variations
from grader.judge.xray import XRay


@dataclass(frozen=True)
class Bench:
    """One candidate and its measuring instruments; what they measured once they keep."""

    candidate: Candidate
    steps: Steps
    xray: XRay
    dropout: DropoutMeter
    gradients: GradientMeter
    blame: Blame
    delegation: Delegation
    variations: Variations

    @property
    def known(self) -> Knowledge:
        return self.candidate.content.known

    @property
    def labels(self) -> Labels:
        return self.candidate.content.labels

    @classmethod
    def around(cls, candidate: Candidate, source_text: str) -> Bench:
        xray = XRay(candidate)
        steps = Steps(candidate)
        return cls(
            candidate=candidate,
            steps=steps,
            xray=xray,
            dropout=DropoutMeter(candidate, xray, steps),
            gradients=GradientMeter(candidate),
            blame=Blame(candidate, Source(source_text)),
            delegation=Delegation(candidate),
            variations=Variations(candidate),
        )
