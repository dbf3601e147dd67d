"""Many variants of the oracle on one context at once.

Variants grow step by step. Those that agree so far share one *row*; rows whose tensors have the same shapes
lie stacked in one *block*, and a function is called once for all the rows of a block that take it. So a
search over thousands of pairs of mistakes calls some hundreds of functions, not tens of thousands.

Steps need not know of this. One that counts its axes from the end does the same to a stack as to one row,
which is checked once for rows of these shapes, on one row of the first stack; where not, the rows are taken
one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.judge.oracle import (
    ATOL,
    CRASHES,
    NOTHING,
    RTOL,
    Context,
    Form,
    Plan,
    StepFunction,
    output_of,
    same,
)

FEW = 3  # rows that are taken one by one: a stack would cost more than it saves
SINGLY = 8  # variants that are run one by one: to part and join rows costs more


@dataclass(frozen=True)
class Outcomes:
    """The outputs of the variants on one context, as blocks of rows.

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
        functions: list[dict[StepFunction, int]] = [{right.run: 0} for _, right in steps]
        taken = [[0] * len(steps) for _ in forms]
        for place, form in enumerate(forms):
            for level, (name, _) in enumerate(steps):
                if name in form.steps:
                    taken[place][level] = functions[level].setdefault(form.steps[name], len(functions[level]))
        self._functions = [tuple(known) for known in functions]
        self._known: _Known = {}
        self._taken = torch.tensor(taken, dtype=torch.int64).reshape(len(forms), len(steps))

    def composable(self, sets: Tensor) -> Tensor:
        """Those of `sets`, (variants, size), in which no two forms replace the same step."""
        return sets[((self._taken[sets] > 0).sum(dim=1) <= 1).all(dim=1)]

    def run(self, sets: Tensor, context: Context) -> Outcomes:
        """What each of the composable `sets` gives on the context; an empty set is the right answer."""
        chosen = self._taken[sets].sum(dim=1)
        if len(sets) <= SINGLY:
            return self._each_by_itself(chosen, context)
        with torch.inference_mode():
            blocks, rows = [_Block(context, 1, ())], torch.zeros(len(sets), dtype=torch.int64)
            for level, functions in enumerate(self._functions):
                blocks, rows = _step(blocks, functions, rows, chosen[:, level], self._known)
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
                outputs += [] if at is None else [output_of(at)[None]]
        return Outcomes(tuple(outputs), torch.tensor(rows, dtype=torch.int64))


@dataclass(frozen=True, slots=True)
class _Block:
    """`size` rows: the context of the only one, or contexts whose tensors in `made` are stacked in front."""

    at: Context
    size: int
    made: tuple[str, ...]

    def take(self, rows: Tensor) -> _Block:
        """These rows of it, in order."""
        if len(rows) == self.size:
            return self
        if len(rows) == 1:
            return _Block(self.row(int(rows)), 1, self.made)
        taken = {name: getattr(self.at, name).index_select(0, rows) for name in self.made}
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
    def shapes(self) -> _Shapes:
        """Of one of its rows: what every step has made so far."""
        lead = int(self.size > 1)
        return tuple([(name, getattr(self.at, name).shape[lead:]) for name in self.made])


_Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Done:
    """What a function does to rows of certain shapes: crash, or make such ones.

    `spread` is what it gives that is not of the rows at all, such as x. Where `together` is false it does not
    do to a stack what it does to a row.
    """

    shapes: _Shapes = ()
    spread: frozenset[str] = frozenset()
    crashes: bool = False
    together: bool = False


_Known = dict[tuple[StepFunction, _Shapes, tuple[tuple[int, ...], ...]], _Done]
_Inputs = tuple[int, ...]


def _inputs(at: Context) -> _Inputs:
    """Which tensors came in: a form may put others in their place."""
    return tuple(map(id, at.inputs().values()))


def _made(at: Context) -> tuple[str, ...]:
    """The tensors that steps have made so far."""
    return tuple([name for name in at.makes if getattr(at, name) is not NOTHING])


def _step(
    blocks: Sequence[_Block], functions: Sequence[StepFunction], rows: Tensor, chosen: Tensor, known: _Known
) -> tuple[list[_Block], Tensor]:
    """One step for all rows. Variants that part here get own rows: a *way* is a function on a row."""
    starts = torch.tensor([0, *(block.size for block in blocks)]).cumsum(0)
    total = int(starts[-1])
    alive = rows >= 0
    ways, way_of = torch.unique(chosen[alive] * total + rows[alive], return_inverse=True)
    borders = torch.arange(len(functions))[:, None] * total + starts
    edges = torch.searchsorted(ways, borders.flatten()).reshape(borders.shape).tolist()
    offsets = ways % total
    places = offsets.tolist()
    taken: dict[tuple[int, ...], _Block] = {}  # most functions of a step take the same rows
    after: dict[tuple[_Inputs, _Shapes], list[tuple[_Block, int]]] = {}  # with their first ways
    for function, ends in zip(functions, edges, strict=True):
        for block, first, begin, end in zip(blocks, starts.tolist(), ends, ends[1:], strict=False):
            if begin == end:
                continue
            own = tuple(places[begin:end])
            if own not in taken:
                taken[own] = block.take(offsets[begin:end] - first)
            for made, offset in _apply(function, taken[own], known):
                after.setdefault((_inputs(made.at), made.shapes), []).append((made, begin + offset))
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


def _apply(function: StepFunction, block: _Block, known: _Known) -> Iterator[tuple[_Block, int]]:
    """The rows after a step, each block with the place of its first row; nothing of rows that crash."""
    if block.size > FEW:
        key = (function, block.shapes, tuple([value.shape for value in block.at.inputs().values()]))
        if key not in known:
            known[key], whole = _tried(function, block)
        else:
            whole = _whole(function, block, known[key]) if known[key].together else None
        if known[key].crashes:
            return  # shapes decide a crash, and all rows of a block have the same
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


def _tried(function: StepFunction, block: _Block) -> tuple[_Done, _Block | None]:
    """What a function does to rows like these, and the stack after it if it can take one.

    It is tried on the last row by itself and on all of them at once.
    """
    last = _called(function, block.row(block.size - 1))
    if last is None:
        return _Done(crashes=True), None
    one = _Block(last, 1, _made(last))
    together = _called(function, block.at)
    if together is None:
        return _Done(one.shapes), None
    spread = frozenset(name for name in one.made if getattr(together, name) is getattr(last, name))
    done = _Done(one.shapes, spread, together=True)
    whole = _stacked(block, together, done)
    alike = whole is not None and all(
        same(getattr(whole.at, name)[-1], getattr(last, name))
        for name in set(one.made) - spread
        if getattr(together, name) is not getattr(block.at, name)
    )
    return (done, whole) if alike else (replace(done, together=False), None)


def _whole(function: StepFunction, block: _Block, done: _Done) -> _Block | None:
    """The stack after a step that takes stacks of such rows."""
    together = _called(function, block.at)
    return None if together is None else _stacked(block, together, done)


def _stacked(block: _Block, together: Context, done: _Done) -> _Block | None:
    """The stack after a step, if its tensors are of the rows' shapes."""
    spread = {name: getattr(together, name) for name in done.spread}
    whole = together.but(**{name: one.expand(block.size, *one.shape) for name, one in spread.items()})
    if any(getattr(whole, name).shape != (block.size, *shape) for name, shape in done.shapes):
        return None
    return _Block(whole, block.size, tuple([name for name, _ in done.shapes]))


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
