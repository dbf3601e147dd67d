"""Where a cache is read, joined and masked in an answer, and which mistake of it makes it raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kata_content.common import lines
from kata_content.common.calls import MASKINGS, NORMALISERS, PRODUCTS

from grader.authoring import Blame, Failure, Loaded, Mistake, TraceEntry

JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack"})
WRITES = frozenset({"__setitem__", "copy_", "index_copy_", "slice_scatter", "scatter_", "index_put_"})
TRIANGLES = frozenset({"tril", "triu", "tril_", "triu_", "le", "gt", "ge", "lt", "arange"})
BROADCASTS = MASKINGS | {"add", "add_", "where", "sub", "__setitem__", "mul", "logical_and"}
MANY = 90  # rows of which most are old, in the call whose work is measured


def joining(blame: Blame) -> int | None:
    """Where old and new tokens come together, else where the cache is read, else the result."""
    for calls in (JOINS, WRITES):
        found = [entry.line for entry in blame.turned if entry.call in calls]
        if found:
            return found[0]
    return blame.source.find_in_forward(r"\b(cache|past|state|store)\w{0,20}") or returned(blame)


def writing(blame: Blame) -> int | None:
    """Where new tokens are written into a buffer."""
    found = [entry.line for entry in blame.turned if entry.call in WRITES]
    return found[0] if found else joining(blame)


def returned(blame: Blame) -> int | None:
    """What is handed on."""
    return blame.source.last_return() or blame.last()


def masking(blame: Blame) -> int | None:
    """Where the triangle is made, else where it is used, in a call with a cache."""
    for trace in (blame.turned, blame.unmasked):
        made = [entry.line for entry in trace if entry.call in TRIANGLES - {"arange"}]
        used = [entry.line for entry in trace if entry.call in BROADCASTS and _is_of_scores(entry)]
        if made or used:
            return (made or used)[0]
    return lines.softmax(blame)


def _is_of_scores(entry: TraceEntry) -> bool:
    return entry.output is not None and len(entry.output) == 4


def old_projected(trace: Sequence[TraceEntry]) -> int | None:
    """Where a late step of one token works on the old ones: a product of a parameter with most of them."""
    for entry in trace:
        wide = any(max(shape[:-1], default=0) >= MANY for shape in entry.inputs[:1])
        if entry.call in PRODUCTS | {"linear"} and entry.parameters and wide:
            return entry.line
    return None


def kept_on_the_side(blame: Blame) -> int | None:
    """Where something is kept that is not handed on."""
    found = blame.source.find_in_forward(
        r"(self|cls|type\(self\)|[A-Z]\w{1,60})\.\w{1,60}(\[[^\]]{0,40}\])?\s{0,3}(=[^=]|\.(append|update|clear)\()"
    )
    return found or joining(blame)


KNOWN_LINES = tuple(
    Mistake(label, line=finder, elsewhere=elsewhere, covered_by=covered)
    for label, finder, elsewhere, covered in (
        ("kv_cache_not_used", joining, False, ()),
        ("kv_cache_not_returned", returned, True, ()),
        ("kv_only_last_step_kept", returned, False, ()),
        ("kv_cache_not_updated", returned, False, ()),
        ("kv_cache_order", joining, False, ()),
        ("kv_cache_wrong_axis", joining, True, ()),
        ("kv_new_tokens_missing", joining, False, ()),
        ("kv_new_tokens_twice", joining, False, ()),
        ("kv_wrong_write_index", writing, False, ()),
        ("kv_old_tokens_evicted", joining, True, ()),
        ("kv_empty_tail_attended", masking, False, ()),
        ("kv_capacity_as_length", masking, False, ()),
        ("kv_cache_shared", kept_on_the_side, True, ()),
        (
            "kv_cache_not_cleared",
            kept_on_the_side,
            True,
            ("kv_cache_shared",),
        ),
        ("kv_first_sample_only", joining, False, ()),
        ("kv_values_not_cached", joining, False, ()),
        ("kv_keys_not_cached", joining, False, ()),
        ("kv_keys_values_exchanged", joining, False, ()),
        ("kv_keys_scaled_again", joining, False, ()),
        ("kv_prefill_unmasked", masking, False, ()),
        ("kv_mask_only_with_cache", masking, False, ()),
        ("kv_causal_alignment", masking, False, ()),
        ("kv_offset_counted_twice", masking, False, ()),
        ("kv_mask_ignores_prefix", masking, False, ()),
        ("kv_output_for_all_tokens", returned, True, ()),
        ("kv_only_last_output", returned, True, ()),
        ("causal_mask_missing", masking, False, ()),
        ("causal_off_by_one_hides_self", masking, False, ()),
        ("causal_off_by_one_leaks_next", masking, False, ()),
        ("causal_direction_inverted", masking, False, ()),
        ("mask_fill_zero", masking, False, ()),
        ("mask_fill_too_weak", masking, False, ()),
        ("mask_added_as_bool", masking, False, ()),
        ("mask_after_softmax_no_renorm", masking, False, ()),
    )
)
OF_CONCEPT: Mapping[str, Callable[[Blame], int | None]] = {
    "cache": joining,
    "mask": masking,
    "work": joining,
    "continuations": writing,
}


def behind(failure: Failure, loaded: Loaded | None = None) -> str | None:
    """The label of a failure in a call that goes on from a cache."""
    del loaded
    last = failure.trace[-1] if failure.trace else None
    if "Sizes of tensors must match except in dimension" in failure.text:
        return "kv_cache_wrong_axis"
    if last is None or not last.raised or len(last.inputs) < 2:
        return None
    one, other = last.inputs[:2]
    if last.call == "stack" and len(one) == len(other) >= 3 and one != other:
        shorter = sum(other) < sum(one)  # keys stand in front of values
        return "kv_values_not_cached" if shorter else "kv_keys_not_cached"
    if last.call in PRODUCTS and len(one) >= 3 and len(other) >= 3:
        return _in_a_product(failure, one, other)
    if last.call in BROADCASTS and len(one) == 4 and len(other) >= 2:
        new, total = one[-2:]
        if new != total and other[-2:] in ((new, new), (total, total)):
            return "kv_mask_ignores_prefix"
    return None


def _in_a_product(failure: Failure, one: tuple[int, ...], other: tuple[int, ...]) -> str | None:
    """Weights of some tokens meet the values of others: which of them were not kept?"""
    weights = any(entry.call in NORMALISERS for entry in failure.trace[:-1])
    if weights and one[-1] != other[-2] and one[:-2] == other[:-2]:
        return "kv_values_not_cached" if other[-2] < one[-1] else "kv_keys_not_cached"
    joined = any(entry.call in JOINS for entry in failure.trace)
    return "kv_cache_wrong_axis" if joined and one[:-2] != other[:-2] else None
