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
MOST_AXES = 4
LONGEST_AXIS = 40  # characters; nobody names one longer
BATCH = frozenset({"b", "batch", "bs", "batch_size", "bsz", "n", "n_batch"})
SEQ = frozenset(
    {
        "s",
        "t",
        "l",
        "seq",
        "seq_len",
        "seqlen",
        "seq_length",
        "len",
        "length",
        "time",
        "tokens",
        "sequence",
        "q_len",
        "k_len",
        "sequence_length",
    }
)
WIDTH = frozenset(
    {
        "d",
        "h",
        "c",
        "e",
        "dim",
        "hidden",
        "hidden_dim",
        "hidden_size",
        "embed_dim",
        "emb",
        "embed",
        "d_model",
        "dk",
        "d_k",
        "dv",
        "channels",
        "features",
        "model_dim",
    }
)


def shape_comments(
    lines: Sequence[str], trace: Sequence[TraceEntry], sizes: Mapping[str, int]
) -> tuple[ShapeComment, ...]:
    """The comments that can be judged. `sizes`: batch, seq_len and hidden_dim of the traced call."""
    last: dict[int, TraceEntry] = {entry.line: entry for entry in trace if entry.output is not None}
    found: list[ShapeComment] = []
    for line, entry in sorted(last.items()):
        if not 0 < line <= len(lines):
            continue
        code, mark, comment = lines[line - 1].partition("#")
        claim = _claim(comment) if mark and code.strip() else None
        if claim is None or entry.output is None:
            continue
        actual = entry.output
        if entry.outputs > 1 and claim[0] == str(entry.outputs):  # what was unpacked, with all its parts
            actual = (entry.outputs, *actual)
        if len(claim) != len(actual) and _is_prose(comment):
            continue
        right = _agrees(claim, actual, sizes)
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


def _agrees(claim: Sequence[str], actual: tuple[int, ...], sizes: Mapping[str, int]) -> bool | None:
    """Whether every named axis has its size; None when a word means nothing known, or two mean the same axis.

    `(B, N, C)` has the batch in B, so N is something else.
    """
    for kind in (BATCH, WIDTH):
        if len({word.lower() for word in claim} & kind) > 1:
            return None
    values = [_value(word, sizes) for word in claim]
    if any(value is None for value in values):
        return None
    return tuple(value for value in values if value is not None) == actual


def _value(word: str, sizes: Mapping[str, int]) -> int | None:
    """`D`, `7`, `3D`, `3 * D`, `D*3`."""
    text = "".join(word.lower().split()).replace("·", "*")
    if text.isdigit():
        return int(text)
    name = text.strip("0123456789*")
    if not name:
        return None
    before, _, after = text.partition(name)
    factor = before.removesuffix("*") or after.removeprefix("*")
    if (before and after) or (after and not after.startswith("*")) or not (factor.isdigit() or factor == ""):
        return None
    for names, axis in ((BATCH, "batch"), (SEQ, "seq_len"), (WIDTH, "hidden_dim")):
        if name in names:
            return int(factor or 1) * sizes[axis]
    return None
