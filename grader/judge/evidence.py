"""Ties between explanations that give the same numbers, broken by what the recorder and the text show.

`scale_by_dk` and `double_scale` compute the same; so do a fill of 0 and of -1e-9. The numbers name both;
which of them was written is only to be seen in the calls. This chooses words, never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judge.calls import SCALINGS
from grader.judge.explain import Explanation, Forms
from grader.judge.roles import Layout
from grader.protocol import TraceEntry

INFINITE = 1e308  # how the recorder writes an infinity
ATTENTION_CALLS = frozenset({"scaled_dot_product_attention"})


def prefer(explanation: Explanation, trace: Sequence[TraceEntry]) -> Explanation:
    """The explanation with its best-supported reading in front; readings that less speaks for fall away."""
    if not trace:
        return explanation
    readings = [explanation.forms, *explanation.alternatives]
    layout = explanation.layout
    support = [_support(forms, trace, layout) for forms in readings]
    place = support.index(max(support))
    best = readings[place]
    rest = tuple(
        forms
        for forms, speaks in zip(readings, support, strict=True)
        if forms is not best and speaks == support[place]
    )
    return replace(explanation, forms=best, alternatives=rest)


def _support(forms: Forms, trace: Sequence[TraceEntry], layout: Layout) -> int:
    return sum(_supports(label, trace, layout) for label in {form.label for form in forms})


def _supports(label: str, trace: Sequence[TraceEntry], layout: Layout) -> int:
    """1: the calls speak for it; -1: against it; 0: silent."""
    calls = {entry.call for entry in trace}
    scalings = [entry for entry in trace if entry.call in SCALINGS]
    if label == "double_scale":
        return 1 if calls & ATTENTION_CALLS or len(scalings) > 1 else -1
    if label == "mask_fill_small":
        fills = [abs(number) for entry in trace for number in entry.numbers.values()]
        return 1 if any(0 < number < 1e-3 for number in fills) else -1
    if label == "additive_inf_times_zero":
        infinite = any(abs(number) >= INFINITE for entry in scalings for number in entry.numbers.values())
        return 1 if infinite else -1
    if label == "shared_projection":
        return 1 if _idle_layer(trace, layout) else -1
    if label == "qkv_order_wrong":
        return 1
    return 0


def _idle_layer(trace: Sequence[TraceEntry], layout: Layout) -> bool:
    """Whether the layer of query, key or value is never called: its role was taken by another one."""
    used = {name for entry in trace for name in entry.parameters}
    weights = {slot.unit.weight.name for role, slot in layout.slots.items() if role != "output"}
    return bool(used) and not weights <= used
