"""Where the mistakes of online stand, and what speaks for one of two that give the same numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kata_content.common import known as common
from kata_content.common import lines
from kata_content.common.calls import PRODUCTS, SCALINGS

from grader.authoring import Blame, Failure, Layout, Loaded, Mistake, Sizes, TraceEntry

WIDTH = 10  # head_dim of the traced probe, in which nothing else has this size
EXPONENTIALS = frozenset({"exp", "exp_", "exp2", "exp2_", "expm1"})
SUMS = frozenset(
    {"add", "add_", "__iadd__", "__radd__", "addcmul", "addcmul_", "baddbmm", "addmm", "sub", "lerp"}
)
PEAKS = frozenset({"maximum", "max", "amax", "fmax", "cummax", "where", "logaddexp", "logsumexp", "clamp"})
MADE = frozenset(
    {
        "full",
        "full_like",
        "new_full",
        "zeros",
        "zeros_like",
        "new_zeros",
        "ones",
        "ones_like",
        "fill_",
        "empty",
    }
)
DIVISIONS = frozenset({"div", "div_", "true_divide", "__itruediv__", "__rtruediv__"})
HUGE = 1e30  # infinities among them
RUNNING = re.compile(r"maximum\(|\bf?max\([^,()]{1,60},\s{0,9}[a-zA-Z_]|\bwhere\(")
RETURN = re.compile(r"\s+return\b")
LOOP = r"^\s{0,80}(for|while)\b"


def of_rows(shape: tuple[int, ...] | None, trace: Sequence[TraceEntry]) -> bool:
    """Whether a tensor has one number for each query, with the axis of the keys gone or of size 1."""
    deepest = max((len(entry.output or ()) for entry in trace if entry.call in EXPONENTIALS), default=0)
    return shape is not None and (len(shape) == deepest - 1 or (len(shape) == deepest and shape[-1] == 1))


def is_mix(shape: tuple[int, ...] | None) -> bool:
    """Whether it has features, as the result has."""
    return shape is not None and shape[-1:] == (WIDTH,)


def _after_exponentials(trace: Sequence[TraceEntry]) -> Sequence[TraceEntry]:
    first = next((place for place, entry in enumerate(trace) if entry.call in EXPONENTIALS), len(trace))
    return trace[first:]


def _line(entries: Iterator[TraceEntry]) -> int | None:
    return next((entry.line for entry in entries), None)


def carried_mix(blame: Blame) -> int | None:
    """Where the new part is added to the mix, else where it is made."""
    found = [e.line for e in _after_exponentials(blame.trace) if e.call in SUMS and is_mix(e.output)]
    return found[0] if found else lines.mix(blame)


def carried_sum(blame: Blame) -> int | None:
    """Where the new part is added to the sum, else where it is made."""
    later = _after_exponentials(blame.trace)
    added = _line(e for e in later if e.call in SUMS - {"sub"} and of_rows(e.output, blame.trace))
    return added or _line(e for e in later if e.call == "sum") or carried_mix(blame)


def factor(blame: Blame) -> int | None:
    """Where the factor is made: an exponential, else a difference, of one number for each query."""
    for calls in (EXPONENTIALS, frozenset({"sub"})):
        found = _line(e for e in blame.trace if e.call in calls and of_rows(e.output, blame.trace))
        if found is not None:
            return found
    return carried_mix(blame)


def exponentials(blame: Blame) -> int | None:
    """Where a block's exponentials are made."""
    wide = (
        e for e in blame.trace if e.call in EXPONENTIALS | {"softmax"} and not of_rows(e.output, blame.trace)
    )
    return _line(wide) or blame.call_line(EXPONENTIALS) or blame.last()


def maximum(blame: Blame) -> int | None:
    """Where the running maximum is made."""
    return blame.call_line(frozenset({"maximum", "fmax"})) or blame.call_line(PEAKS) or exponentials(blame)


def start(blame: Blame) -> int | None:
    """Where the running maximum gets its first value."""
    made = (e for e in blame.trace if e.call in MADE and of_rows(e.output, blame.trace))
    return _line(made) or maximum(blame)


def mismatch(blame: Blame) -> int | None:
    """Where a block's maximum is used: where its exponentials are made, unless that has the running one."""
    line = exponentials(blame)
    made = (blame.source.definition_of(name, line or 0) for name in blame.source.names_on(line))
    running = any(RUNNING.search(blame.source.code(at)) for at in made if at is not None)
    return factor(blame) if running else line


def scaled_again(blame: Blame) -> int | None:
    """Where something is scaled."""
    return blame.call_line(SCALINGS) or lines.scale(blame)


def division(blame: Blame) -> int | None:
    """Where the mix is divided, else what is mixed."""
    later = [e for e in _after_exponentials(blame.trace) if e.call in DIVISIONS]
    return _line(e for e in later if is_mix(e.output)) or _line(iter(later)) or result(blame)


def last_division(blame: Blame) -> int | None:
    return blame.call_line(DIVISIONS, last=True) or result(blame)


def result(blame: Blame) -> int | None:
    """The last `return` of the file."""
    numbers = range(len(blame.source.lines), 0, -1)
    return next((n for n in numbers if RETURN.match(blame.source.code(n))), blame.last())


def loop(blame: Blame) -> int | None:
    """Where the blocks begin and end: the loop, else the first cut."""
    return blame.source.find(LOOP) or blame.call_line(frozenset({"split", "chunk", "__getitem__", "narrow"}))


def count(blame: Blame) -> int | None:
    """Where blocks are counted by a whole division, else the loop."""
    return blame.source.find(r"//") or loop(blame)


