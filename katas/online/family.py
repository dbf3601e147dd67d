"""The structure of online: probes whose scores rise, fall and jump from block to block."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from kata_content.blocks.known import WIDTH
from kata_content.blocks.steps import PLAN
from kata_content.common.calls import NORMALISERS
from torch import Tensor

from grader.authoring import Asked, Candidate, Family, Probe, Remark, Reveal, trace_of

FAR = 700.0  # below 0: exp of it is 0 even where a maximum starts at -500
ABOVE = 720.0  # exp overflows in float64 too
APART = 200.0  # between blocks


def sizes(batch: int, heads: int, queries: int, keys: int, width: int) -> Mapping[str, int]:
    return {"B": batch, "H": heads, "S": queries, "T": keys, "d": width}


def plain(name: str, block: int, at: Mapping[str, int], **more: object) -> Probe:
    return Probe(name, at, numbers={"block_size": block}, **more)  # type: ignore[arg-type]


# Logits far from 0 must be exact whatever the order of the products: entries are multiples of ¼, the width is
# 4, and the first feature alone says where a score lies. Values are positive, so rounding stays relative.
LIFT = 8.0


def _lifting(rows: Sequence[float]) -> Callable[[Tensor], Tensor]:
    """Queries whose scores take what the keys say so many times, in turn."""

    def change(query: Tensor) -> Tensor:
        made = (query * 4).round() / 4
        count = made[..., 0].numel()
        made[..., 0] = LIFT * torch.tensor(rows).repeat(count)[:count].reshape(made.shape[:-1])
        return made

    return change


def _lifted(offsets: Sequence[float], each: int) -> Callable[[Tensor], Tensor]:
    """Keys whose scores lie at these places, `each` keys at one of them, in turn."""

    def change(key: Tensor) -> Tensor:
        made = (key * 4).round() / 4
        places = torch.tensor(offsets).repeat_interleave(each).repeat(made.shape[-2])[: made.shape[-2]]
        made[..., 0] = places * math.sqrt(made.shape[-1]) / LIFT
        return made

    return change


def _positive(value: Tensor) -> Tensor:
    return value.abs() + 0.5


def far(
    name: str,
    offsets: Sequence[float],
    *,
    rows: Sequence[float] = (1.0,),
    block: int = 3,
    each: int = 0,
    keys: int = 10,
    dtypes: Mapping[str, torch.dtype] | None = None,
) -> Probe:
    """Scores around `offsets`, those of each block (or of `each` keys) in turn, times that of the row."""
    return plain(
        name,
        block,
        sizes(2, 2, 3, keys, 4),
        stage=1,
        change={
            "query": _lifting(rows),
            "key": _lifted(offsets, each or block),
            "value": _positive,
        },
        dtypes=dtypes or {},
    )


DOUBLE = dict.fromkeys(("query", "key", "value"), torch.float64)

STANDARD = (
    plain("base", 3, sizes(4, 2, 5, 8, WIDTH), traced=True),
    plain("whole_blocks", 2, sizes(3, 2, 4, 6, 5)),
    plain("more_queries", 4, sizes(1, 2, 9, 5, 6)),
    plain("as_many", 4, sizes(2, 1, 6, 6, 3)),
    plain("one_block", 16, sizes(2, 2, 4, 7, 3)),
    plain("exact_block", 5, sizes(1, 3, 4, 5, 2)),
    plain("single_keys", 1, sizes(2, 1, 3, 4, 5)),
    plain("one_query", 2, sizes(3, 2, 1, 5, 4)),
    plain("double", 3, sizes(2, 2, 4, 8, 3), dtypes=DOUBLE),
    far("far_below", (-FAR,), block=6),
    far("below", (-110.0,), block=6),
    far("far_above", (ABOVE,), block=6),
    far("rising", (-APART, 0.0, APART, 2 * APART)),
    far("falling", (2 * APART, APART, 0.0, -APART)),
    far("jumping", (0.0, APART, -APART, APART), rows=(1.0, -1.0, 0.0)),
    far("jumping_within_blocks", (0.0, -APART, APART), rows=(1.0, -1.0), each=2, keys=11, block=4),
    far("rows_apart", (2 * APART,), rows=(1.0, 0.0, -1.0, 0.5), block=4),
    far("far_below_double", (-1000.0, -900.0), block=4, dtypes=DOUBLE),
)

# One sample and one head, long against the width, blocks short against the keys: so the scores of all are by
# far the largest thing that can be made, and what a block needs is far smaller.
LONG = plain("memory", 11, sizes(1, 1, 48, 60, 4))


def measured(candidate: Candidate) -> Asked:
    """A long call of one sample and one head, with every operation recorded."""
    return candidate.ask(candidate.rig(), candidate.draw(LONG), trace=True, dispatch=True, below=True)


def whole_rows(candidate: Candidate) -> Remark | None:
    """Queries in blocks, each with all of its scores at once: allowed, and nothing is online about it."""
    entries = trace_of([candidate.once(measured).seen])
    keys = LONG.sizes["T"]
    rows = (e for e in entries if e.call in NORMALISERS and e.inputs and e.inputs[0][-1:] == (keys,))
    found = next(rows, None)
    if found is None:
        return None
    return Remark(
        id="whole_rows",
        text="A block of queries sees all of its keys at once here, so its softmax has nothing to carry: that"
        " is exact and saves the memory too. One query against a very long cache is what the running maximum"
        " is for.",
        line=found.line,
    )


FAMILY = Family(
    plan=PLAN,
    standard=STANDARD,
    further=(
        plain("one_key", 4, sizes(2, 2, 3, 1, 4)),
        plain("long", 7, sizes(1, 1, 20, 50, 6)),
        plain("whole_blocks_of_queries", 4, sizes(2, 3, 8, 12, 16)),
        far("rising_double", (-APART, 0.0, 900.0), block=5, dtypes=DOUBLE),
    ),
    reveal=Reveal(
        tokens="value",
        logits="scores",
        deciding=frozenset({"read", "peaks", "factors", "powers", "sums", "mix", "divide"}),
        heads="H",
        width="d",
    ),
    remarks=(whole_rows,),
    words={
        "B": frozenset({"b", "batch"}),
        "H": frozenset({"h", "heads", "num_heads"}),
        "S": frozenset({"s", "q_len", "query_len", "seq_len", "lq"}),
        "T": frozenset({"t", "k_len", "kv_len", "key_len", "lk"}),
        "d": frozenset({"d", "head_dim", "dk"}),
    },
    formula="softmax(QKᵀ/√head_dim)V",
)
