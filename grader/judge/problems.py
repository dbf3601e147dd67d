"""Problems of the candidate's code as a check tells them: the sentence, the line, the mistake behind."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.channel import WorkerLost
from grader.judge.observations import Observation
from grader.judge.wording import sentence
from grader.protocol import Failure

Problem = Failure | WorkerLost


def problem_text(candidate: Candidate, problem: Problem) -> str:
    """What happened, with file and line."""
    return sentence(problem, candidate.file_name)


def problem_line(problem: Problem) -> int | None:
    return problem.line if isinstance(problem, Failure) else None


def mistake_behind(problem: Problem, candidate: Candidate) -> str | None:
    """The label of the mistake that made the code raise, where a rule knows it."""
    if not isinstance(problem, Failure):
        return None
    return candidate.content.known.behind(problem, candidate.loaded)


def difference(candidate: Candidate, seen: Observation) -> str:
    """How far an output is from the right one."""
    layout = candidate.likely_layout
    if seen.output is None:
        return "no output"
    expected = candidate.expected(seen.drawn, layout) if layout is not None else None
    if expected is None:
        return "another output under every assignment of the layers"
    return apart(seen.output, expected)


def apart(one: Tensor, other: Tensor) -> str:
    """The largest distance of two tensors, in words."""
    if one.shape != other.shape:
        return f"shape {tuple(one.shape)} instead of {tuple(other.shape)}"
    if not one.numel():
        return "there are no numbers to compare"
    if not bool(one.isfinite().all()):
        return f"{int((~one.isfinite()).sum())} of {one.numel()} numbers are NaN or infinite"
    distance = (one.float() - other.float()).abs()
    return (
        f"differs by up to {float(distance.max()):.3g}, at {_place(int(distance.argmax()), distance.shape)}"
    )


def _place(index: int, shape: torch.Size) -> tuple[int, ...]:
    """The axes of a flat index. (`torch.unravel_index` imports a computer algebra system for it, 0.4 s.)"""
    axes: list[int] = []
    for size in reversed(shape):
        index, axis = divmod(index, size)
        axes.append(axis)
    return tuple(reversed(axes))
