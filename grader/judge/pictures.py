"""What a report shows as pictures: attention maps, or a wrong result, beside the right ones."""

from __future__ import annotations

import torch

from grader.judge.checks import NotReached
from grader.judge.family import Table
from grader.judge.instruments import Bench
from grader.judge.oracle import Context, same
from grader.judge.xray import Map
from grader.records import AttentionMap

MAX_PICTURE = 12  # rows or columns that a picture of a result may have


def pictures(bench: Bench) -> tuple[AttentionMap, ...]:
    """The first sample's attention maps beside the expected ones, one for each head, the worst first; under
    a mask where the kata has one.

    None where what was measured is no picture of the weights: where a step after them is wrong, and where its
    rows are none that softmax gives though nothing says that softmax is wrong.
    """
    reveal = bench.candidate.family.reveal
    if reveal is None:
        return _table(bench) or _result(bench)
    try:
        masked = bench.candidate.kata.takes_mask
        turned = bench.candidate.family.turned
        found = bench.xray.turned if turned else bench.xray.masked if masked else bench.xray.plain
    except NotReached:
        return ()
    explanation = bench.steps.explanation
    wrong = {step for form in explanation.forms for step in form.steps} if explanation is not None else set()
    if wrong & reveal.after or not (found.rows_are_weights or wrong & reveal.deciding):
        return ()
    title = "Attention weights under a mask" if masked else "Attention weights"
    if turned is not None:
        title = f"What each token saw, {turned.in_calls}"
    heads = sorted(range(found.actual.shape[1]), key=lambda head: -_distance(found, head))
    if len(heads) == 1:
        return (_map(title, found, 0, head=None),)
    return tuple(_map(f"{title}, head {head}", found, head, head=head) for head in heads)


def _distance(found: Map, head: int) -> float:
    """How far a head of the first sample is from the right one."""
    return float(distances(found.actual[0, head], found.expected[0, head]).max())


def _map(title: str, found: Map, place: int, *, head: int | None) -> AttentionMap:
    visible = None if found.visible is None else found.visible[0, place]
    return AttentionMap(
        title=title,
        expected=rows(found.expected[0, place]),
        actual=rows(found.actual[0, place]),
        hidden=() if visible is None else tuple(tuple(bool(v) for v in row) for row in ~visible),
        head=head,
    )


def rows(matrix: torch.Tensor) -> tuple[tuple[float | None, ...], ...]:
    """A matrix as a record holds it: four decimals, None for what is no number."""
    return tuple(
        tuple(round(float(value), 4) if bool(torch.isfinite(value)) else None for value in row)
        for row in matrix
    )


def _table(bench: Bench) -> tuple[AttentionMap, ...]:
    """What the family reads off a result, of the first one where it is not what it should be."""
    candidate, table = bench.candidate, bench.candidate.family.table
    explanation = bench.steps.explanation
    layout = candidate.likely_layout if explanation is None else explanation.layout
    if table is None or layout is None:
        return ()
    for seen in candidate.observations:
        context = candidate.context(seen.drawn, layout)
        right, actual = candidate.expected(seen.drawn, layout), seen.output
        if context is None or right is None or actual is None or actual.shape != right.shape:
            continue
        rights, actuals = (table.read(context, output) for output in (right, actual))
        if not same(actuals, rights, atol=1e-3):
            return (_worst_table(table, context, rights, actuals),)
    return ()


def _worst_table(table: Table, context: Context, rights: torch.Tensor, actuals: torch.Tensor) -> AttentionMap:
    """The table of several that is furthest from what it should be."""
    rights, actuals = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (rights, actuals))
    worst = _furthest(rights, actuals)
    return AttentionMap(
        title=table.title,
        shows="table",
        expected=rows(rights[worst]),
        actual=rows(actuals[worst]),
        row_names=tuple(table.rows(context)[worst]),
        column_names=tuple(table.columns(context)),
    )


def _furthest(rights: torch.Tensor, actuals: torch.Tensor) -> int:
    """Which of several matrices differs most."""
    return int(distances(actuals, rights).flatten(1).amax(dim=1).argmax())


def distances(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """How far each number is from the right one; what is no number is further than any."""
    return (actual.float() - expected.float()).abs().nan_to_num(nan=1e9, posinf=1e9)


def _result(bench: Bench) -> tuple[AttentionMap, ...]:
    """Where there are no weights: the first wrong result that fits into a picture, beside the right one."""
    candidate = bench.candidate
    layout = candidate.likely_layout
    for seen in candidate.observations if layout is not None else ():
        assert layout is not None
        right, actual = candidate.expected(seen.drawn, layout), seen.output
        if right is None or actual is None or actual.shape != right.shape or right.dim() < 2:
            continue
        if candidate.reproduces(seen, layout) or max(right.shape[-2:]) > MAX_PICTURE:
            continue
        title = f"The result on {seen.drawn.says}"
        rights, actuals = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (right, actual))
        worst = _furthest(rights, actuals)
        return (
            AttentionMap(
                title=title, shows="result", expected=rows(rights[worst]), actual=rows(actuals[worst])
            ),
        )
    return ()
