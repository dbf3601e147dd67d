"""What can go wrong in attention in blocks: the scale, which keys are read, the running maximum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from kata_content.blocks.steps import block_peaks, block_size
from torch import Tensor

from grader.authoring import Context, Form

Way = Callable[[Context], Context]


# --- The scale --------------------------------------------------------------------------------------------


def _over(divisor: Callable[[Context], float]) -> dict[str, Way]:
    return {"scale": lambda c: c.but(scaled=c.query / divisor(c))}


def _again_in_every_block(c: Context) -> Context:
    """`query = query / √head_dim` stands inside the loop."""
    places = torch.arange(c.key.shape[-2]) // block_size(c) + 1
    whole = c.query @ c.key.mT
    return c.but(scores=whole / c.head_dim ** (places * 0.5))


SCALE = (
    Form("no_scale", _over(lambda _: 1.0)),
    Form("scale_by_dk", _over(lambda c: c.head_dim)),
    Form(
        "double_scale",
        {"scores": _again_in_every_block},
        shows="the scores of each block are scaled once more",
    ),
    Form("scale_multiplied", _over(lambda c: c.head_dim**-0.5)),
    Form(
        "scale_multiplied",
        _over(lambda c: 1 / c.head_dim),
        shows="scores are multiplied by head_dim instead of divided by its root",
    ),
    *(
        Form("scale_wrong_value", _over(rule), shows=f"the scores are divided by {what} instead of √head_dim")
        for what, rule in (
            ("√block_size", lambda c: math.sqrt(block_size(c))),
            ("block_size", block_size),
            ("√query_len", lambda c: math.sqrt(c.query_len)),
            ("√num_heads", lambda c: math.sqrt(c.num_heads)),
            ("√(num_heads·head_dim)", lambda c: math.sqrt(c.num_heads * c.head_dim)),
            ("√(2·head_dim)", lambda c: math.sqrt(2 * c.head_dim)),
            ("head_dim^¼", lambda c: c.head_dim**0.25),
            ("√(head_dim - 1)", lambda c: math.sqrt(max(c.head_dim - 1, 1))),
        )
    ),
    Form(
        "scale_by_seq_len", _over(lambda c: math.sqrt(c.key_len)), shows="the scores are divided by √key_len"
    ),
    Form("scale_by_seq_len", _over(lambda c: c.key_len), shows="the scores are divided by key_len"),
    Form(
        "scale_after_softmax",
        {
            "scale": lambda c: c.but(scaled=c.query),
            "divide": lambda c: c.but(output=c.mixed / c.sums[..., -1:] / math.sqrt(c.head_dim)),
        },
    ),
)


# --- The blocks -------------------------------------------------------------------------------------------


def _reading(rule: Callable[[int, Context], Sequence[int]], nothing: float | None = None) -> dict[str, Way]:
    """The keys at these places, in this order, each with its value. Where there are none the result is
    `nothing` everywhere, or it raises.
    """

    def step(c: Context) -> Context:
        places = torch.tensor(list(rule(c.key.shape[-2], c)), dtype=torch.int64)
        if len(places):
            return c.but(read=c.scores.index_select(-1, places), held=c.value.index_select(-2, places))
        if nothing is None:
            raise RuntimeError("no block is read")
        return c.but(read=torch.zeros_like(c.scores), held=torch.full_like(c.value, nothing))

    return {"read": step}


EMPTY = (math.nan, 0.0, None)  # what comes of no block at all: 0/0, the mix as it began, or an error


def _whole(length: int, c: Context) -> range:
    return range(length // block_size(c) * block_size(c))


def _last_block_whole(length: int, c: Context) -> list[int]:
    """The last block begins so early that it is whole."""
    begun = length // block_size(c) * block_size(c)
    again = range(max(0, length - block_size(c)), length) if begun < length else range(0)
    return [*range(begun), *again]


def _overlapping(length: int, c: Context) -> list[int]:
    """Each block reads one key of the next."""
    starts = range(0, length, block_size(c))
    return [place for start in starts for place in range(start, min(start + block_size(c) + 1, length))]


def _overlap(c: Context) -> Context:
    """As they come, the blocks are of block_size + 1: what is summed does not depend on where it is cut."""
    return _reading(_overlapping)["read"](c)


def _last_key_repeated(length: int, c: Context) -> list[int]:
    count = -(-length // block_size(c)) * block_size(c)
    return [min(place, length - 1) for place in range(count)]


def _padded(c: Context) -> Context:
    """Keys and values of zeros up to whole blocks."""
    more = -c.key.shape[-2] % block_size(c)
    zeros = torch.zeros_like(c.scores[..., :1]).repeat_interleave(more, -1)
    rows = torch.zeros_like(c.value[..., :1, :]).repeat_interleave(more, -2)
    return c.but(read=torch.cat([c.scores, zeros], -1), held=torch.cat([c.value, rows], -2))


def _values(rule: Callable[[int, Context], Sequence[int]]) -> dict[str, Way]:
    """Each key with the value at another place."""

    def step(c: Context) -> Context:
        places = list(rule(c.key.shape[-2], c))
        if len(places) != c.key.shape[-2] or max(places) >= c.key.shape[-2]:
            raise RuntimeError("keys and values of a block differ in number")
        return c.but(read=c.scores, held=c.value.index_select(-2, torch.tensor(places)))

    return {"read": step}


def _turned(length: int, by: int) -> list[int]:
    """All places, moved on by so many, and round."""
    return [(place + by) % length for place in range(length)]


def _from_the_end(length: int, c: Context) -> list[int]:
    """Blocks of values counted from the end, each of them in order."""
    starts = range(0, length, block_size(c))
    ends = [(start, min(start + block_size(c), length)) for start in starts]
    return [place for start, stop in ends for place in range(length - stop, length - start)]


def _other_block(rule: Callable[[int, int], int]) -> dict[str, Way]:
    """The keys of block n with the values of block rule(n, number of blocks)."""

    def places(length: int, c: Context) -> list[int]:
        size = block_size(c)
        starts = range(0, length, size)
        found: list[int] = []
        for n, start in enumerate(starts):
            other = starts[rule(n, len(starts)) % len(starts)]
            wanted, given = min(size, length - start), min(size, length - other)
            if wanted != given:
                raise RuntimeError("keys and values of a block differ in number")
            found += range(other, other + given)
        return found

    return _values(places)


def _as_many_as_queries(length: int, c: Context, *, cut: bool, crashes: bool) -> Sequence[int]:
    """Blocks begin below query_len; the last one is cut there or not, and one past the keys raises or not."""
    queries, size = c.query.shape[-2], block_size(c)
    starts = range(0, queries, size)
    if crashes and starts[-1] >= length:
        raise RuntimeError("a block holds no keys")
    end = queries if cut else starts[-1] + size
    return range(min(end, length))


BLOCKS = (
    *(Form("online_tail_dropped", _reading(_whole, nothing)) for nothing in EMPTY),
    Form(
        "online_tail_dropped",
        _reading(lambda length, c: range(max(length // block_size(c), 1) * block_size(c))[:length]),
    ),
    Form("online_tail_counted_twice", _reading(_last_block_whole)),
    Form(
        "online_tail_counted_twice",
        _reading(_last_key_repeated),
        shows="the last key is read again and again until the last block is full",
        sentence="You filled the last block up with copies of the last key, and each copy takes a share of"
        " the weight.",
    ),
    Form(
        "online_tail_counted_twice",
        {"read": _overlap},
        shows="each block reads the first key of the next one as well",
        sentence="Your blocks overlap by one key, and such a key counts twice.",
    ),
    Form("online_padding_attended", {"read": _padded}),
    Form("online_block_skipped", _reading(lambda length, c: range(min(block_size(c), length)))),
    *(
        Form(
            "online_block_skipped",
            _reading(lambda length, c: range(block_size(c), length), nothing),
            shows="the first block is never read",
        )
        for nothing in EMPTY
    ),
    Form(
        "online_block_skipped",
        _reading(lambda length, c: [n for n in range(length) if n // block_size(c) % 2 == 0]),
        shows="every other block is left out",
    ),
    Form(
        "online_block_skipped",
        _reading(lambda length, c: range(-(-length // block_size(c)))),
        shows="each block reads one key",
        sentence="The slice ends one key after its start: a block has block_size keys.",
    ),
    Form("online_block_misaligned", _other_block(lambda *_: 0)),
    Form(
        "online_block_misaligned",
        _values(lambda length, c: [n % block_size(c) for n in range(length)]),
    ),
    Form(
        "online_block_misaligned",
        _values(_from_the_end),
        shows="keys are read from the first block on and values from the end on",
    ),
    *(
        Form("online_block_misaligned", _values(rule), shows=shows)
        for shows, rule in (
            ("each key meets the value one block further on", lambda t, c: _turned(t, block_size(c))),
            ("each key meets the value one block before", lambda t, c: _turned(t, -block_size(c))),
            ("each key meets the next one's value", lambda t, _: _turned(t, 1)),
            ("each key meets the value of the one before", lambda t, _: _turned(t, -1)),
        )
    ),
    Form(
        "online_block_misaligned",
        _other_block(lambda n, count: count - 1 - n),
        shows="keys are read from the first block on and values from the last one on",
    ),
    Form(
        "online_block_misaligned",
        _other_block(lambda n, _: n + 1),
        shows="each block's keys meet the next block's values",
    ),
    Form(
        "online_block_misaligned",
        _other_block(lambda n, _: n - 1),
        shows="each block's keys meet the values of the block before",
    ),
    Form(
        "online_block_misaligned",
        _values(lambda length, _: [length - 1 - n for n in range(length)]),
        shows="keys are read from the first one on and values from the last one on",
    ),
    Form(
        "online_block_misaligned",
        _values(
            lambda length, c: [
                start + n - k - 1
                for start in range(0, length, block_size(c))
                for n in [min(block_size(c), length - start)]
                for k in range(n)
            ]
        ),
        shows="the values of each block are in the opposite order",
    ),
    *(
        Form(
            "online_key_length_from_query",
            _reading(partial(_as_many_as_queries, cut=cut, crashes=crashes)),
        )
        for crashes in (True, False)
        for cut in (False, True)
    ),
)


# --- The running maximum ----------------------------------------------------------------------------------


def _tops(rule: Callable[[Context], Tensor]) -> dict[str, Way]:
    return {"peaks": lambda c: c.but(tops=rule(c))}


def _running(c: Context) -> Tensor:
    return block_peaks(c).cummax(-1).values


def _starting_at(start: float) -> dict[str, Way]:
    return _tops(lambda c: _running(c).clamp(min=start))


def _over_axes(*axes: int) -> dict[str, Way]:
    """One maximum for all that lies along these axes of (batch, heads, queries)."""

    def rule(c: Context) -> Tensor:
        tops = _running(c)
        return tops.amax(dim=tuple(axis - 1 for axis in axes), keepdim=True).expand(tops.shape).clone()

    return _tops(rule)


def _never_kept(start: float) -> dict[str, Way]:
    """The new maximum is used in its block and never stored: each block meets the maximum of the start."""

    def factors(c: Context) -> Context:
        shrinks = torch.exp(start - c.tops)
        return c.but(shrinks=shrinks, sum_shrinks=shrinks)

    return {**_tops(lambda c: block_peaks(c).clamp(min=start)), "factors": factors}


def _clipped(low: float, high: float) -> dict[str, Way]:
    return {"scores": lambda c: c.but(scores=(c.scaled @ c.key.mT).clamp(low, high))}


def _first_kept(c: Context) -> Tensor:
    tops = block_peaks(c)
    return tops[..., :1].expand(tops.shape).clone()


def _first_stored_only() -> dict[str, Way]:
    """Each later block compares with the first one's maximum, and so does its factor."""

    def factors(c: Context) -> Context:
        first = c.tops[..., :1]
        shrinks = torch.cat([torch.zeros_like(first), torch.exp(first - c.tops[..., 1:])], dim=-1)
        return c.but(shrinks=shrinks, sum_shrinks=shrinks)

    return {**_tops(lambda c: torch.maximum(block_peaks(c), _first_kept(c))), "factors": factors}


