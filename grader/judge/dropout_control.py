"""The explained mistake played by the oracle: what an instrument would read if nothing else were wrong.

Instruments that look through the whole of forward misread where another step is wrong. What they read on the
oracle with that same mistake tells how much of a reading is its doing.
"""

from __future__ import annotations

from grader.judge.candidate import Candidate
from grader.judge.oracle_caller import OracleCaller
from grader.judge.steps import Steps


def rehearse(candidate: Candidate, steps: Steps) -> Candidate | None:
    """A candidate that makes the explained mistakes and no other; None where there is nothing to play."""
    explanation = steps.explanation
    if explanation is None or not explanation.forms or explanation.layout.borrowed:
        return None
    caller = OracleCaller(candidate.content, explanation.forms, fused=explanation.layout.fused)
    return Candidate(candidate.content, caller, candidate.seed, b"", candidate.file_name)
