"""What can go wrong with what was summed so far: the factors, the new parts, the division."""

from __future__ import annotations

from collections.abc import Callable

import torch
from kata_content.blocks.steps import before, block_peaks, blocks, cuts, mixed, raised, summed
from torch import Tensor

from grader.authoring import Context, Form

Way = Callable[[Context], Context]
Parts = list[Tensor]


def _shrinking(
    acc: Callable[[Context], Tensor] | None, total: Callable[[Context], Tensor] | None
) -> dict[str, Way]:
    """Other factors for the mix and for the sum; None: the right ones."""

    def step(c: Context) -> Context:
        right = torch.exp(before(c.tops) - c.tops)
        return c.but(
            shrinks=right if acc is None else acc(c),
            sum_shrinks=right if total is None else total(c),
        )

    return {"factors": step}


def _first_apart(factors: Tensor) -> Tensor:
    """With the first block there is nothing to shrink."""
    return torch.cat([torch.zeros_like(factors[..., :1]), factors[..., 1:]], dim=-1)


def _one(c: Context) -> Tensor:
    return torch.ones_like(c.tops)


def _inverted(c: Context) -> Tensor:
    tops: Tensor = c.tops
    return torch.exp(tops - before(tops))


def _difference(c: Context) -> Tensor:
    tops: Tensor = c.tops
    return before(tops) - tops


def _squared(c: Context) -> Tensor:
    return torch.exp(2 * (before(c.tops) - c.tops))


def _by_block_peak(c: Context) -> Tensor:
    return torch.exp(before(c.tops) - block_peaks(c))


def _apart(rule: Callable[[Context], Tensor]) -> Callable[[Context], Tensor]:
    return lambda c: _first_apart(rule(c))


def _three(
    label: str, rule: Callable[[Context], Tensor], shows: str, *, entails: tuple[str, ...] = ()
) -> tuple[Form, ...]:
    """The wrong factor for both, for the mix alone and for the sum alone."""
    return tuple(
        Form(label, _shrinking(acc, total), shows=shows.format(which), entails=entails)
        for which, acc, total in (
            ("mix and sum", rule, rule),
            ("the mix", rule, None),
            ("the sum", None, rule),
        )
    )


def _new_parts(c: Context) -> Parts:
    return [block @ held for block, held in blocks(c)]


def _new_sums(c: Context) -> Parts:
    return [block.sum(-1) for block, _ in blocks(c)]


def _mixing(rule: Callable[[Context], Tensor]) -> Way:
    return lambda c: c.but(mixed=rule(c))


def _summing(rule: Callable[[Context], Tensor]) -> Way:
    return lambda c: c.but(sums=rule(c))


Rule = Callable[[Tensor, Tensor, Tensor, int], Tensor]  # old, factor, new, number of the block


def _carried(parts: Parts, factors: Tensor, rule: Rule, wide: bool) -> Parts:
    """What is there after each block."""
    total, after = torch.zeros_like(parts[0]), []
    for n, part in enumerate(parts):
        factor = factors[..., n : n + 1] if wide else factors[..., n]
        total = rule(total, factor, part, n)
        after.append(total)
    return after


def _by_rule(rule: Rule) -> tuple[Way, Way]:
    """The mix and the sum, each carried by this rule."""
    return (
        _mixing(lambda c: _carried(_new_parts(c), c.shrinks, rule, True)[-1]),
        _summing(lambda c: torch.stack(_carried(_new_sums(c), c.sum_shrinks, rule, False), dim=-1)),
    )


def _misplaced(rule: Rule, shows: str) -> tuple[Form, ...]:
    mix, sums = _by_rule(rule)
    return tuple(
        Form("online_rescale_wrong", steps, shows=shows.format(which))
        for which, steps in (
            ("mix and sum", {"mix": mix, "sums": sums}),
            ("the mix", {"mix": mix}),
            ("the sum", {"sums": sums}),
        )
    )


def _new_shrinks(old: Tensor, factor: Tensor, new: Tensor, _: int) -> Tensor:
    return old + new * factor


