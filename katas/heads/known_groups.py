"""What is known of the mistakes of grouped heads besides their forms and words: lines, and how they crash."""

from __future__ import annotations

import re

from kata_content.common import lines
from kata_content.common.calls import PRODUCTS, SPLITS

from grader.authoring import Blame, Failure, Loaded, Mistake, TraceEntry

COPIES = frozenset({"repeat_interleave", "repeat", "expand", "tile", "expand_as", "broadcast_to"})
CHOICES = frozenset({"__getitem__", "index_select", "gather", "stack", "cat"})
VIEWS = frozenset({"view", "reshape", "unflatten"})


def shares(blame: Blame) -> int | None:
    """Where keys or values are copied for the query heads, else where they are chosen, else the scores."""
    trace = blame.unmasked or blame.trace
    for calls in (COPIES, CHOICES):
        own = (entry.line for entry in trace if entry.call in calls and len(entry.output or ()) >= 4)
        found = next(own, None)
        if found is not None:
            return found
    return lines.scores(blame)


def turns(blame: Blame) -> int | None:
    """Where the heads are copied as a whole, which puts them in turns."""
    whole = frozenset({"repeat", "tile", "cat", "concat"})
    return blame.call_line(whole) or shares(blame)


def reductions(blame: Blame) -> int | None:
    return blame.call_line(frozenset({"mean", "sum"})) or shares(blame)


def joins(blame: Blame) -> int | None:
    """Where positions and places in a group become one axis."""
    return blame.call_line(frozenset({"reshape", "flatten"})) or blame.call_line(VIEWS) or shares(blame)


def group_numbers(blame: Blame) -> int | None:
    return (
        blame.source.find_in_forward(r"//")
        or blame.source.find(r"//[^\n]{0,40}(?:kv|group|g\b)")
        or shares(blame)
    )


def key_layer(blame: Blame) -> int | None:
    return blame.source.find(
        r"(?:k|key|kv|qkv|proj)\w{0,12}\s{0,9}=\s{0,9}nn\.(?:Linear|Parameter)"
    ) or blame.source.find(r"nn\.(?:Linear|Parameter)")


def thirds(blame: Blame) -> int | None:
    return blame.call_line(SPLITS) or key_layer(blame)


MISTAKES = (
    Mistake("gqa_repeat_order", line=turns),
    Mistake("gqa_all_heads_read_head_0", line=shares),
    Mistake("gqa_wrong_group_divisor", line=group_numbers),
    Mistake("gqa_queries_averaged", line=reductions),
    Mistake("gqa_group_axis_scrambled", line=joins),
    Mistake("gqa_repeat_wrong_dim", line=shares, elsewhere=True),
    Mistake("gqa_values_not_repeated", line=lines.mix),
    Mistake("gqa_groups_and_repeats_exchanged", line=shares),
    Mistake("gqa_projection_too_wide", line=key_layer),
    Mistake("gqa_kv_heads_ignored", line=key_layer),
    Mistake("gqa_equal_thirds", line=thirds, elsewhere=True),
)


def of_groups(failure: Failure, _: Loaded | None) -> str | None:
    """The mistake behind a crash of heads that do not meet, of a number out of range, of a cut in thirds."""
    trace = failure.trace
    if _in_thirds(failure):
        return "gqa_equal_thirds"
    if failure.type in ("IndexError", "RuntimeError") and re.search(
        r"index[ \d]{0,9}(?:is )?out of|out of DATA bounds", failure.text
    ):
        return "gqa_wrong_group_divisor"
    last = trace[-1] if trace else None
    if last is None or not last.raised or last.call not in PRODUCTS or len(last.inputs) != 2:
        return None
    met = _heads_that_met(last)
    if met is None:
        return None
    asking, asked = met
    copies = [entry for entry in trace if entry.call in COPIES and entry.inputs and entry.output]
    if any(_widens(entry, asked) for entry in copies):
        return "gqa_groups_and_repeats_exchanged"
    changed = [_copied(entry) for entry in copies]
    if any(heads and asked not in (*heads, *heads.values()) for heads in changed):
        return "gqa_repeat_wrong_dim"
    if any(asked in heads.values() for heads in changed):
        return "gqa_groups_and_repeats_exchanged"
    return "gqa_values_not_repeated" if asked < asking else "gqa_groups_and_repeats_exchanged"


def _in_thirds(failure: Failure) -> bool:
    """Whether features were cut into three equal parts, by a split or by a view."""
    for entry in failure.trace:
        if entry.call in SPLITS and entry.outputs == 3 and entry.inputs and entry.output:
            whole, part = entry.inputs[0][-1:], entry.output[-1:]
            if whole and part and part != whole and -(-whole[0] // 3) == part[0]:
                return True
    last = failure.trace[-1] if failure.trace else None
    shape = re.search(r"\[([\d, -]{1,80})\]", failure.text)
    if last is None or not last.raised or last.call not in VIEWS or shape is None:
        return False
    sizes = [int(size) for size in shape.group(1).split(",") if size.strip().lstrip("-").isdigit()]
    return 3 in (sizes if last.call == "unflatten" else sizes[2:]) and len(sizes) >= 3


def _heads_that_met(product: TraceEntry) -> tuple[int, int] | None:
    """How many heads the two sides of a product that raised have, where they do not agree."""
    one, other = product.inputs
    if len(one) != len(other) or len(one) < 4:
        return None
    places = range(1, 3) if product.call == "einsum" else range(1, len(one) - 2)
    apart = [(one[place], other[place]) for place in places if one[place] != other[place]]
    return apart[0] if len(apart) == 1 and 1 not in apart[0] else None


def _copied(entry: TraceEntry) -> dict[int, int]:
    """How many a copy had along each axis that it changed, a new one aside, and how many it made of them."""
    before, after = entry.inputs[0], entry.output or ()
    if len(before) != len(after) or len(before) < 4:
        return {}
    return {old: new for old, new in zip(before, after, strict=True) if old not in (1, new)}


def _widens(entry: TraceEntry, asked: int) -> bool:
    """Whether a copy along a new axis made so many heads of those that there were."""
    before, after = entry.inputs[0], entry.output or ()
    times = [new for old, new in zip(before, after, strict=False) if old == 1 < new]
    return len(before) == len(after) > 4 and any(size * times[0] == asked for size in before if times)
