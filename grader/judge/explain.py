"""The search for the mistake: which variant of the oracle gives exactly the candidate's outputs.

Unmasked probes are explained first (by one mistake, a measured divisor, or two mistakes), then masked
ones by what was found plus at most two mistakes that only a mask shows. Every budget is a count, not a
time, so that a grade never depends on how busy the machine is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.divisor import MeasuredScale, fit_divisor
from grader.judge.observations import Observation
from grader.judge.oracle import Context, Form, Plan, Variant, compose, evaluate, matches, same
from grader.judge.roles import Layout

MAX_EVALUATIONS = 6000  # variants on one probe, over all layouts
MAX_PAIR_LAYOUTS = 2
Forms = tuple[Form, ...]


@dataclass(frozen=True)
class Explanation:
    """The simplest mistakes that reproduce everything observed. `forms` is empty for a right answer.

    `divisors`: for a wrong scale that no known formula explains, the measured divisor on each probe.
    """

    forms: Forms
    layout: Layout
    alternatives: tuple[Forms, ...] = ()
    divisors: tuple[tuple[Context, float], ...] = ()
    masked: bool = True  # whether masked probes took part

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(form.label for form in self.forms))


@dataclass(frozen=True)
class _Case:
    """One observation with the oracle's starting point for it."""

    output: Tensor
    context: Context


@dataclass(frozen=True)
class _Search:
    """One layout, the forms that make sense under it, and the cases to explain.

    `neutral` forms are other right ways, which matter only beside a mistake: a column of nothing but -1e9 and
    one of nothing but -inf part ways once softmax runs over the queries.
    """

    plan: Plan
    layout: Layout
    forms: Forms
    neutral: Forms
    unmasked: tuple[_Case, ...]
    masked: tuple[_Case, ...]

    def fitting(self, candidates: Sequence[Forms], cases: Sequence[_Case]) -> list[Forms]:
        """Those that reproduce every case; the first case sieves, the others confirm."""
        if not cases:
            return list(candidates)
        pairs = [(forms, compose(forms)) for forms in candidates]
        alive = [(forms, variant) for forms, variant in pairs if variant is not None]
        for case in cases:
            outputs = evaluate(self.plan, [variant for _, variant in alive], case.context)
            alive = [alive[index] for index in matches(case.output, outputs)]
            if not alive:
                break
        return [forms for forms, _ in alive]

    def under_masks(self, candidates: Sequence[Forms]) -> list[Forms]:
        """Those that reproduce the masked cases, by themselves or beside another right way of masking."""
        found = self.fitting(candidates, self.masked)
        if found or not self.masked:
            return found
        beside = [(*forms, other) for forms in candidates for other in self.neutral]
        return [
            tuple(form for form in forms if not form.neutral) for forms in self.fitting(beside, self.masked)
        ]

    @cached_property
    def by_loudness(self) -> tuple[Forms, Forms]:
        """Forms that change nothing on the first unmasked case ("silent"), and the others."""
        case = self.unmasked[0]
        variants: list[Variant] = [{}, *(form.steps for form in self.forms)]
        right, *outputs = evaluate(self.plan, variants, case.context)
        quiet = [
            right is not None and output is not None and same(output, right, rtol=1e-6, atol=1e-6)
            for output in outputs
        ]
        silent = tuple(form for form, is_quiet in zip(self.forms, quiet, strict=True) if is_quiet)
        loud = tuple(form for form, is_quiet in zip(self.forms, quiet, strict=True) if not is_quiet)
        return silent, loud


def explain(candidate: Candidate) -> Explanation | None:
    """The simplest explanation of what was observed, or None."""
    searches = _Searches(candidate)
    spent = 0
    for size in (0, 1):
        for search in searches.of_size(size):
            found = _explain_with(search, size)
            spent += max(1, len(search.forms)) if size else 1
            if found is not None:
                return found
            if spent > MAX_EVALUATIONS:
                break
    for search in itertools.islice(searches.of_size(2), MAX_PAIR_LAYOUTS):
        found = _measured_divisor(search) or _explain_with(search, 2)
        if found is not None:
            return found
    return _without_masks(searches)


def _without_masks(searches: _Searches) -> Explanation | None:
    """When nothing explains the masked outputs as well: what explains the unmasked ones alone."""
    for size in (0, 1):
        for search in itertools.islice(searches.of_size(size), MAX_PAIR_LAYOUTS):
            if search.masked and search.unmasked:
                found = _explain_with(replace(search, masked=()), size)
                if found is not None:
                    return found
    return None