def _new_shrinks_later(old: Tensor, factor: Tensor, new: Tensor, n: int) -> Tensor:
    return old + (new * factor if n else new)


def _all_shrinks(old: Tensor, factor: Tensor, new: Tensor, _: int) -> Tensor:
    return (old + new) * factor


def _all_shrinks_later(old: Tensor, factor: Tensor, new: Tensor, n: int) -> Tensor:
    return (old + new) * factor if n else new


def _own_exponentials(c: Context) -> Tensor:
    """Those of each block relative to its own maximum."""
    return raised(c, block_peaks(c))


def _parts_of(c: Context, exponentials: Tensor) -> tuple[Parts, Parts]:
    own = c.but(powers=exponentials)
    return _new_parts(own), _new_sums(own)


# --- The division -----------------------------------------------------------------------------------------


def _divided_each_time(c: Context) -> Tensor:
    total: Tensor = torch.zeros_like(c.scaled[..., : c.held.shape[-1]])
    for n, part in enumerate(_new_parts(c)):
        total = (total * c.shrinks[..., n : n + 1] + part) / c.sums[..., n : n + 1]
    return total


def _new_part_divided(c: Context, by: Callable[[Context, int, Tensor], Tensor]) -> Tensor:
    parts = [block / by(c, n, block) @ held for n, (block, held) in enumerate(blocks(c))]
    return mixed(parts, c.shrinks)


def _running_sum(c: Context, n: int, _: Tensor) -> Tensor:
    sums: Tensor = c.sums
    return sums[..., n : n + 1]


def _own_sum(_: Context, __: int, block: Tensor) -> Tensor:
    return block.sum(-1, keepdim=True)


def _given(rule: Callable[[Context], Tensor]) -> Way:
    return lambda c: c.but(output=rule(c))


def _as_it_is(c: Context) -> Context:
    """What the mix gave is returned."""
    return c.but(output=c.mixed)


def _softmaxes(c: Context) -> Parts:
    """Each block's own attention."""
    return [torch.softmax(c.read[..., cut], -1) @ c.held[..., cut, :] for cut in cuts(c)]


def _logarithms(c: Context) -> Parts:
    return [c.read[..., cut].logsumexp(-1, keepdim=True) for cut in cuts(c)]


def _merged(join: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]) -> Callable[[Context], Tensor]:
    """Blocks merged by their log-sum-exps: `join` gives the two weights, and the log-sum-exp that is kept."""

    def rule(c: Context) -> Tensor:
        out, known = None, None
        for part, logs in zip(_softmaxes(c), _logarithms(c), strict=True):
            if out is None or known is None:
                out, known = part, logs
                continue
            old, new, known = join(known, logs)
            out = out * old + part * new
        assert out is not None
        return out

    return rule


