"""The search for the mistake: which variant of the oracle gives exactly the candidate's outputs.

Unmasked probes are explained first (by one mistake, a measured divisor, two mistakes, or three of the leading
forms), then masked ones by what was found plus the mistakes that only a mask shows. Every budget is a count,
not a time, so that a grade never depends on how busy the machine is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.fitting import Fitted
from grader.judge.observations import Observation
from grader.judge.oracle import Context, Form, Plan, Remembered, attempt, same
from grader.judge.roles import Layout
from grader.judge.variants import Variants, chosen, every

MAX_EVALUATIONS = 6000  # variants on one probe, over all layouts
MAX_PAIR_LAYOUTS = 2
MAX_LAYOUTS = 40  # that a mistake is looked for under
Forms = tuple[Form, ...]


@dataclass(frozen=True)
class Explanation:
    """The simplest mistakes that reproduce everything observed. `forms` is empty for a right answer."""

    forms: Forms
    layout: Layout
    alternatives: tuple[Forms, ...] = ()
    masked: bool = True  # whether masked probes took part

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(form.label for form in self.forms))


@dataclass(frozen=True)
class Case:
    """One observation with the oracle's starting point for it."""

    seen: Observation
    output: Tensor
    context: Context

    def numel(self) -> int:
        return self.seen.drawn.x.numel()


@dataclass(frozen=True)
class Search:
    """One layout, the forms that make sense under it, and the cases to explain.

    What is tried are sets of forms, as tensors of places in `forms`: (sets, forms in each). The last
    `others` of the forms are other right ways, which matter only beside a mistake: a column of nothing but
    -1e9 and one of nothing but -inf part ways once softmax runs over the queries.
    """

    plan: Plan
    layout: Layout
    forms: Forms
    others: int
    unmasked: tuple[Case, ...]
    masked: tuple[Case, ...]
    _found: dict[int, Tensor] = field(
        default_factory=dict
    )  # as what follows: the same with masks and without

    @cached_property
    def mistakes(self) -> Tensor:
        """The places of the forms that are mistakes."""
        return torch.arange(len(self.forms) - self.others)

    @cached_property
    def _variants(self) -> Variants:
        return Variants(self.plan, self.forms)

    def fitting(self, sets: Tensor, cases: Sequence[Case]) -> Tensor:
        """Those that reproduce every case; the first case sieves, the others confirm."""
        alive = self._variants.composable(sets)
        for case in cases:
            if not len(alive):
                break
            alive = alive[self._variants.run(alive, case.context).equal_to(case.output)]
        return alive

    def without_masks(self, size: int) -> Tensor:
        """The sets of so many loud mistakes that reproduce the unmasked cases."""
        if size not in self._found:
            places = self.by_loudness[1] if size else self.mistakes
            self._found[size] = self.fitting(self.sets_of(places, size), self.unmasked)
        return self._found[size]

    def sets_of(self, places: Tensor, size: int) -> Tensor:
        """The sets of so many forms: of two, those with the first form of a label in them; of three, those of
        such forms alone. Two mistakes at once, both in an unusual way, are too many to try.
        """
        if size < 2:
            return chosen(places, size)
        firsts = {self.forms[place].label: place for place in reversed(places.tolist())}
        leading = torch.tensor(sorted(firsts.values()), dtype=torch.int64)
        if size > 2:
            return chosen(leading, size)
        pairs = chosen(places, size)
        return pairs[torch.isin(pairs, leading).any(dim=1)]

    def under_masks(self, sets: Tensor) -> Tensor:
        """Those that reproduce the masked cases, by themselves or beside another right way of masking."""
        found = self.fitting(sets, self.masked)
        if len(found) or not self.masked:
            return found
        beside = every(sets, torch.arange(len(self.mistakes), len(self.forms))[:, None])
        return self.fitting(beside, self.masked)[:, :-1]

    @cached_property
    def by_loudness(self) -> tuple[Tensor, Tensor]:
        """The mistakes that change nothing on the largest unmasked case ("silent"), and the others.

        What is quiet on the sieve is heard on the largest case: of one sample, the others show nothing.
        """
        if not self.masked:
            return self.mistakes[:0], self.mistakes
        silent = self.mistakes
        for case in (self.unmasked[0], max(self.unmasked, key=Case.numel)):
            right = self._variants.run(chosen(silent, 0), case.context).each()[0]
            if right is None:
                return self.mistakes[:0], self.mistakes
            outcomes = self._variants.run(chosen(silent, 1), case.context)
            silent = silent[outcomes.equal_to(right, rtol=1e-6, atol=1e-6)]
        return silent, self.mistakes[~torch.isin(self.mistakes, silent)]

    def named(self, found: Tensor) -> list[Forms]:
        """The mistakes of each set."""
        return [tuple(self.forms[place] for place in places) for places in found.tolist()]


