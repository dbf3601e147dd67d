"""The search for the mistake in a bug hunt, where it is known what was planted.

First by every subset of the planted mistakes, however many they are; then by such a subset and one or two of
the others. All that fit are kept: a mistake is mended only if none of them has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.explain import Explanation, Forms, Search, Searches
from grader.judge.oracle import Form
from grader.judge.variants import chosen, every
from grader.records import Planted

MAX_SETS = 60_000  # of planted mistakes and two others
LAYOUTS = (40, 4, 1)  # that are looked at beside none, one and two others


def explain_planted(candidate: Candidate) -> tuple[Explanation, ...]:
    """All explanations with as few other mistakes as will do, under the likeliest layout that has one."""
    searches = Searches(candidate)
    for others, layouts in enumerate(LAYOUTS):
        for search in itertools.islice(searches.of_size(1), layouts):
            if search.layout.borrowed:
                continue
            found = [
                forms for sets in _sets(search, candidate.planted, others) for forms in _fit(search, sets)
            ]
            if found:
                return tuple(Explanation(forms, search.layout, masked=bool(search.masked)) for forms in found)
    return ()


def forms_of(planted: Planted, forms: Iterable[Form]) -> tuple[Form, ...]:
    """The forms that a planted mistake may have: by the words of `form`, else like its label's first."""
    named = [form for form in forms if form.label == planted.label]
    if planted.form:
        return tuple(form for form in named if planted.form in form.shows)
    return tuple(form for form in named if form.shows == named[0].shows)


def _sets(search: Search, planted: tuple[Planted, ...], others: int) -> Iterator[Tensor]:
    """Sets of places, those of one size together."""
    mistakes = [search.forms[place] for place in search.mistakes.tolist()]
    ways = [[mistakes.index(form) for form in forms_of(one, mistakes)] for one in planted]
    subsets: dict[int, list[tuple[int, ...]]] = {}
    for picked in itertools.product(*([-1, *places] for places in ways)):
        subset = tuple(place for place in picked if place >= 0)
        subsets.setdefault(len(subset), []).append(subset)
    more = search.sets_of(search.mistakes, others) if others < 2 else _leading_pairs(search)
    for size, of_size in sorted(subsets.items()):
        base = torch.tensor(of_size, dtype=torch.int64).reshape(len(of_size), size)
        if not others:
            yield base
        elif others < 2 or len(base) * len(more) <= MAX_SETS:
            yield every(base, more)


def _leading_pairs(search: Search) -> Tensor:
    """Pairs of mistakes, each in the first form of its label."""
    firsts = {search.forms[place].label: place for place in reversed(search.mistakes.tolist())}
    return chosen(torch.tensor(sorted(firsts.values()), dtype=torch.int64), 2)


def _fit(search: Search, sets: Tensor) -> list[Forms]:
    """The mistakes of those sets that give all that was observed."""
    return search.named(search.under_masks(search.fitting(sets, search.unmasked)))