def _exchanged(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    both = torch.logaddexp(old, new)
    return torch.exp(new - both), torch.exp(old - both), both


def _by_larger(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    both = torch.maximum(old, new)
    return torch.exp(old - both), torch.exp(new - both), both


def _by_sum_of_logarithms(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    both = old + new
    return torch.exp(old - both), torch.exp(new - both), both


def _forgotten(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    both = torch.logaddexp(old, new)
    return torch.exp(old - both), torch.exp(new - both), new


def _in_equal_parts(old: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    half = torch.full_like(old, 0.5)
    return half, half, old


def _long_parts(c: Context) -> Tensor:
    """Each block's attention by its share of the keys."""
    whole = c.read.shape[-1]
    shares = [(cut.stop - cut.start) / whole for cut in cuts(c)]
    return sum((part * share for part, share in zip(_softmaxes(c), shares, strict=True)), torch.zeros(()))


def _of_last_block(c: Context) -> Tensor:
    return _new_parts(c)[-1]


def _in_powers_of_two(c: Context) -> dict[str, Tensor]:
    shrinks = torch.exp2(before(c.tops) - c.tops)
    return {"shrinks": shrinks, "sum_shrinks": shrinks}


POWERS_OF_TWO: dict[str, Way] = {"powers": lambda c: c.but(powers=raised(c, c.tops, torch.exp2))}
FACTORS_OF_TWO: dict[str, Way] = {"factors": lambda c: c.but(**_in_powers_of_two(c))}
BLOCK_PEAKS: dict[str, Way] = {"powers": lambda c: c.but(powers=_own_exponentials(c))}

RESCALE = (
    Form("online_acc_not_rescaled", _shrinking(_one, None)),
    Form(
        "online_acc_not_rescaled",
        _shrinking(_one, _one),
        shows="neither the mix nor the sum of the blocks before is multiplied by exp(m_old - m_new)",
        sentence="When the maximum grows, all that was summed so far must shrink, and with you nothing does:"
        " the factor is missing, or always 1.",
        entails=("online_sum_not_rescaled",),
    ),
    Form("online_sum_not_rescaled", _shrinking(None, _one)),
    Form("online_rescale_inverted", _shrinking(_inverted, _inverted)),
    *_three(
        "online_rescale_inverted",
        _apart(_inverted),
        "{} of the blocks before are multiplied by exp(m_new - m_old)",
    ),
    Form("online_block_max_used", BLOCK_PEAKS),
    Form(
        "online_block_max_used",
        {"mix": _mixing(lambda c: mixed(_parts_of(c, _own_exponentials(c))[0], c.shrinks))},
        shows="the new part of the mix is relative to the block's maximum, all else to the running one",
    ),
    Form(
        "online_block_max_used",
        {"sums": _summing(lambda c: summed(_parts_of(c, _own_exponentials(c))[1], c.sum_shrinks))},
        shows="the new part of the sum is relative to the block's maximum, all else to the running one",
    ),
    Form(
        "online_block_max_used",
        _shrinking(_by_block_peak, _by_block_peak),
        shows="what was summed so far is multiplied by exp(m_old - m_block)",
    ),
    Form(
        "online_block_max_used",
        {**_shrinking(_by_block_peak, _by_block_peak), **BLOCK_PEAKS},
        shows="old part and new part are both relative to the block's maximum, and the running one is kept",
    ),
    *_misplaced(
        _new_shrinks, "in {}, the factor exp(m_old - m_new) falls on the new part instead of the old one"
    ),
    *_misplaced(
        _new_shrinks_later,
        "in {}, from the second block on, the factor falls on the new part instead of the old one",
    ),
    *_misplaced(
        _all_shrinks, "in {}, the factor exp(m_old - m_new) falls on the new part as well as on the old one"
    ),
    *_misplaced(
        _all_shrinks_later,
        "in {}, from the second block on, the factor falls on the new part as well as on the old one",
    ),
    Form(
        "online_rescale_wrong",
        _shrinking(_difference, _difference),
        shows="what was summed so far is multiplied by m_old - m_new, without exp",
    ),
    *_three(
        "online_rescale_wrong", _apart(_difference), "{} so far are multiplied by m_old - m_new, without exp"
    ),
    *_three("online_rescale_wrong", _squared, "{} so far are multiplied by the factor twice"),
    Form("online_division_in_loop", {"mix": _mixing(_divided_each_time), "divide": _as_it_is}),
    Form(
        "online_division_in_loop",
        {"mix": _mixing(_divided_each_time)},
        shows="the mix is divided by the running sum after every block, and at the end once more",
    ),
    Form(
        "online_division_in_loop",
        {"mix": _mixing(lambda c: _new_part_divided(c, _running_sum)), "divide": _as_it_is},
        shows="each block's exponentials are divided by the sum so far",
    ),
    Form(
        "online_division_in_loop",
        {"mix": _mixing(lambda c: _new_part_divided(c, _running_sum))},
        shows="each block's exponentials are divided by the sum so far, and the mix at the end once more",
    ),
    Form(
        "online_division_in_loop",
        {"mix": _mixing(lambda c: _new_part_divided(c, _own_sum)), "divide": _as_it_is},
        shows="each block's exponentials are divided by their own sum",
    ),
    Form(
        "online_division_in_loop",
        {"mix": _mixing(lambda c: _new_part_divided(c, _own_sum))},
        shows="each block's exponentials are divided by their own sum, and the mix at the end once more",
    ),
    Form("online_division_missing", {"divide": _as_it_is}),
    Form("online_sum_overwritten", {"sums": _summing(lambda c: torch.stack(_new_sums(c), -1))}),
    Form(
        "online_sum_overwritten",
        {"sums": _summing(lambda c: torch.stack(_new_sums(c), -1) * c.sum_shrinks)},
        shows="the sum is that of the last block alone, times the factor",
    ),
    Form(
        "online_rescale_wrong",
        {"sums": _summing(lambda c: summed([block.mean(-1) for block, _ in blocks(c)], c.sum_shrinks))},
        shows="the mean of a block's exponentials is added to the sum, instead of their sum",
        sentence="The running sum adds up exponentials; you add the mean of each block's.",
        fix="Write `weights.sum(dim=-1, keepdim=True)`.",
    ),
    Form(
        "online_rescale_inverted",
        {"powers": lambda c: c.but(powers=raised(c, c.tops, lambda apart: torch.exp(-apart)))},
        shows="the exponentials are those of m - s instead of s - m",
        sentence="You take exp(m - s), which is 1 or more and grows with the distance; it is exp(s - m).",
        fix="Write `weights = torch.exp(scores - new_max)`.",
    ),
    Form(
        "online_sum_overwritten",
        {"mix": _mixing(_of_last_block), "sums": _summing(lambda c: torch.stack(_new_sums(c), -1))},
        shows="mix and sum are those of the last block alone",
        sentence="Every block overwrites the sum and the mix, so only the last one is left: `=` for `+=`.",
    ),
    Form(
        "online_sum_overwritten",
        {"mix": _mixing(_of_last_block)},
        shows="the mix is that of the last block alone",
        sentence="Every block overwrites the mix, so only the last one's values are left: `=` for `+=`.",
    ),
    Form("online_merge_exchanged", {"divide": _given(_merged(_exchanged))}),
    Form(
        "online_rescale_wrong",
        {"divide": _given(_merged(_by_larger))},
        shows="two parts are merged relative to the larger log-sum-exp, so their weights do not sum to 1",
    ),
    Form(
        "online_rescale_wrong",
        {"divide": _given(_merged(_by_sum_of_logarithms))},
        shows="two log-sum-exps are merged by adding them",
    ),
    Form(
        "online_rescale_wrong",
        {"divide": _given(_merged(_forgotten))},
        shows="after a merge the log-sum-exp of the new block alone is kept",
    ),
    Form(
        "online_blocks_averaged",
        {"divide": _given(lambda c: torch.stack(_softmaxes(c)).mean(0))},
    ),
    Form(
        "online_blocks_averaged",
        {"divide": _given(lambda c: torch.stack(_softmaxes(c)).sum(0))},
        shows="each block has a softmax of its own, and the results are added up",
    ),
    Form(
        "online_blocks_averaged",
        {"divide": _given(_long_parts)},
        shows="each block has a softmax of its own, and the results are averaged by the number of keys",
    ),
    Form(
        "online_blocks_averaged",
        {"divide": _given(_merged(_in_equal_parts))},
        shows="each block has a softmax of its own, and each is averaged with all before it",
    ),
    Form("online_exp2_without_log2e", {**POWERS_OF_TWO, **FACTORS_OF_TWO}),
    Form(
        "online_exp2_without_log2e",
        POWERS_OF_TWO,
        shows="the exponentials are powers of 2, and the factors powers of e",
    ),
    Form(
        "online_exp2_without_log2e",
        FACTORS_OF_TWO,
        shows="the factors are powers of 2, and the exponentials powers of e",
    ),
    *(
        Form(
            "softmax_epsilon_added",
            {"divide": _given(lambda c, more=more: c.mixed / (c.sums[..., -1:] + more))},  # type: ignore[misc]
            shows=f"{more:g} is added to the sum, so the weights no longer sum to 1",
        )
        for more in (1.0, 0.1, 0.01, 1e-3)
    ),
)