STABILITY = (
    Form("softmax_no_max", _tops(lambda c: torch.zeros_like(block_peaks(c)))),
    Form("softmax_max_clamped", _starting_at(0.0)),
    Form(
        "softmax_max_clamped",
        _tops(lambda c: block_peaks(c, lambda block: block.abs().amax(-1)).cummax(-1).values),
        shows="the running maximum is that of absolute values",
    ),
    Form(
        "softmax_max_clamped",
        _starting_at(math.inf),
        shows="the running maximum starts so high that no score exceeds it, and every exponential is 0",
        sentence="A running maximum starts at -inf, below everything; yours starts above everything,"
        " so it never moves.",
    ),
    *(
        Form(
            "online_finite_initial_max",
            _starting_at(start),
            shows=f"the running maximum starts at {start:g}, above the scores of some rows",
        )
        for start in (-50.0, -100.0, -20.0, -10.0, -200.0, -500.0, -88.0)
    ),
    Form("softmax_global_max", _over_axes(-1, -2, -3)),
    Form(
        "softmax_global_max",
        _over_axes(-1),
        shows="all queries of a head share one running maximum",
    ),
    Form("softmax_global_max", _over_axes(-2), shows="all heads share one running maximum"),
    Form(
        "softmax_global_max",
        _over_axes(-1, -2),
        shows="all queries of a sample share one running maximum",
    ),
    Form(
        "online_max_not_carried",
        _tops(_first_kept),
        shows="the maximum of the first block is kept for all others",
    ),
    Form("online_max_not_carried", _tops(block_peaks)),
    Form(
        "online_max_not_carried",
        _first_stored_only(),
        shows="after the first block the new maximum is no longer stored",
    ),
    *(
        Form(
            "online_max_not_carried",
            _never_kept(start),
            shows="the new maximum is never stored, so each block begins with that of the start"
            " and what was summed before it is lost",
            sentence="You compute the new maximum and never keep it: the next block again compares with the"
            " start.",
            fix="End the loop's body with `running_max = new_max`.",
        )
        for start in (-math.inf, 0.0)
    ),
    Form(
        "softmax_wrong_shift",
        _tops(lambda c: block_peaks(c, lambda block: block.amin(-1)).cummin(-1).values),
        shows="a running minimum is taken away",
    ),
    Form(
        "softmax_wrong_shift",
        _tops(lambda c: block_peaks(c, lambda block: block.amax(-1)).cummin(-1).values),
        shows="what is carried is the smallest of the blocks' maxima",
    ),
    Form(
        "softmax_wrong_shift",
        _tops(lambda c: block_peaks(c, lambda block: block.mean(-1)).cummax(-1).values),
        shows="the mean of a block is taken for its maximum",
    ),
    *(
        Form("softmax_logits_clamped", _clipped(low, high))
        for low, high in ((-50.0, 50.0), (-80.0, 80.0), (-100.0, 100.0), (-20.0, 20.0), (-math.inf, 80.0))
    ),
)
