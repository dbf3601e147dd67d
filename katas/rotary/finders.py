"""Where the steps of a rotary embedding stand in an answer, and which mistake makes it raise."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from grader.authoring import Blame, Failure, Loaded, Mistake, TraceEntry

POWERS = frozenset(
    {"pow", "pow_", "float_power", "exp", "exp_", "exp2", "logspace", "reciprocal", "__rpow__", "__pow__"}
)
DIVISIONS = frozenset({"div", "__rtruediv__", "__rdiv__", "true_divide", "linspace"})
WAVES = frozenset({"cos", "sin", "cos_", "sin_", "polar", "exp", "sincos"})
PRODUCTS = frozenset({"mul", "__rmul__", "outer", "ger", "einsum", "matmul", "multiply", "bmm", "mul_"})
JOINS = frozenset({"cat", "stack", "concat", "concatenate", "hstack", "view_as_real", "flatten", "reshape"})
SPREADS = frozenset({"repeat_interleave", "repeat", "cat", "concat", "stack", "tile"})
NUMBER = re.compile(r"\b(?:1e4|10_?000|5e5|500_?000|1e6|1_?000_?000|1_?000|1e3|1e5|100_?000)(?:\.0?)?\b")
BROADCASTS = frozenset({"mul", "mul_", "add", "add_", "sub", "addcmul", "where", "copy_", "__setitem__"})


def _until_waves(blame: Blame) -> list[TraceEntry]:
    """The calls up to the first cosine or sine."""
    trace = list(blame.trace)
    waves = [place for place, entry in enumerate(trace) if entry.call in WAVES - {"exp"}]
    return trace[: waves[0]] if waves else trace


def _after_waves(blame: Blame) -> list[TraceEntry]:
    trace = list(blame.trace)
    waves = [place for place, entry in enumerate(trace) if entry.call in WAVES - {"exp"}]
    return trace[waves[-1] + 1 :] if waves else trace


def _last(entries: list[TraceEntry], calls: frozenset[str]) -> int | None:
    return next((entry.line for entry in reversed(entries) if entry.call in calls), None)


def frequencies(blame: Blame) -> int | None:
    """Where the base is raised to its powers."""
    before = _until_waves(blame)
    found = _last(before, POWERS) or _last(before, DIVISIONS) or _last(before, frozenset({"arange"}))
    return found or blame.source.find(r"\*\*|pow\(|exp\(") or blame.last()


def angles(blame: Blame) -> int | None:
    """Where positions meet frequencies."""
    return _last(_until_waves(blame), PRODUCTS) or frequencies(blame)


def waves(blame: Blame) -> int | None:
    """Where cosine and sine are taken."""
    return blame.call_line(WAVES) or angles(blame)


def counted_again(blame: Blame) -> int | None:
    """Where positions are made instead of taken: as many as there are tokens."""
    shapes = [entry.inputs[0] for entry in blame.trace if entry.inputs and len(entry.inputs[0]) == 4]
    lengths = {shape[2] for shape in shapes[:1]}
    made = (
        entry.line
        for entry in blame.trace
        if entry.call == "arange" and entry.output is not None and entry.output[0] in lengths
    )
    return next(made, None) or angles(blame)


def given_number(blame: Blame) -> int | None:
    """Where a number stands for the base, else the signature, else where the base is used."""
    used = frequencies(blame)
    if NUMBER.search(blame.source.code(used)):
        return used
    for line, text in enumerate(blame.source.lines, 1):
        code = text.partition("#")[0]
        if NUMBER.search(code) and "def apply_rope" not in code:
            return line
    return blame.source.find(r"def apply_rope\b") or used


def rotation(blame: Blame) -> int | None:
    """Where a feature is multiplied with a cosine or a sine: the helper that turns it, where there is one."""
    helper = blame.source.find(r"def \w{0,40}(rotate|half|turn)\w{0,40}\(")
    if helper is not None and blame.trace:
        inside = [
            entry.line for entry in blame.trace if entry.line > helper and entry.call in JOINS | {"neg"}
        ]
        if inside and min(inside) - helper < 8:
            return min(inside)
    after = [entry.line for entry in _after_waves(blame) if entry.call in PRODUCTS and _is_large(entry)]
    return after[0] if after else blame.last()


def combination(blame: Blame) -> int | None:
    """Where features and their partners are put together, whatever helper turned them."""
    after = [entry.line for entry in _after_waves(blame) if entry.call in PRODUCTS and _is_large(entry)]
    return after[0] if after else blame.last()


def _is_large(entry: TraceEntry) -> bool:
    return entry.output is not None and len(entry.output) >= 4


def spreading(blame: Blame) -> int | None:
    """Where the table gets a column for each feature, else where features become pairs."""
    return (
        _last(_until_waves(blame), SPREADS - {"stack"}) or _last(_after_waves(blame), JOINS) or blame.last()
    )


def joining(blame: Blame) -> int | None:
    """Where the pairs become features again."""
    large = [entry for entry in blame.trace if entry.call in JOINS and _is_large(entry)]
    return large[-1].line if large else blame.last()


def laying(blame: Blame) -> int | None:
    """Where the angles get their axes."""
    axes = frozenset({"unsqueeze", "view", "reshape", "__getitem__", "expand", "permute"})
    calls = [entry for entry in blame.trace if entry.call in axes and entry.output is not None]
    low = [entry.line for entry in calls if 3 <= len(entry.output or ()) <= 4 and _is_small(entry)]
    return low[-1] if low else angles(blame)


def _is_small(entry: TraceEntry) -> bool:
    """Whether an axis of size one was put in: heads are to share."""
    return 1 in (entry.output or ())[:-1]


def cast(blame: Blame) -> int | None:
    """Where the result gets its dtype, or fails to."""
    return blame.last()


KNOWN_LINES = tuple(
    Mistake(label, line=finder, elsewhere=elsewhere)
    for label, finder, elsewhere in (
        ("rope_single_frequency", angles, False),
        ("rope_exponent_wrong", frequencies, False),
        ("rope_base_ignored", given_number, False),
        ("rope_double_rotation", angles, False),
        ("rope_angle_factor", angles, False),
        ("rope_low_precision", angles, False),
        ("rope_positions_ignored", counted_again, False),
        ("rope_positions_assumed_consecutive", counted_again, False),
        ("rope_position_off_by_one", angles, False),
        ("rope_positions_over_heads", laying, False),
        ("rope_wrong_axis", laying, False),
        ("rope_direction_reversed", rotation, False),
        ("rope_rotation_wrong", rotation, False),
        ("rope_cos_sin_swapped", combination, False),
        ("rope_sequential_update", combination, False),
        ("rope_half_of_width", combination, False),
        ("rope_layout_mismatch", spreading, False),
        ("rope_not_reinterleaved", joining, False),
        ("rope_output_rank", joining, True),
        ("rope_dtype_changed", cast, True),
    )
)
OF_CONCEPT: Mapping[str, Callable[[Blame], int | None]] = {
    "angles": frequencies,
    "positions": angles,
    "pairing": spreading,
    "rotation": combination,
    "precision": angles,
}


def behind(failure: Failure, loaded: Loaded | None = None) -> str | None:
    """The label of a failure that comes of the angles' axes, or of a table that is too short."""
    del loaded
    text = failure.text
    if failure.type == "IndexError" and "out of" in text and "Dimension out of range" not in text:
        return "rope_table_too_short"
    last = failure.trace[-1] if failure.trace else None
    if last is None or not last.raised or last.call not in BROADCASTS or len(last.inputs) < 2:
        return None
    deepest = max(last.inputs, key=len)
    others = [shape for shape in last.inputs if shape is not deepest]
    if len(deepest) < 4:
        return None
    return next((label for shape in others if (label := _clash(deepest, shape)) is not None), None)


def _clash(x: tuple[int, ...], table: tuple[int, ...]) -> str | None:
    """What becomes of (batch, heads, seq_len, …) and angles whose axes do not line up."""
    _, heads, length = x[:3]
    if len(table) == 3 and table[1] == length and table[0] not in (1, heads):
        return "rope_positions_over_heads"
    lined_up = zip(reversed(x), reversed(table), strict=False)
    wrong = [place for place, (one, other) in enumerate(lined_up) if one != other and 1 not in (one, other)]
    return "rope_wrong_axis" if wrong and 0 not in wrong else None
