"""Training mode, played beside the explained mistakes.

Where another step is wrong, what dropout did is hard to measure through forward. But torch's dropout draws
the same under the same seed: the oracle with those mistakes and one way of dropping after the other, the
right one first, gives the candidate's very output if that is what it does.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from grader.judge.candidate import Candidate
from grader.judge.explain import Explanation, features_of
from grader.judge.observations import Observation
from grader.judge.oracle import Context, Form, Plan, attempt, compose, same
from grader.judge.probes import RATE
from grader.judge.seeds import seeded

SEED = 31
RIGHT = Form("", {})


def replay(candidate: Candidate, explanation: Explanation) -> Form | None:
    """The known way of dropping, maybe `RIGHT`, that gives every training output.

    None when none does, and when no dropout would give the same: the other mistakes keep it from showing.
    """
    rig = candidate.rig(rate=RATE)
    plan = candidate.plan_for(explanation.layout)
    cases: list[tuple[Observation, Context]] = []
    for probe in candidate.family.by_stage.values():
        drawn = candidate.draw(probe)
        context = candidate.context(drawn, explanation.layout, rig.values)
        if context is not None:
            asked = candidate.ask(rig, drawn, training=True, seed=SEED)
            cases.append((asked.seen, context.but(training=True, rate=RATE)))
    if not any(seen.output is not None for seen, _ in cases):
        return None
    silent = all(
        _gives(plan, explanation.forms, context.but(training=False), seen) for seen, context in cases
    )
    features = features_of(candidate, explanation.layout)
    for form in (RIGHT, *(way for way in candidate.content.training if way.fits(plan, features))):
        forms = (*explanation.forms, form)
        if all(_gives(plan, forms, context, seen) for seen, context in cases):
            return None if form is RIGHT and silent else form
    return None


def _gives(plan: Plan, forms: Sequence[Form], context: Context, seen: Observation) -> bool:
    """Whether the variant gives what was seen, be it a crash."""
    variant = compose(forms)
    if variant is None:
        return False
    with seeded(SEED), torch.inference_mode():
        output = attempt(plan, context, variant)
    return output is None if seen.output is None else same(seen.output, output)