def explain(candidate: Candidate) -> Explanation | None:
    """The simplest explanation of what was observed, or None."""
    searches = Searches(candidate)
    spent = 0
    for size in (0, 1):
        for search in searches.of_size(size):
            found = _explain_with(search, size)
            spent += max(1, len(search.mistakes)) if size else 1
            if found is not None:
                return found
            if spent > MAX_EVALUATIONS:
                break
    for search in itertools.islice(searches.of_size(2), MAX_PAIR_LAYOUTS):
        found = _fitted(candidate, search) or _explain_with(search, 2)
        if found is not None:
            return found
    for search in itertools.islice(searches.of_size(3), 1):
        found = _explain_with(search, 3)
        if found is not None:
            return found
    return _without_masks(searches)


def _without_masks(searches: Searches) -> Explanation | None:
    """When nothing explains the masked outputs as well: what explains the unmasked ones alone."""
    for size in (0, 1, 2):
        for search in itertools.islice(searches.of_size(size), MAX_PAIR_LAYOUTS):
            if search.masked and search.unmasked:
                found = _explain_with(replace(search, masked=()), size)
                if found is not None:
                    return found
    return None


class Searches:
    """The searches under each hypothesis, prepared when they are asked for."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        likely = candidate.layout
        others = [layout for layout in candidate.hypotheses if layout is not likely and not layout.unusual]
        self._layouts = (others if likely is None else [likely, *others])[:MAX_LAYOUTS]
        self._prepared: dict[int, Search | None] = {}

    def of_size(self, size: int) -> Iterator[Search]:
        """Most plausible first. Without any mistake only the layout that gives the right output can do."""
        layouts = self._layouts if size else self._layouts[: int(self._candidate.layout is not None)]
        for place, layout in enumerate(layouts):
            if place not in self._prepared:
                self._prepared[place] = _prepare(self._candidate, layout)
            search = self._prepared[place]
            if search is not None:
                yield search


def _prepare(candidate: Candidate, layout: Layout) -> Search | None:
    cases: dict[bool, list[Case]] = {False: [], True: []}
    for seen in candidate.observations:
        context = candidate.context(seen.drawn, layout)
        if context is not None and seen.output is not None and not overwritten(seen):
            layers = {
                role: Remembered(layer, context.inputs().values()) for role, layer in context.layers.items()
            }
            case = Case(seen, seen.output, context.but(layers=layers))
            cases[seen.probe.stage > 0].append(case)
    if not cases[False] and not cases[True]:
        return None
    plan = candidate.plan_for(layout)
    features = features_of(candidate, layout)
    forms = tuple(form for form in candidate.content.values if form.fits(plan, features))
    neutral = tuple(form for form in candidate.content.neutral if form.fits(plan, features))
    unmasked, masked = _cheapest_first(cases[False]), _telling_first(cases[True])
    return Search(plan, layout, (*forms, *neutral), len(neutral), unmasked, masked)


def features_of(candidate: Candidate, layout: Layout) -> frozenset[str]:
    """What forms may rely on, of the kata and of the layers."""
    fused = {"fused"} if layout.fused else set()
    layers = {f"{role}_layer" for role in candidate.family.optional if role in layout.slots}
    return candidate.family.features | fused | layers


def overwritten(seen: Observation) -> bool:
    """The candidate changed the mask in place, so the output follows from another mask than the judge's."""
    return seen.changed(seen.drawn.mask_name) is not None


