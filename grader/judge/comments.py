"""The candidate's shape comments, held against the shapes that the recorder saw on the same line.

`# (batch, seq_len, hidden_dim)`, `# [B, S, D]`, `# B x S x D` and the like. Only what both names and
numbers make clear is judged: a comment with words that nobody can place is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.protocol import TraceEntry
from grader.records import ShapeComment

# Each of these reads a character at most twice, whatever stands there.
BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
AXIS = re.compile(r"[A-Za-z0-9_.*·/ ]+")
ARROW = re.compile(r"->|=>|→|=")
WORD = re.compile(r"[A-Za-z]{2,}")
CROSSED = re.compile(r"\w+")
DEFINED = re.compile(r"\s*def\s+(\w{1,60})")
CALLED = re.compile(r"(\w{1,60})\(")
LONG_LINE = 400
MOST_AXES = 4
TWICE = frozenset({"S", "T"})  # axes of tokens: queries and keys have names of their own
LONGEST_AXIS = 40  # characters; nobody names one longer


def shape_comments(
    lines: Sequence[str],
    trace: Sequence[TraceEntry],
    sizes: Mapping[str, int],
    words: Mapping[str, frozenset[str]],
) -> tuple[ShapeComment, ...]:
    """The comments that can be judged. `sizes` are those of the traced call, `words` are what axes are
    called.
    """
    helpers = {defined.group(1) for line in lines if (defined := DEFINED.match(line))}
    last: dict[int, TraceEntry] = {entry.line: entry for entry in trace if entry.output is not None}
    found: list[ShapeComment] = []
    for line, entry in sorted(last.items()):
        if not 0 < line <= len(lines):
            continue
        code, mark, comment = lines[line - 1].partition("#")
        if any(called in helpers for called in CALLED.findall(code[:LONG_LINE])):
            continue  # what the line gives is made on a helper's lines
        claim = _claim(comment) if mark and code.strip() else None
        if claim is None or entry.output is None:
            continue
        actual = entry.output
        if entry.outputs > 1 and claim[0] == str(entry.outputs):  # what was unpacked, with all its parts
            actual = (entry.outputs, *actual)
        if len(claim) != len(actual) and _is_prose(comment):
            continue
        right = _agrees(claim, actual, sizes, words)
        if right is not None:
            found.append(
                ShapeComment(line=line, text=comment.strip()[:120], claimed=claim, actual=actual, right=right)
            )
    return tuple(found)


def _claim(comment: str) -> tuple[str, ...] | None:
    """The shape that a comment gives the result: left of `=`, else the last, as after an arrow."""
    shapes = [(found, axes) for found in BRACKETS.finditer(comment) if (axes := _axes(found.group(1)))]
    if not shapes:
        return _crossed(comment)
    first, axes = shapes[0]
    if not comment[: first.start()].strip() and comment[first.end() :].lstrip().startswith("="):
        return axes
    if "@" in comment and not ARROW.search(comment):
        return None  # the shapes of the factors
    return shapes[-1][1]


def _axes(inside: str) -> tuple[str, ...]:
    """The axes between two brackets; none where something else stands there."""
    parts = tuple(part.strip() for part in inside.strip().removesuffix(",").split(",", MOST_AXES))
    return parts if 1 < len(parts) <= MOST_AXES and all(map(_is_axis, parts)) else ()


def _is_axis(text: str) -> bool:
    return len(text) <= LONGEST_AXIS and AXIS.fullmatch(text) is not None


def _crossed(comment: str) -> tuple[str, ...] | None:
    """The last chain such as `B x S x D`, with whatever sign for the cross."""
    joined = " ".join(comment.replace("\u00d7", " x ").split()).replace(" x ", "x")
    chains = [tuple(word.split("x", MOST_AXES)) for word in CROSSED.findall(joined)]
    fitting = [
        chain
        for chain in chains
        if 1 < len(chain) <= MOST_AXES and chain[0][:1].isalpha() and all(map(_is_axis, chain))
    ]
    return fitting[-1] if fitting else None


def _is_prose(comment: str) -> bool:
    """Whether a shape is only mentioned, among other words."""
    outside = BRACKETS.sub(lambda found: "" if _axes(found.group(1)) else found.group(), comment)
    return len(WORD.findall(outside)) > 2


def _agrees(
    claim: Sequence[str],
    actual: tuple[int, ...],
    sizes: Mapping[str, int],
    words: Mapping[str, frozenset[str]],
) -> bool | None:
    """Whether every named axis has its size; None when a word means nothing known, or two mean the same axis.

    `(B, N, C)` has the batch in B, so N is something else. Only an axis of `words` that a tensor has twice,
    such as the tokens, may stand there twice, under two names.
    """
    for axis, known in words.items():
        if axis not in TWICE and len({word.lower() for word in claim} & known) > 1:
            return None
    values = [_values(word, sizes, words) for word in claim]
    if not all(values):
        return None
    return len(values) == len(actual) and all(
        size in meant for meant, size in zip(values, actual, strict=True)
    )


def _values(word: str, sizes: Mapping[str, int], words: Mapping[str, frozenset[str]]) -> frozenset[int]:
    """What `D`, `7`, `3D`, `3 * D` or `D*3` may be: `d` is the width to some, that of a head to others."""
    text = "".join(word.lower().split()).replace("·", "*")
    if text.isdigit():
        return frozenset({int(text)})
    name = text.strip("0123456789*")
    if not name:
        return frozenset()
    before, _, after = text.partition(name)
    factor = before.removesuffix("*") or after.removeprefix("*")
    if (before and after) or (after and not after.startswith("*")) or not (factor.isdigit() or factor == ""):
        return frozenset()
    return frozenset(
        int(factor or 1) * sizes[axis] for axis, names in words.items() if name in names and axis in sizes
    )
