"""Wrong ways to keep old tokens and to mask them, as functions of which forms are made.

What a call has at hand is a row of slots, each a token's place in x or `EMPTY`. A query of the call sees
those that a rule shows: of its row in the call, the slot's place, how many slots are not of this call, how
many tokens are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from kata_content.decoding.steps import Call, Tokens, calls, same_call
from torch import Tensor

from grader.authoring import Context

EMPTY = -1
Slots = Callable[[Call], Sequence[int]]
Sees = Callable[[Tensor, Tensor, int, Call], Tensor]  # rows (S, 1), places (T), slots that are not new
StepOf = Callable[[Context], Context]


def flat(chunks: Sequence[Tokens]) -> Tokens:
    return tuple(token for tokens in chunks for token in tokens)


def usual(call: Call) -> Sequence[int]:
    """Old tokens, then new ones."""
    return (*call.old, *call.own)


def causal(rows: Tensor, places: Tensor, ahead: int, _: Call) -> Tensor:
    return places <= ahead + rows


def everything(rows: Tensor, places: Tensor, _: int, __: Call) -> Tensor:
    return (places >= 0) & (rows >= 0)


def laid(slots: Slots = usual, sees: Sees = causal) -> StepOf:
    """Other slots, or other rules for what of them is seen."""

    def step(c: Context) -> Context:
        length = c.x.shape[-2]
        copies, empty = torch.zeros(length, length), torch.zeros(length, 1)
        for call in calls(c):
            held = torch.tensor(tuple(slots(call)), dtype=torch.int64)
            rows, places = torch.arange(len(call.own))[:, None], torch.arange(len(held))
            shown = sees(rows, places, len(held) - len(call.own), call).expand(len(rows), len(held)).float()
            real = held >= 0
            own = torch.tensor(call.own)
            copies[own] = copies[own].index_add(1, held[real], shown[:, real])
            empty[own] = shown[:, ~real].sum(dim=1, keepdim=True)
        return c.but(copies=copies[None, None], empty=empty[None, None])

    return step


def later_only(rule: Sees, first: Sees = causal) -> Sees:
    """One rule for calls that have something to go on from, another for those that begin."""
    return lambda rows, places, ahead, call: (rule if call.past else first)(rows, places, ahead, call)


def moved(rule: Callable[[int, Call], int]) -> Sees:
    """The triangle moved by another number than that of the old tokens."""
    return lambda rows, places, ahead, call: places <= rule(ahead, call) + rows


def square(rows: Tensor, places: Tensor, _: int, call: Call) -> Tensor:
    """The triangle of the new tokens on the first keys."""
    return (places >= len(call.own)) | (places <= rows)


def buffered(write: Callable[[int, Tokens, tuple[Tokens, ...]], int], *, total: bool = True) -> Slots:
    """A buffer into which each call writes at some place: of how many tokens are in it, those that come, and
    the calls before. What is read reaches to the true length, or to the end of what was written last.
    """

    def slots(call: Call) -> Sequence[int]:
        held: list[int] = []
        length = 0
        chunks = (*call.past, call.own)
        for place, tokens in enumerate(chunks):
            start = max(0, write(length, tokens, chunks[:place]))
            held += [EMPTY] * (start + len(tokens) - len(held))
            held[start : start + len(tokens)] = tokens
            length = length + len(tokens) if total else start + len(tokens)
            if total:
                held += [EMPTY] * (length - len(held))
        return held[:length]

    return slots


def with_tail(capacity: Callable[[int], int]) -> Slots:
    """The whole buffer, with its empty rows."""

    def slots(call: Call) -> Sequence[int]:
        held = usual(call)
        return (*held, *[EMPTY] * (capacity(len(held)) - len(held)))

    return slots


def doubled(first: int) -> Callable[[int], int]:
    """A buffer that grows to twice its size when it is full."""

    def capacity(length: int) -> int:
        size = first
        while size < length:
            size *= 2
        return size

    return capacity


def tail_shown(rows: Tensor, places: Tensor, _: int, call: Call) -> Tensor:
    """Causal among tokens, and the empty rows behind them are seen by all."""
    old = len(call.old)
    return (places <= old + rows) | (places >= old + len(call.own))


def old_scores(rule: Callable[[Context], Tensor]) -> StepOf:
    """Other scores with old tokens."""
    return lambda c: c.but(scores=torch.where(same_call(c), c.scores, rule(c)))


def old_values(rule: Callable[[Context], Tensor]) -> StepOf:
    """Other values of old tokens."""

    def step(c: Context) -> Context:
        new = same_call(c).float()
        return c.but(mixed=(c.weights * new) @ c.value + (c.weights * (1 - new)) @ rule(c))

    return step


def transposed(c: Context) -> Context:
    """Values mixed with the transposed weights, of those tokens that were there when the call was made."""
    there = torch.zeros(c.x.shape[-2], c.x.shape[-2])
    for call in calls(c):
        there[torch.tensor(call.own)[:, None], torch.tensor(tuple(usual(call)))] = 1.0
    return c.but(mixed=(c.weights.mT * there) @ c.value)


def forgotten(c: Context) -> Context:
    """Zeros stand for the values of old tokens."""
    return c.but(weights=c.weights * same_call(c).float())


def ages(c: Context) -> Tensor:
    """How many calls ago a key came, for each query: (seq_len, seq_len)."""
    age = torch.zeros(c.x.shape[-2], c.x.shape[-2])
    for call in calls(c):
        for back, tokens in enumerate(reversed(call.past), 1):
            age[torch.tensor(call.own)[:, None], torch.tensor(tokens)] = back
    return age


def _exchanged(c: Context) -> Tensor:
    """Which keys and values have changed places once more than back: they do so each time they are kept."""
    return ages(c) % 2 == 1


def exchanged_scores(c: Context) -> Context:
    return c.but(scores=torch.where(_exchanged(c), c.query @ c.value.mT, c.scores))


def exchanged_values(c: Context) -> Context:
    other = _exchanged(c).float()
    return c.but(mixed=(c.weights * (1 - other)) @ c.value + (c.weights * other) @ c.key)


def rescaled(c: Context) -> Context:
    """Keys are scaled each time they are handed on."""
    return c.but(scores=c.scores * c.head_dim ** (-0.5 * ages(c)))
