"""The structure of gqa: fewer key-value heads than query heads, and each is read by a run of query heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from kata_content.common.single_head import KEY, OUTPUT, QUERY, SAMPLES, TOKENS, VALUE
from kata_content.heads import family as heads
from kata_content.heads.family import AXES, under_mask
from kata_content.heads.steps import MASKED

from grader.authoring import Context, Family, Packing, Probe, Renumbering, Reveal, Step

# Of the query heads two axes are known: the groups, and the places within one. `g u` are those of the output
# layer, which may take the heads in an order of its own: that is another numbering of its columns. Queries
# may not: their order says which key-value head they read.
KEYED = ("G", "d")
ORDERS = (
    "R G r g u d",
    "G g R r u d",
    "R d G r g u",
    "G g d R r u",
    "d g G R r u",
    "d R G r g u",
    "R G r u g d",
    "R G d r g u",
)


def share(c: Context) -> Context:
    """Query head h reads key-value head h // repeats: each of those stands there for its whole group."""
    return c.but(
        key=c.key.repeat_interleave(c.repeats, dim=-3), value=c.value.repeat_interleave(c.repeats, dim=-3)
    )


def sizes(
    batch: int, seq_len: int, width: int = 72, query_heads: int = 12, kv_heads: int = 3
) -> dict[str, int]:
    return {**heads.sizes(batch, seq_len, width, query_heads), "G": kv_heads}


def repeats(given: Mapping[str, int]) -> int:
    return given["H"] // given["G"]


PROJECT = replace(MASKED["project"], makes={"query": "B S D", "key": "B T F", "value": "B T F"})
SPLIT = replace(MASKED["split"], makes={"query": "B H S d", "key": "B G T d", "value": "B G T d"})
SHARE = Step(share, "groups", {"key": "B H T d", "value": "B H T d"})
PLAN = {
    step: run
    for name, own in MASKED.items()
    for step, run in (
        (("split", SPLIT), ("share", SHARE))
        if name == "split"
        else ((name, PROJECT if name == "project" else own),)
    )
}

KINDS = (("bool", torch.bool), ("int", torch.int64), ("float", torch.float32))
SHARED_MASK = under_mask("mask_ss", sizes(2, 5), "S S")

FAMILY = Family(
    plan=PLAN,
    standard=(
        Probe("base", sizes(2, 5), traced=True),
        Probe("two_groups", sizes(3, 7, 24, 6, 2)),
        Probe("one_group", sizes(2, 6, 20, 4, 1)),
        Probe("a_group_each", sizes(2, 5, 12, 4, 4)),
        Probe("one_sample", sizes(1, 4, 18, 6, 3)),
        Probe("one_token", sizes(2, 1), thin=True),  # whatever its score, it gets all the weight
        Probe("batch_is_heads", sizes(6, 3, 24, 6, 3)),
        Probe("batch_is_groups", sizes(3, 4)),
        under_mask("mask_bss_bool", sizes(2, 5), traced=True),
        *(
            under_mask(
                f"mask_{''.join(axes.split()).lower()}_{name}",
                sizes(2, 5),
                axes,
                dtype,
                traced=(axes, name) == ("B S S", "int"),
            )
            for axes in ("B S S", "B 1 S", "1 S S")
            for name, dtype in KINDS
            if (axes, name) != ("B S S", "bool")
        ),
        under_mask("mask_open_rows", sizes(2, 4, 30, 6, 3), open_rows=True),
        under_mask("mask_one_group", sizes(3, 4, 28, 4, 1), dtype=torch.int64),
        under_mask("mask_batch_is_groups", sizes(3, 4, 24, 6, 3)),
        under_mask("mask_batch_is_heads", sizes(6, 5, 24, 6, 2), dtype=torch.int64),
    ),
    further=(
        Probe("one_head", sizes(2, 5, 7, 1, 1)),
        Probe("heads_of_one", sizes(2, 5, 8, 8, 2)),
        Probe("square_of_the_groups", sizes(2, 5, 12, 4, 2)),
        Probe("long", sizes(1, 72, 12, 4, 2)),
        under_mask("mask_byte", sizes(3, 5), dtype=torch.uint8),
        under_mask("mask_short", sizes(2, 6, 20, 4, 2), dtype=torch.int32),
        under_mask("mask_open_sample", sizes(3, 4), dtype=torch.int64, open_samples=1),
        under_mask("mask_hides_nothing", sizes(2, 3), "B 1 S", open_samples=2),
    ),
    roles=(
        replace(QUERY, out=("G", "r", "d")),
        replace(KEY, out=KEYED),
        replace(VALUE, out=KEYED),
        replace(OUTPUT, into=("g", "u", "d")),
    ),
    packings=(
        Packing(("key", "value"), frozenset({"kv", "wkv"})),
        Packing(("query", "key", "value"), frozenset({"qkv", "wqkv", "inproj", "packed", "fused"})),
        Packing(("query", "key")),
    ),
    orders=ORDERS,
    renumberings=(*(Renumbering("d", by) for by in (0, 1, -1)), Renumbering("g u")),
    derived={
        "d": heads.head_dim,
        "r": repeats,
        "g": lambda given: given["G"],
        "u": repeats,
        "F": lambda given: given["G"] * heads.head_dim(given),
    },
    reveal=Reveal(
        tokens="x",
        value="value",
        last="output",
        stronger="query",
        deciding=frozenset({"mask", "normalise", "drop"}),
        after=frozenset({"mix", "join", "output"}),
        heads="H",
        width="d",
        dropout=Probe("dropout", sizes(8, 6)),
        dropout_masked=under_mask("dropout_masked", sizes(4, 6)),
    ),
    relations=(SAMPLES, TOKENS),
    words={
        **AXES,
        "G": frozenset(
            {"g", "groups", "num_kv_heads", "n_kv_heads", "kv_heads", "n_kv", "kv", "num_groups", "n_kv_head"}
        ),
        "r": frozenset({"r", "rep", "n_rep", "repeats", "group_size", "per_group", "q_per_kv"}),
    },
    formula="softmax(QKᵀ/√head_dim)V in each head, with the keys and values of its group",
)
