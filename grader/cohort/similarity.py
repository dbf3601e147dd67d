"""Answers that are the same, or nearly: first word for word, then in form, then in parts.

- equal tokens: groups of copies, whatever was done to layout and comments
- equal forms (`grader.cohort.forms`): names changed and statements moved
- winnowed fingerprints (Schleimer, Wilkerson and Aiken, 2003): parts that were taken over, names and all,
  without what most answers share. Right answers to a small task are alike in form; names tell who wrote them

Beside what is found stands how alike two others are here: what is no more alike than those is no sign.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Literal

from grader.cohort.forms import digest, form, tokens
from grader.lexing import Kind, pieces
from grader.records import Record

GRAM = 6  # tokens of one k-gram
WINDOW = 4  # k-grams of which one is kept
LIKE = 0.9  # share of the fingerprints that two answers have in common
FEWEST = 8  # fingerprints that are needed to say anything
COMMON = 0.2  # what stands in more than this share of the answers is the task's, not the author's
COMMON_FROM = 8  # answers from which on that can be told
MOST_PAIRS = 200
MOST_HOLDERS = 50  # of one fingerprint; more would cost time and say nothing
MOST_TOKENS = 20_000  # of one answer; what is longer is compared by its beginning
MOST_COMPARED = 200  # answers of a kata whose forms are compared with one another, for the number beside
SHORTEST = 3  # statements beyond what the task gives; less is nobody's own
_PASSED_OVER: frozenset[Kind] = frozenset({"space", "comment", "docstring"})

Sign = Literal["the same words", "the same but for names and order"]


class Print(Record):
    """What an answer is recognised by; `own` says that it is more than the task gives."""

    words: str
    form: tuple[str, ...]
    marks: frozenset[int]


class Likeness(Record):
    """Two answers, by their place in the order given, and how much they share: 1 is all."""

    first: int
    second: int
    share: float


class Group(Record):
    """Answers that are the same, by their places. `members` that have the same words lie beside one another.

    `others` is the most that two answers outside of any group share of their form, from 0 to 1, and `of` how
    many of the kata there are.
    """

    members: tuple[int, ...]
    sign: Sign
    others: float
    of: int

    @property
    def is_usual(self) -> bool:
        """Whether it is no more than independent answers here come to: many have this form, or nearly."""
        many = self.of >= COMMON_FROM and len(self.members) > self.of * COMMON
        return self.sign != "the same words" and (many or self.others >= LIKE)


def print_of(source: str) -> Print:
    """What the source is recognised by."""
    return Print(words=digest(tokens(source)), form=form(source), marks=fingerprints(source))


def groups(prints: Sequence[Print], owners: Sequence[str], given: Iterable[Print] = ()) -> tuple[Group, ...]:
    """Answers to one kata that are the same; each has several owners, and is more than the task gives."""
    task = Counter(statement for one in given for statement in set(one.form))
    own = [sum(statement not in task for statement in one.form) >= SHORTEST for one in prints]
    by_form: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(prints):
        if own[place]:
            by_form[one.form].append(place)
    others = _most_alike(list(by_form))
    found = []
    for members in by_form.values():
        by_words: dict[str, list[int]] = defaultdict(list)
        for place in members:
            by_words[prints[place].words].append(place)
        same = len(by_words) == 1
        ordered = tuple(place for places in by_words.values() for place in places)
        if len({owners[place] for place in ordered}) > 1:
            sign: Sign = "the same words" if same else "the same but for names and order"
            found.append(Group(members=ordered, sign=sign, others=others, of=len(prints)))
    return tuple(sorted(found, key=lambda group: (-len(group.members), group.members)))


def _most_alike(forms: Sequence[tuple[str, ...]]) -> float:
    """The most that two different forms share; 0 where there are no two."""
    counted = [Counter(one) for one in forms[:MOST_COMPARED]]
    return max((_share(first, second) for first, second in combinations(counted, 2)), default=0.0)


def _share(first: Counter[str], second: Counter[str]) -> float:
    both = sum(min(count, second[one]) for one, count in first.items())
    return both / (first.total() + second.total() - both)


def fingerprints(source: str) -> frozenset[int]:
    """Of the tokens of a source; comments, documentation and layout do not count."""
    told = (text for kind, text in pieces(source) if kind not in _PASSED_OVER)
    words = list(islice(told, MOST_TOKENS))
    grams = [_hash(words[place : place + GRAM]) for place in range(max(0, len(words) - GRAM + 1))]
    return frozenset(min(grams[place : place + WINDOW]) for place in range(max(0, len(grams) - WINDOW + 1)))


def alike(
    prints: Sequence[frozenset[int]], boilerplate: Iterable[frozenset[int]] = ()
) -> tuple[Likeness, ...]:
    """The pairs that share most of their own, the closest first; `boilerplate` is what the task gives."""
    holders: dict[int, list[int]] = defaultdict(list)
    for place, print_ in enumerate(prints):
        for mark in print_:
            holders[mark].append(place)
    given = frozenset[int]().union(*boilerplate)
    most = min(len(prints) * COMMON if len(prints) >= COMMON_FROM else len(prints), MOST_HOLDERS)
    kept = max(most, 2)
    sizes = [sum(mark not in given and len(holders[mark]) <= kept for mark in marks) for marks in prints]
    own = {mark: places for mark, places in holders.items() if mark not in given and 2 <= len(places) <= kept}
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for places in own.values():
        for index, first in enumerate(places):
            for second in places[index + 1 :]:
                shared[first, second] += 1
    found = [
        Likeness(first=first, second=second, share=count / (sizes[first] + sizes[second] - count))
        for (first, second), count in shared.items()
        if min(sizes[first], sizes[second]) >= FEWEST
    ]
    close = sorted((pair for pair in found if pair.share >= LIKE), key=lambda pair: -pair.share)
    return tuple(close[:MOST_PAIRS])


class Found(Record):
    """What is alike among all answers, by their places."""

    groups: tuple[Group, ...] = ()
    pairs: tuple[Likeness, ...] = ()


def look(
    katas: Sequence[str | None], owners: Sequence[str], prints: Sequence[Print], given: Sequence[Print]
) -> Found:
    """Groups and pairs within each kata; a group counts once where pairs are sought."""
    every: dict[str, list[int]] = defaultdict(list)
    for place, kata in enumerate(katas):
        if kata is not None:
            every[kata].append(place)
    found_groups: list[Group] = []
    found_pairs: list[Likeness] = []
    for places in every.values():
        own = groups([prints[at] for at in places], [owners[at] for at in places], given)
        left = {at for group in own for at in group.members[1:]}
        rest = [at for index, at in enumerate(places) if index not in left]
        found_groups += [_moved(group, places) for group in own]
        pairs = alike([prints[at].marks for at in rest], [one.marks for one in given])
        found_pairs += _of_two(pairs, rest, owners)
    return Found(groups=tuple(found_groups), pairs=tuple(found_pairs))


def _moved(group: Group, places: Sequence[int]) -> Group:
    members = tuple(places[at] for at in group.members)
    return Group(members=members, sign=group.sign, others=group.others, of=group.of)


def _of_two(pairs: Iterable[Likeness], places: Sequence[int], owners: Sequence[str]) -> Iterator[Likeness]:
    for pair in pairs:
        first, second = places[pair.first], places[pair.second]
        if owners[first] != owners[second]:
            yield Likeness(first=first, second=second, share=pair.share)


def _hash(gram: list[str]) -> int:
    return int(digest(gram), 16)
