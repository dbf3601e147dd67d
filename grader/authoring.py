"""The public interface for kata authors: all that `checks.py`, `mistakes.py` and `steps.py` import."""

from __future__ import annotations

from grader.judge.blame import Blame
from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached, check, fail, require
from grader.judge.content import Example, Labels
from grader.judge.delegation import Delegation
from grader.judge.dropout import DropoutMeter
from grader.judge.fitting import Fitted, Numbers
from grader.judge.gradients import GradientMeter
from grader.judge.lines import line_of
from grader.judge.observations import Observation
from grader.judge.oracle import Affine, Context, Form, Plan, run, same
from grader.judge.probes import WIDTH
from grader.judge.problems import (
    apart,
    backward_mistake,
    difference,
    missing_mistake,
    mistake_behind,
    problem_line,
    problem_text,
)
from grader.judge.reading import Finding
from grader.judge.steps import Reading, Steps, no_tensor
from grader.judge.variations import Variations
from grader.judge.xray import XRay
from grader.protocol import Failure

__all__ = [
    "WIDTH",
    "Affine",
    "Blame",
    "Candidate",
    "Context",
    "Delegation",
    "DropoutMeter",
    "Example",
    "Failure",
    "Finding",
    "Fitted",
    "Form",
    "GradientMeter",
    "Labels",
    "NotReached",
    "Numbers",
    "Observation",
    "Plan",
    "Reading",
    "Steps",
    "Variations",
    "XRay",
    "apart",
    "backward_mistake",
    "check",
    "difference",
    "fail",
    "line_of",
    "missing_mistake",
    "mistake_behind",
    "no_tensor",
    "problem_line",
    "problem_text",
    "require",
    "run",
    "same",
]
