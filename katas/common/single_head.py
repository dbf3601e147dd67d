"""The family of single-head self-attention: layers, probes, what must hold of any answer."""

from __future__ import annotations

import torch
from kata_content.common.steps import FORMULA, MASKED, MASKED_WITH_OUTPUT
from torch import Tensor

from grader.authoring import Drawn, Family, MaskSpec, Packing, Plan, Probe, Relation, Reveal, Role

# No size equals 64, a seq_len or a batch; batches, lengths and widths differ from each other and are not all
# 1.
WIDTH = 16
OTHER_WIDTH = 6
THIRD_WIDTH = 10
ODD_WIDTH = 9


def words_of(role: str, short: str, *others: str) -> frozenset[str]:
    """Names that state a role: alone, or joined with what a layer is called."""
    nouns = {"proj", "layer", "linear", "net"}
    named = {f"{role}{noun}" for noun in nouns}
    if role != "output":
        named |= {f"{short}{noun}" for noun in (*nouns, "lin", "mat")}
    named |= {f"{noun}{short}" for noun in ("linear", "lin", "fc", "proj", "to", "mat", "dense")}
    return frozenset({role, short, *others, *named})


QUERY = Role(
    "query", words=words_of("query", "q", "queries", "wq", "qw", "bq", "qs", "qry"), conventional="query_proj"
)
KEY = Role("key", words=words_of("key", "k", "keys", "wk", "kw", "bk", "ks"), conventional="key_proj")
VALUE = Role(
    "value", words=words_of("value", "v", "values", "val", "wv", "vw", "bv", "vs"), conventional="value_proj"
)
OUTPUT = Role(
    "output",
    words=words_of("output", "o", "out", "wo", "ow", "bo", "outputs"),
    optional=True,
    conventional="output_proj",
)
ROLES = (QUERY, KEY, VALUE, OUTPUT)
PACKINGS = (
    Packing(("query", "key", "value"), frozenset({"qkv", "wqkv", "inproj", "packed", "fused"})),
    Packing(("query", "key", "value", "output")),
    Packing(("key", "value"), frozenset({"kv", "wkv"})),
    Packing(("query", "key")),
    Packing(("query", "value")),
)

# How candidates call an axis in their comments.
WORDS = {
    "B": frozenset({"b", "batch", "bs", "batch_size", "bsz", "n", "n_batch"}),
    "S": frozenset(
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
    ),
    "D": frozenset(
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
    ),
}


def sizes(batch: int, seq_len: int, width: int = WIDTH) -> dict[str, int]:
    return {"B": batch, "S": seq_len, "D": width}


def under_mask(
    name: str,
    batch: int,
    seq_len: int,
    width: int = WIDTH,
    axes: str = "B S S",
    dtype: torch.dtype = torch.bool,
    *,
    traced: bool = False,
    open_rows: bool = False,
    open_samples: int = 0,
) -> Probe:
    """A probe with a mask."""
    spec = MaskSpec(axes, dtype, open_rows=open_rows, open_samples=open_samples)
    return Probe(name, sizes(batch, seq_len, width), spec, stage=1, traced=traced)


UNMASKED = (
    Probe("base", sizes(3, 5), traced=True),
    Probe("longer_than_wide", sizes(2, 7, OTHER_WIDTH)),
    Probe("one_sample", sizes(1, 4, THIRD_WIDTH)),
    Probe("one_token", sizes(2, 1), thin=True),  # whatever its score, it gets all the weight
    Probe("six_tokens", sizes(4, 6)),
)

MASKED_PROBES = (
    under_mask("mask_bss_bool", 3, 5, traced=True),
    *(
        under_mask(
            f"mask_{''.join(axes.split()).lower()}_{name}",
            3,
            5,
            axes=axes,
            dtype=dtype,
            traced=(axes, name) == ("B S S", "int"),
        )
        for axes in ("B S S", "B 1 S", "1 S S", "S S")
        for name, dtype in (("bool", torch.bool), ("int", torch.int64), ("float", torch.float32))
        if (axes, name) != ("B S S", "bool")
    ),
    under_mask("mask_open_rows", 2, 4, THIRD_WIDTH, open_rows=True),
    under_mask("mask_longer_than_wide", 2, 7, OTHER_WIDTH, dtype=torch.int64),
)

# What an answer that is right on those may still get wrong. These only confirm: nothing is explained by them.
FURTHER_UNMASKED = (
    Probe("square", sizes(2, OTHER_WIDTH, OTHER_WIDTH)),
    Probe("long", sizes(1, 72, OTHER_WIDTH)),
    Probe("odd_width", sizes(2, 3, ODD_WIDTH)),
)
FURTHER_MASKED = (
    *(
        under_mask(f"mask_bss_{name}", 3, 5, dtype=dtype)
        for name, dtype in (("byte", torch.uint8), ("short", torch.int32), ("half", torch.float16))
    ),
    under_mask("mask_open_sample", 3, 4, dtype=torch.int64, open_samples=1),
    under_mask("mask_hides_nothing", 2, 3, axes="B 1 S", open_samples=2),
    under_mask("mask_like_padding", 4, 4, ODD_WIDTH, axes="S S", dtype=torch.int64),  # also (B, S)
)

REVEAL = Reveal(
    tokens="x",
    value="value",
    last="output",
    stronger="query",
    deciding=frozenset({"mask", "normalise", "drop"}),
    after=frozenset({"mix", "output"}),
    dropout=Probe("dropout", sizes(64, 8)),
    dropout_masked=under_mask("dropout_masked", 18, 8),
)


def _other_samples(drawn: Drawn) -> Drawn:
    """Other tokens in every sample but the first."""
    x = drawn.x.clone()
    x[1:] = x[1:].flip(-1) + 1.0
    return drawn.but(x=x)


def _order(length: int) -> Tensor:
    """A permutation without a fixed point."""
    return torch.arange(length).roll(2)


SAMPLES = Relation("samples", _other_samples, lambda before, after: (before[0], after[0]))
TOKENS = Relation(
    "tokens",
    lambda drawn: drawn.but(x=drawn.x[:, _order(drawn.x.shape[1])]),
    lambda before, after: (before[:, _order(before.shape[1])], after),
)


def family(plan: Plan, *, masked: bool, packed: bool = False) -> Family:
    """A level of single-head self-attention."""
    return Family(
        plan=plan,
        standard=(*UNMASKED, *(MASKED_PROBES if masked else ())),
        further=(*FURTHER_UNMASKED, *(FURTHER_MASKED if masked else ())),
        roles=ROLES,
        packings=PACKINGS,
        packed=packed,
        reveal=REVEAL,
        relations=(SAMPLES, TOKENS),
        words=WORDS,
        formula="softmax(QKᵀ/√d)V",
    )


V1 = family(FORMULA, masked=False)
V2 = family(FORMULA, masked=False, packed=True)
V3 = family(MASKED_WITH_OUTPUT, masked=True)
V4 = family(MASKED, masked=True)
