"""The right steps of attention over several calls: each token sees its own sequence so far, itself included.

A cache changes nothing in the formula, so the oracle works on all calls at once. What a cache can get wrong
is which tokens a call has at hand, in which order, and how many of them are nothing but empty rows: `copies`
says how often a key counts for a query, `empty` how many rows of zeros a query sees besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from kata_content.heads.steps import MASKED
from torch import Tensor

from grader.authoring import Context, Plan, Step, Turn

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One call: its tokens by their places in x, and those of the calls before, call by call."""

    own: Tokens
    past: tuple[Tokens, ...]  # of its own sequence
    before: tuple[Tokens, ...]  # of all sequences
    since: tuple[Tokens, ...]  # of all sequences since one was last begun

    @property
    def old(self) -> Tokens:
        return tuple(token for tokens in self.past for token in tokens)


def calls(c: Context) -> Iterator[Call]:
    """The calls in which x came; one where it came at once."""
    kept: dict[str, tuple[Tokens, ...]] = {}
    before: tuple[Tokens, ...] = ()
    since: tuple[Tokens, ...] = ()
    for turn in c.turns or (Turn("S", 0, c.x.shape[-2]),):
        own = tuple(range(turn.start, turn.stop))
        past = kept.get(turn.use, ())
        since = since if past else ()
        yield Call(own, past, before, since)
        kept[turn.keep] = (*past, own)
        before, since = (*before, own), (*since, own)


def lay(c: Context) -> Context:
    """Key j counts once for query i where both are of one sequence and j is not later."""
    length = c.x.shape[-2]
    copies = torch.zeros(1, 1, length, length)
    for call in calls(c):
        own = torch.tensor(call.own)
        copies[..., own[:, None], torch.tensor((*call.old, *call.own))] = torch.ones(
            len(own), len(call.old) + len(own)
        ).tril(len(call.old))
    return c.but(copies=copies, empty=torch.zeros(1, 1, length, 1))


def keep(c: Context) -> Context:
    return c


def same_call(c: Context) -> Tensor:
    """Which pairs of tokens came in one call: (seq_len, seq_len)."""
    number = torch.zeros(c.x.shape[-2], dtype=torch.int64)
    for place, call in enumerate(calls(c)):
        number[torch.tensor(call.own)] = place
    return number[:, None] == number


def hide(c: Context) -> Context:
    """A key that counts n times adds log n to its score; log 0 hides it."""
    return c.but(scores=c.scores + c.copies.log())


def normalise(c: Context) -> Context:
    """Softmax over the keys and the empty rows, whose scores are 0."""
    whole = torch.cat((c.scores, c.empty.log().expand(*c.scores.shape[:-1], 1)), dim=-1)
    return c.but(weights=torch.softmax(whole, dim=-1)[..., :-1])


PLAN: Plan = {
    "lay": Step(lay, "mask", {"copies": "1 1 S S", "empty": "1 1 S 1"}),
    "project": MASKED["project"],
    "split": MASKED["split"],
    "scores": MASKED["scores"],
    "remember": Step(keep, "cache"),
    "scale": MASKED["scale"],
    "mask": Step(hide, "mask", {"scores": "B H S T"}),
    "normalise": Step(normalise, "softmax", {"weights": "B H S T"}),
    "recall": Step(keep, "cache"),
    "mix": MASKED["mix"],
    "join": MASKED["join"],
    "output": MASKED["output"],
}