def key_length(blame: Blame) -> int | None:
    """Where the number of keys is taken from something else, else the loop that counts to it."""
    at = loop(blame)
    queries = blame.arguments[0] if blame.arguments and blame.arguments[0].isidentifier() else "query"
    for name in blame.source.names_on(at):
        made = blame.source.definition_of(name, at or 0)
        if made is not None and re.search(rf"\b{re.escape(queries)}\b|shape|size\(", blame.source.code(made)):
            return made
    return at


def values_cut(blame: Blame) -> int | None:
    """Where the values of a block are taken."""
    names = blame.arguments
    if len(names) < 3 or not names[2].isidentifier():
        return loop(blame)
    return blame.source.find(
        rf"\b{re.escape(names[2])}\b\s{{0,3}}(\[|\.(split|chunk|narrow|index_select|flip))"
    ) or loop(blame)


def padding(blame: Blame) -> int | None:
    """Where something is put behind the keys."""
    return blame.call_line(frozenset({"pad", "_pad", "constant_pad_nd"})) or blame.source.find(
        r"\bpad\w{0,20}\(|\bcat\(|new_zeros|zeros\("
    )


def scores(blame: Blame) -> int | None:
    return blame.call_line(PRODUCTS)


def changed(blame: Blame) -> int | None:
    """Where an argument is changed in place."""
    found = (blame.source.changes_in_place(name) for name in blame.arguments)
    return next((line for line in found if line is not None), blame.in_place())


def _by_the_width(sizes: Sizes) -> str:
    width = sizes["d"]
    return f"(here {width} instead of √{width} = {math.sqrt(width):.3g})"


def _root_missing(sizes: Sizes) -> str:
    width = sizes["d"]
    return f"(here √{width} = {math.sqrt(width):.3g} is missing)"


def _is_carried(trace: Sequence[TraceEntry]) -> bool:
    """Whether a part is added to what was there before."""
    return any(entry.call in SUMS and is_mix(entry.output) for entry in _after_exponentials(trace))


def _starts(trace: Sequence[TraceEntry]) -> list[float]:
    """The numbers of which tensors are made."""
    return [number for entry in trace if entry.call in MADE for number in entry.numbers.values()]


def _starts_high(trace: Sequence[TraceEntry]) -> bool:
    return any(number > HUGE for number in _starts(trace))


def _starts_low(trace: Sequence[TraceEntry]) -> bool:
    return any(-HUGE < number < 0 for number in _starts(trace))


def _overwritten(trace: Sequence[TraceEntry], _: Layout) -> int:
    return -1 if _is_carried(trace) else 1


def _not_stored(trace: Sequence[TraceEntry], _: Layout) -> int:
    return 1 if _is_carried(trace) else -1


def _clamped(trace: Sequence[TraceEntry], _: Layout) -> int:
    return -1 if _starts_low(trace) else int(_starts_high(trace))


def _low(trace: Sequence[TraceEntry], _: Layout) -> int:
    return 1 if _starts_low(trace) else -1


def _has_a_factor(trace: Sequence[TraceEntry], _: Layout) -> int:
    made = any(entry.call in EXPONENTIALS and of_rows(entry.output, trace) for entry in trace)
    return 1 if made and not _starts_high(trace) else -1


MISTAKES = (
    Mistake("online_acc_not_rescaled", line=carried_mix),
    Mistake("online_sum_not_rescaled", line=carried_sum),
    Mistake("online_rescale_inverted", line=factor, speaks=_has_a_factor),
    Mistake("online_rescale_wrong", line=factor),
    Mistake("online_block_max_used", line=mismatch),
    Mistake("online_max_not_carried", line=maximum, speaks=_not_stored),
    Mistake("online_finite_initial_max", line=start, speaks=_low),
    Mistake("softmax_max_clamped", line=start, speaks=_clamped),
    Mistake("softmax_no_max", line=exponentials),
    Mistake("softmax_global_max", line=maximum),
    Mistake("online_division_in_loop", line=division),
    Mistake("online_division_missing", line=result),
    Mistake("online_sum_overwritten", line=carried_sum, speaks=_overwritten),
    Mistake("online_merge_exchanged", line=carried_mix),
    Mistake("online_blocks_averaged", line=result),
    Mistake("online_exp2_without_log2e", line=lambda blame: blame.call_line(frozenset({"exp2", "exp2_"}))),
    Mistake("online_tail_dropped", line=count),
    Mistake("online_tail_counted_twice", line=loop),
    Mistake("online_block_skipped", line=loop),
    Mistake("online_padding_attended", line=padding),
    Mistake("online_block_misaligned", line=values_cut),
    Mistake("online_key_length_from_query", line=key_length),
    Mistake("softmax_epsilon_added", line=last_division),
    Mistake("scale_by_dk", adds=_by_the_width),
    Mistake("no_scale", line=scores, adds=_root_missing),
    Mistake("double_scale", line=scaled_again),
    Mistake("mutates_input", line=changed, elsewhere=True),
)

Finder = Callable[[Blame], int | None]
OF_CONCEPT: dict[str, Finder] = {
    **common.OF_CONCEPT,
    "blocks": loop,
    "stability": maximum,
    "rescale": factor,
    "memory": scores,
}


def empty_block(failure: Failure, _: Loaded | None) -> str | None:
    """A reduction of a block that holds no keys."""
    marks = ("Expected reduction dim", "zero numel", "no identity", "non-zero size for reduction")
    return "online_empty_block_crash" if any(mark in failure.text for mark in marks) else None


KNOWN = replace(
    common.KNOWN,
    mistakes=(*MISTAKES, *common.KNOWN.mistakes),
    crashes=(empty_block, *common.KNOWN.crashes),
    of_concept=OF_CONCEPT,
)
