"""Answers that are nearly the same: winnowed fingerprints of their tokens, without what most of them share.

Winnowing (Schleimer, Wilkerson and Aiken, 2003) keeps the least hash of every window of k-grams, so whatever
two texts share over a window's length is found in both.
Names are kept as they are: right answers to a small task are alike in form, and names tell who wrote them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from grader.lexing import Kind, pieces
from grader.records import Record

GRAM = 6  # tokens of one k-gram
WINDOW = 4  # k-grams of which one is kept
LIKE = 0.8  # share of the fingerprints that two answers have in common
FEWEST = 8  # fingerprints that are needed to say anything
COMMON = 0.2  # what stands in more than this share of the answers is the task's, not the author's
COMMON_FROM = 8  # answers from which on that can be told
MOST_PAIRS = 200
MOST_HOLDERS = 50  # of one fingerprint; more would cost time and say nothing
MOST_TOKENS = 20_000  # of one answer; what is longer is compared by its beginning
_PASSED_OVER: frozenset[Kind] = frozenset({"space", "comment", "docstring"})


class Likeness(Record):
    """Two answers, by their place in the order given, and how much they share: 1 is all."""

    first: int
    second: int
    share: float


def fingerprints(source: str) -> frozenset[int]:
    """Of the tokens of a source; comments, documentation and layout do not count."""
    told = (text for kind, text in pieces(source) if kind not in _PASSED_OVER)
    tokens = list(islice(told, MOST_TOKENS))
    grams = [_hash(tokens[place : place + GRAM]) for place in range(max(0, len(tokens) - GRAM + 1))]
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


def _hash(gram: list[str]) -> int:
    return int.from_bytes(
        hashlib.blake2b("\0".join(gram).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
