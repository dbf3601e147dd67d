"""The candidate's shape comments, held against the shapes that the recorder saw on the same line.

`# (batch, seq_len, hidden_dim)`, `# [B, S, D]`, `# B x S x D` and the like. Only what both names and
numbers make clear is judged: a comment with words that nobody can place is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.protocol import TraceEntry
from grader.records import ShapeComment

SHAPE = re.compile(r"[(\[]\s*([A-Za-z0-9_.*·/ ]+(?:,\s*[A-Za-z0-9_.*·/ ]+){1,3})\s*,?\s*[)\]]")
ARROW = re.compile(r"->|=>|→|=")
WORD = re.compile(r"[A-Za-z]{2,}")
CROSS = r"\s*[x\u00d7]\s*"
CROSSED = re.compile(rf"\b([A-Za-z]\w*(?:{CROSS}[A-Za-z0-9]\w*){{1,3}})\b")
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
    shapes = SHAPE.findall(comment)
    if shapes:
        equation = re.match(rf"\s*{SHAPE.pattern}\s*=", comment)
        if equation is None and "@" in comment and not ARROW.search(comment):
            return None  # the shapes of the factors
        return tuple(part.strip() for part in (shapes[0] if equation else shapes[-1]).split(","))
    crossed = CROSSED.findall(comment)
    return tuple(re.split(CROSS, crossed[-1])) if crossed else None


def _is_prose(comment: str) -> bool:
    """Whether a shape is only mentioned, among other words."""
    return len(WORD.findall(SHAPE.sub("", comment))) > 2


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
    text = word.lower().replace(" ", "").replace("·", "*")
    factor = 1
    product = re.fullmatch(r"(\d+)\*?([a-z_]+)|([a-z_]+)\*(\d+)", text)
    if product:
        factor = int(product.group(1) or product.group(4))
        text = product.group(2) or product.group(3)
    if text.isdigit():
        return int(text)
    for names, axis in ((BATCH, "batch"), (SEQ, "seq_len"), (WIDTH, "hidden_dim")):
        if text in names:
            return factor * sizes[axis]
    return None
