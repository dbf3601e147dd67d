"""Where whole numbers show nothing: the smallest experiment that does, as lines behind the candidate's code.

The lines are content (`katas/common/experiments.toml`); they are run in the worker before anybody sees them.
"""

from __future__ import annotations

import math

from grader.judge.candidate import Candidate
from grader.records import ExperimentRecord, Grade
from grader.signature import shape_of

ANYTHING, IN_TURNS = "anything", "in_turns"  # the experiments of all other concepts


def experiment(candidate: Candidate, grade: Grade) -> ExperimentRecord | None:
    """Where numbers show nothing: lines for whoever wants to see it, with what they print here."""
    known = candidate.content.experiments()
    otherwise = known.get(ANYTHING if candidate.family.turned is None else IN_TURNS)
    wanted = known.get(_concept_of(grade), otherwise)
    if wanted is None:
        return None
    names = _written(candidate)
    lines = tuple(line.format(**names) for line in wanted.lines)
    printed = candidate.paste(("torch.manual_seed(0)", *lines))
    return None if printed is None else ExperimentRecord(lines=lines, printed=printed, right=wanted.right)


def _concept_of(grade: Grade) -> str:
    """The concept of what is told first."""
    failed = [check.concept for check in grade.checks if check.status == "failed" and check.required]
    return next((item.concept for item in grade.diagnosis), "") or next(iter(failed), "")


def _written(candidate: Candidate) -> dict[str, str]:
    """How the class is built and called, as a candidate would write it."""
    signature, family = candidate.signature, candidate.family
    sizes = family.sizes(family.base.sizes)
    given = []
    for one in signature.inputs:
        if one.optional or one.kind == "state":
            continue
        shape = shape_of(family.base.axes.get(one.name, one.axes), sizes) if one.is_tensor else ()
        given.append(
            {
                "float": f"torch.randn{shape}".replace(",)", ")")[:-1] + ", requires_grad=True)",
                "mask": f"torch.ones{shape}",
                "ids": f"torch.arange({math.prod(shape)}).reshape{shape}",
                "number": f"{family.base.numbers.get(one.name, 1)}",
            }[one.kind]
        )
    several = "[0]" if len(signature.outputs) > 1 else ""

    def built(rate: float) -> str:
        if not signature.is_module:
            return signature.name
        args, kwargs = candidate.constructor_arguments(signature.built(family.base.sizes), rate)
        words = [*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]
        return f"{signature.name}({', '.join(words)})"

    return {
        "model": built(0.0),
        "dropping": built(0.5),
        "given": ", ".join(given),
        "call": f"model(*given){several}",
    }
