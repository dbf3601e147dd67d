"""The public interface for kata authors: all that `checks.py`, `mistakes.py` and `steps.py` import."""

from __future__ import annotations

from grader.judge.blame import Blame
from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached, check, fail, require
from grader.judge.content import Example, Labels
from grader.judge.delegation import Delegation
from grader.judge.dropout import DropoutMeter
from grader.judge.dropout_reading import Finding
from grader.judge.family import (
    Convention,
    Family,
    Packing,
    Relation,
    Remark,
    Renumbering,
    Reveal,
    Role,
    Table,
)
from grader.judge.fitting import Fitted, Numbers
from grader.judge.gradients import GradientMeter
from grader.judge.in_turns import ask_in_turns, expected_in_turns
from grader.judge.knowledge import Borrowing, Knowledge, Mistake
from grader.judge.lines import line_of
from grader.judge.observations import Asked, Observation, trace_of
from grader.judge.oracle import Affine, Context, Form, Plan, Step, attempt, run, same
from grader.judge.probes import Drawn, MaskSpec, Probe, Turn
from grader.judge.problems import (
    Problem,
    apart,
    difference,
    mistake_behind,
    problem_line,
    problem_text,
)
from grader.judge.roles import Layout, Slot
from grader.judge.steps import Reading, Steps, no_tensor
from grader.judge.variations import Variations
from grader.judge.xray import XRay
from grader.protocol import Failure, Loaded, TraceEntry
from grader.signature import Sizes

__all__ = [
    "Affine",
    "Asked",
    "Blame",
    "Borrowing",
    "Candidate",
    "Context",
    "Convention",
    "Delegation",
    "Drawn",
    "DropoutMeter",
    "Example",
    "Failure",
    "Family",
    "Finding",
    "Fitted",
    "Form",
    "GradientMeter",
    "Knowledge",
    "Labels",
    "Layout",
    "Loaded",
    "MaskSpec",
    "Mistake",
    "NotReached",
    "Numbers",
    "Observation",
    "Packing",
    "Plan",
    "Probe",
    "Problem",
    "Reading",
    "Relation",
    "Remark",
    "Renumbering",
    "Reveal",
    "Role",
    "Sizes",
    "Slot",
    "Step",
    "Steps",
    "Table",
    "TraceEntry",
    "Turn",
    "Variations",
    "XRay",
    "apart",
    "ask_in_turns",
    "attempt",
    "check",
    "difference",
    "expected_in_turns",
    "fail",
    "line_of",
    "mistake_behind",
    "no_tensor",
    "problem_line",
    "problem_text",
    "require",
    "run",
    "same",
    "trace_of",
]