def _cheapest_first(cases: list[Case]) -> tuple[Case, ...]:
    """The smallest sieves, as the time goes into numbers; but a thin one tells little."""

    def cost(case: Case) -> tuple[bool, int]:
        return case.seen.probe.thin, case.numel()

    return tuple(sorted(cases, key=cost))


def _telling_first(cases: list[Case]) -> tuple[Case, ...]:
    """Full masks sieve best."""

    def size(case: Case) -> int:
        visible = case.seen.drawn.visible
        return 0 if visible is None else visible.numel()

    return tuple(sorted(cases, key=size, reverse=True))


def _explain_with(search: Search, size: int) -> Explanation | None:
    """Explanations of exactly `size` mistakes; `borrowed` layouts count as one already."""
    own = 1 if search.layout.borrowed else 0
    if own > size:
        return None
    wanted = size - own
    if not search.unmasked or not wanted:
        cases = (*search.unmasked, *search.masked)
        return _best(search, search.named(search.fitting(search.sets_of(search.mistakes, wanted), cases)))
    right_without_masks = len(search.without_masks(0)) > 0
    if wanted == 1 and not right_without_masks:  # a mistake that only a mask shows cannot be all
        base = search.fitting(chosen(search.mistakes, 1), search.unmasked)
        return _best(search, search.named(search.under_masks(base)))
    silent, _ = search.by_loudness
    results: list[Forms] = []
    # Mistakes that only a mask shows; all of them are such where nothing is wrong without one.
    for hidden in range(wanted if right_without_masks else 0, wanted + 1):
        if hidden and not search.masked:
            break
        base = search.without_masks(wanted - hidden)
        if len(base):
            results += search.named(search.under_masks(every(base, search.sets_of(silent, hidden))))
    return _best(search, results)


def _best(search: Search, found: Sequence[Forms]) -> Explanation | None:
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


def _fitted(candidate: Candidate, search: Search) -> Explanation | None:
    """Everything right but one number: find the one that reproduces each case."""
    for fitted in candidate.content.fitted:
        form = _fit(fitted, candidate, search) if fitted.step in search.plan else None
        if form is not None:
            return Explanation((form,), search.layout, masked=bool(search.masked))
    return None


def _fit(fitted: Fitted, candidate: Candidate, search: Search) -> Form | None:
    if fitted.masked_only and not len(search.without_masks(0)):
        return None
    cases = search.masked if fitted.masked_only else (*search.unmasked, *search.masked)
    numbers: dict[tuple[int, ...], float] = {}
    for key, case in _of_each_size(fitted, cases).items():
        if case.seen.probe.thin:
            continue  # of one token: whatever its score, it gets all the weight
        number = fitted.fit(search.plan, case.context, case.output)
        if number is None:
            return None
        numbers[key] = number
    variant = {fitted.step: fitted.step_with(numbers)}
    confirming = search.masked if fitted.masked_only else (*search.unmasked, *search.masked)
    if not numbers or not all(
        same(case.output, attempt(search.plan, case.context, variant)) for case in confirming
    ):
        return None
    named = fitted.form(numbers, candidate.written_numbers)
    return None if named is None else replace(named, steps=variant)


def _of_each_size(fitted: Fitted, cases: Sequence[Case]) -> dict[tuple[int, ...], Case]:
    """The first case of each set of sizes that the number can depend on."""
    first: dict[tuple[int, ...], Case] = {}
    for case in cases:
        first.setdefault(fitted.key(case.context.sizes), case)
    return first