class _Searches:
    """The searches under each hypothesis, prepared when they are asked for."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        likely = candidate.layout
        others = [layout for layout in candidate.hypotheses if layout is not likely and not layout.unusual]
        self._layouts = others if likely is None else [likely, *others]
        self._prepared: dict[int, _Search | None] = {}

    def of_size(self, size: int) -> Iterator[_Search]:
        """Most plausible first. Without any mistake only the layout that gives the right output can do."""
        layouts = self._layouts if size else self._layouts[: int(self._candidate.layout is not None)]
        for place, layout in enumerate(layouts):
            if place not in self._prepared:
                self._prepared[place] = _prepare(self._candidate, layout)
            search = self._prepared[place]
            if search is not None:
                yield search


def _prepare(candidate: Candidate, layout: Layout) -> _Search | None:
    cases: dict[bool, list[_Case]] = {False: [], True: []}
    for seen in candidate.observations:
        context = candidate.context(seen.drawn, layout)
        if context is not None and seen.output is not None and not overwritten(seen):
            cases[seen.drawn.mask is not None].append(_Case(seen.output, context))
    if not cases[False] and not cases[True]:
        return None
    plan = candidate.plan_for(layout)
    features = set(candidate.content.features)
    features |= {"fused"} if layout.fused else set()
    features |= {"output_layer"} if "output" in layout.slots else set()
    forms = tuple(form for form in candidate.content.values if form.fits(plan, frozenset(features)))
    neutral = tuple(form for form in candidate.content.neutral if form.fits(plan, frozenset(features)))
    return _Search(plan, layout, forms, neutral, tuple(cases[False]), _telling_first(cases[True]))


def overwritten(seen: Observation) -> bool:
    """The candidate changed the mask in place, so the output follows from another mask than the judge's."""
    mask = seen.drawn.mask
    return mask is not None and seen.mask_after is not None and not torch.equal(seen.mask_after, mask)


def _telling_first(cases: list[_Case]) -> tuple[_Case, ...]:
    """Full (batch, seq_len, seq_len) masks sieve best."""

    def size(case: _Case) -> int:
        return 0 if case.context.visible is None else case.context.visible.numel()

    return tuple(sorted(cases, key=size, reverse=True))


def _explain_with(search: _Search, size: int) -> Explanation | None:
    """Explanations of exactly `size` mistakes; `borrowed` layouts count as one already."""
    own = 1 if search.layout.borrowed else 0
    if own > size:
        return None
    wanted = size - own
    if not search.unmasked or not wanted:
        cases = (*search.unmasked, *search.masked)
        return _best(search, search.fitting(list(itertools.combinations(search.forms, wanted)), cases))
    silent, loud = search.by_loudness
    results: list[Forms] = []
    for hidden in range(wanted + 1):  # mistakes that only a mask shows
        if hidden and not search.masked:
            break
        base = search.fitting(list(itertools.combinations(loud, wanted - hidden)), search.unmasked)
        extended = [(*forms, *more) for forms in base for more in itertools.combinations(silent, hidden)]
        if extended:
            results += search.under_masks(extended)
    return _best(search, results)


def _best(search: _Search, found: Sequence[Forms]) -> Explanation | None:
    """The first of the fitting ones in catalogue order; others with other labels are alternatives."""
    if not found:
        return None
    first = found[0]
    labels = {tuple(sorted({form.label for form in first}))}
    alternatives: list[Forms] = []
    for forms in found[1:]:
        key = tuple(sorted({form.label for form in forms}))
        if key not in labels:
            labels.add(key)
            alternatives.append(forms)
    return Explanation(first, search.layout, tuple(alternatives[:4]), masked=bool(search.masked))


def _measured_divisor(search: _Search) -> Explanation | None:
    """Everything right but the scale: find the divisor that reproduces each case."""
    if "scale" not in search.plan or not search.unmasked:
        return None
    found: list[tuple[Context, float]] = []
    for case in _of_each_shape((*search.unmasked, *search.masked)):
        if case.context.seq_len == 1:
            continue  # one token: any scale gives the same
        divisor = fit_divisor(search.plan, case.context, case.output)
        if divisor is None:
            return None
        found.append((case.context, divisor))
    measured = {(context.hidden_dim, context.seq_len): divisor for context, divisor in found}
    form = Form("scale_wrong_value", {"scale": MeasuredScale(measured)})
    if not search.fitting([(form,)], search.masked):
        return None
    return Explanation((form,), search.layout, divisors=tuple(found), masked=bool(search.masked))


def _of_each_shape(cases: Sequence[_Case]) -> list[_Case]:
    """The first case of each pair of hidden_dim and seq_len: a divisor can depend on both."""
    first: dict[tuple[int, int], _Case] = {}
    for case in cases:
        first.setdefault((case.context.hidden_dim, case.context.seq_len), case)
    return list(first.values())
