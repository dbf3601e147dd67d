"""Many variants of the oracle on one context at once.

Variants grow step by step. Those that agree so far share one *row*; rows whose tensors have the same shapes
lie stacked in one *block*, and a function is called once for all the rows of a block that take it. So a
search over thousands of pairs of mistakes calls some hundreds of functions, not tens of thousands.

Steps need not know of this. One that counts its axes from the end does the same to a stack as to one row, and
whether it did is checked on one row of each stack; where not, its rows are taken one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.judge.oracle import ATOL, CRASHES, RTOL, Context, Form, Plan, StepFunction, same

STACKED = ("query", "key", "value", "scores", "weights", "mixed", "output")
FEW = 3  # what is taken one by one: a stack would cost more than it saves


@dataclass(frozen=True)
class Outcomes:
    """The outputs of the variants on one context, as blocks (rows, batch, seq_len, hidden_dim).

    `rows` has each variant's place in the blocks laid end to end; -1 where it cannot run on these shapes (it
    would crash).
    """

    blocks: tuple[Tensor, ...]
    rows: Tensor

    def each(self) -> list[Tensor | None]:
        """The outputs one by one, None for a variant that crashes."""
        outputs = [output for block in self.blocks for output in block.unbind(0)]
        return [outputs[row] if row >= 0 else None for row in self.rows.tolist()]

    def equal_to(self, actual: Tensor, rtol: float = RTOL, atol: float = ATOL) -> Tensor:
        """Which variants give `actual` (NaN for NaN): (variants) bool."""
        equal = [_rows_equal(actual, block, rtol, atol) for block in self.blocks]
        return torch.cat([*equal, torch.tensor([False])])[self.rows]  # the last is where -1 points


def _rows_equal(actual: Tensor, block: Tensor, rtol: float, atol: float) -> Tensor:
    if block.shape[1:] != actual.shape:
        return torch.zeros(len(block), dtype=torch.bool)
    close = torch.isclose(actual, block.to(actual.dtype), rtol=rtol, atol=atol, equal_nan=True)
    return close.flatten(1).all(dim=1)


def chosen(places: Tensor, size: int) -> Tensor:
    """All sets of so many of them, in order: (sets, size)."""
    if size == 0:
        return places.new_empty((1, 0))
    return torch.combinations(places, size)


def every(sets: Tensor, more: Tensor) -> Tensor:
    """Each of the sets joined with each of the others, those of the first in front."""
    left, right = sets.repeat_interleave(len(more), dim=0), more.repeat(len(sets), 1)
    return torch.cat([left, right], dim=1)


class Variants:
    """A plan and the forms that may replace its steps. A variant is a set of forms, given by their places."""

    def __init__(self, plan: Plan, forms: Sequence[Form]) -> None:
        steps = list(plan.items())
        functions: list[dict[StepFunction, int]] = [{right: 0} for _, right in steps]
        taken = [[0] * len(steps) for _ in forms]
        for place, form in enumerate(forms):
            for level, (name, _) in enumerate(steps):
                if name in form.steps:
                    taken[place][level] = functions[level].setdefault(form.steps[name], len(functions[level]))
        self._functions = [tuple(known) for known in functions]
        self._taken = torch.tensor(taken, dtype=torch.int64).reshape(len(forms), len(steps))

    def composable(self, sets: Tensor) -> Tensor:
        """Those of `sets`, (variants, size), in which no two forms replace the same step."""
        return sets[((self._taken[sets] > 0).sum(dim=1) <= 1).all(dim=1)]

    def run(self, sets: Tensor, context: Context) -> Outcomes:
        """What each of the composable `sets` gives on the context; an empty set is the right answer."""
        chosen = self._taken[sets].sum(dim=1)
        if len(sets) <= FEW:
            return self._each_by_itself(chosen, context)
        with torch.inference_mode():
            blocks, rows = [_Block(context, 1, ())], torch.zeros(len(sets), dtype=torch.int64)
            for level, functions in enumerate(self._functions):
                blocks, rows = _step(blocks, functions, rows, chosen[:, level])
        return Outcomes(tuple(block.stack("output") for block in blocks), rows)

    def _each_by_itself(self, chosen: Tensor, context: Context) -> Outcomes:
        outputs: list[Tensor] = []
        rows: list[int] = []
        with torch.inference_mode():
            for places in chosen.tolist():
                at: Context | None = context
                for functions, place in zip(self._functions, places, strict=True):
                    at = None if at is None else _called(functions[place], at)
                rows.append(-1 if at is None else len(outputs))
                outputs += [] if at is None else [at.output[None]]
        return Outcomes(tuple(outputs), torch.tensor(rows, dtype=torch.int64))


@dataclass(frozen=True, slots=True)
class _Block:
    """`size` rows: the context of the only one, or contexts whose tensors in `made` are stacked in front."""

    at: Context
    size: int
    made: tuple[str, ...]

    def take(self, rows: Sequence[int]) -> _Block:
        """These rows of it, in order."""
        if len(rows) == self.size:
            return self
        if len(rows) == 1:
            return _Block(self.row(rows[0]), 1, self.made)
        places = torch.tensor(rows)
        taken = {name: getattr(self.at, name).index_select(0, places) for name in self.made}
        return _Block(self.at.but(**taken), len(rows), self.made)

    def row(self, place: int) -> Context:
        """One row by itself."""
        if self.size == 1:
            return self.at
        return self.at.but(**{name: getattr(self.at, name)[place] for name in self.made})

    def stack(self, name: str) -> Tensor:
        """One of its tensors with the rows in front."""
        tensor: Tensor = getattr(self.at, name)
        return tensor if self.size > 1 else tensor[None]

    @property
    def shapes(self) -> tuple[object, ...]:
        """What must agree before blocks can be joined."""
        lead = int(self.size > 1)
        return (id(self.at.x), self.made, *(getattr(self.at, name).shape[lead:] for name in self.made))


def _made(at: Context) -> tuple[str, ...]:
    """The tensors that steps have made so far."""
    return tuple([name for name in STACKED if getattr(at, name).numel()])


def _step(
    blocks: Sequence[_Block], functions: Sequence[StepFunction], rows: Tensor, chosen: Tensor
) -> tuple[list[_Block], Tensor]:
    """One step for all rows. Variants that part here get own rows: a *way* is a function on a row."""
    starts = torch.tensor([0, *(block.size for block in blocks)]).cumsum(0)
    total = int(starts[-1])
    alive = rows >= 0
    ways, way_of = torch.unique(chosen[alive] * total + rows[alive], return_inverse=True)
    borders = torch.arange(len(functions))[:, None] * total + starts
    edges = torch.searchsorted(ways, borders.flatten()).reshape(borders.shape).tolist()
    offsets = (ways % total).tolist()
    taken: dict[tuple[int, ...], _Block] = {}  # most functions of a step take the same rows
    after: dict[tuple[object, ...], list[tuple[_Block, int]]] = {}  # by shapes, with the first of their ways
    for function, ends in zip(functions, edges, strict=True):
        for block, first, begin, end in zip(blocks, starts.tolist(), ends, ends[1:], strict=False):
            if begin == end:
                continue
            own = tuple(offsets[begin:end])
            if own not in taken:
                taken[own] = block.take([row - first for row in own])
            for made, offset in _apply(function, taken[own]):
                after.setdefault(made.shapes, []).append((made, begin + offset))
    row_of_way = [-1] * len(ways)
    joined: list[_Block] = []
    filled = 0
    for alike in after.values():
        alike.sort(key=lambda part: part[0].size)
        joined.append(_joined([block for block, _ in alike]))
        for block, begin in alike:
            row_of_way[begin : begin + block.size] = range(filled, filled + block.size)
            filled += block.size
    moved = torch.full_like(rows, -1)
    moved[alive] = torch.tensor(row_of_way, dtype=torch.int64)[way_of]
    return joined, moved


def _apply(function: StepFunction, block: _Block) -> Iterator[tuple[_Block, int]]:
    """The rows after a step, each block with the place of its first row; nothing of rows that crash."""
    if block.size > FEW:
        last = _called(function, block.row(block.size - 1))
        if last is None:
            return  # shapes decide a crash, and all rows of a block have the same
        together = _called(function, block.at)
        whole = None if together is None else _checked(block, together, last)
        if whole is not None:
            yield whole, 0
            return
    for place in range(block.size):
        at = _called(function, block.row(place))
        if at is not None:
            yield _Block(at, 1, _made(at)), place


def _called(function: StepFunction, at: Context) -> Context | None:
    try:
        return function(at)
    except CRASHES:
        return None


def _checked(block: _Block, together: Context, last: Context) -> _Block | None:
    """The stack after a step, if its last row is what that row became by itself."""
    made = _made(last)
    spread: dict[str, Tensor] = {}
    for name in made:
        one, many = getattr(last, name), getattr(together, name)
        if many is one:  # not of the rows at all, such as x
            spread[name] = many.expand(block.size, *many.shape)
        elif many is not getattr(block.at, name) and (
            many.shape != (block.size, *one.shape) or not same(many[-1], one)
        ):
            return None
    return _Block(together.but(**spread) if spread else together, block.size, made)


def _joined(blocks: Sequence[_Block]) -> _Block:
    """One block of blocks of the same shapes, single rows first."""
    if len(blocks) == 1:
        return blocks[0]
    first = blocks[0]
    singles = [block for block in blocks if block.size == 1]
    stacks = [block for block in blocks if block.size > 1]
    tensors: dict[str, Tensor] = {}
    for name in first.made:
        parts = [torch.stack([getattr(block.at, name) for block in singles])] if singles else []
        parts += [getattr(block.at, name) for block in stacks]
        tensors[name] = torch.cat(parts) if len(parts) > 1 else parts[0]
    return _Block(first.at.but(**tensors), sum(block.size for block in blocks), first.made)
