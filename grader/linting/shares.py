"""What a quick look tries: each mistake and each unusual right answer once, in one of the katas that know it.

Katas are much alike. So a kata more costs what is new in it, and not the whole catalogue again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from grader.judge.content import KataContent
from grader.linting.answers import Answer
from grader.linting.oracle_trials import forms_of, own_concept_of_label, places


def dealt(held: Mapping[str, Iterable[Hashable]]) -> dict[str, set[Hashable]]:
    """What each holder is given: each thing goes to one who holds it, and has least so far."""
    holders: dict[Hashable, list[str]] = {}
    for holder, things in held.items():
        for thing in dict.fromkeys(things):
            holders.setdefault(thing, []).append(holder)
    given: dict[str, set[Hashable]] = {holder: set() for holder in held}
    for thing, among in sorted(holders.items(), key=lambda pair: len(pair[1])):
        given[min(among, key=lambda holder: len(given[holder]))].add(thing)
    return given


def some_places(contents: Sequence[KataContent]) -> dict[str, tuple[int, ...]]:
    """Every right build, the usual forms of a kata's share of the mistakes, one for each other concept."""
    first = {content.kata.id: _first_places(content) for content in contents}
    given = dealt(first)
    chosen = {}
    for content in contents:
        mine = {first[content.kata.id][name] for name in given[content.kata.id]}
        concepts = {concept: place for place, concept in reversed(_costs(content).items())}
        tried = {concept for place, concept in _costs(content).items() if place in mine}
        mine |= {place for concept, place in concepts.items() if concept not in tried}
        chosen[content.kata.id] = tuple(place for place in places(content) if place < 0 or place in mine)
    return chosen


def _first_places(content: KataContent) -> dict[Hashable, int]:
    """Where each mistake, and each other right way, has its usual form."""
    found: dict[Hashable, int] = {}
    for place, form in enumerate(forms_of(content)):
        found.setdefault((form.label, form.shows) if form.neutral else form.label, place)
    return found


def _costs(content: KataContent) -> dict[int, str]:
    """The concept that each form which is a mistake should cost, by its place."""
    return {
        place: own_concept_of_label(content, form.label)
        for place, form in enumerate(forms_of(content))
        if not form.neutral
    }


def some_answers(answers: Mapping[str, Sequence[Answer]]) -> dict[str, list[Answer]]:
    """Each kata's papers and its solution, and of its share of the examples one each."""
    first: dict[str, dict[Hashable, Answer]] = {kata: {} for kata in answers}
    for kata, of in answers.items():
        for answer in of:
            if answer.example is not None:
                first[kata].setdefault((answer.right, answer.gate, answer.example.label), answer)
    given = dealt(first)
    mine = {kata: [first[kata][name] for name in given[kata]] for kata in answers}
    return {
        kata: [answer for answer in of if answer.example is None or any(answer is one for one in mine[kata])]
        for kata, of in answers.items()
    }
