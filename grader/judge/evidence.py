"""Ties between explanations that give the same numbers, broken by what the recorder and the text show.

`scale_by_dk` and `double_scale` compute the same; so do a fill of 0 and of -1e-9. The numbers name both;
which of them was written is only to be seen in the calls. This chooses words, never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judge.explain import Explanation, Forms
from grader.judge.knowledge import Knowledge
from grader.judge.roles import Layout
from grader.protocol import TraceEntry


def prefer(explanation: Explanation, trace: Sequence[TraceEntry], known: Knowledge) -> Explanation:
    """The explanation with its best-supported reading in front; readings that less speaks for fall away."""
    if not trace:
        return explanation
    readings = [explanation.forms, *explanation.alternatives]
    layout = explanation.layout
    support = [_support(forms, trace, layout, known) for forms in readings]
    place = support.index(max(support))
    best = readings[place]
    rest = tuple(
        forms
        for forms, speaks in zip(readings, support, strict=True)
        if forms is not best and speaks == support[place]
    )
    return replace(explanation, forms=best, alternatives=rest)


def _support(forms: Forms, trace: Sequence[TraceEntry], layout: Layout, known: Knowledge) -> int:
    speaking = (known.of(label).speaks for label in {form.label for form in forms})
    return sum(speaks(trace, layout) for speaks in speaking if speaks is not None)
