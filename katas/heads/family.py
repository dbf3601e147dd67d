"""The family of attention with several heads: layers, probes, what must hold of any answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from kata_content.common.single_head import KEY, OUTPUT, QUERY, VALUE, WORDS

from grader.authoring import MaskSpec, Probe, Renumbering, Role

# No two sizes are equal in the first probe, and a head is wide enough to show all its weights. One head, one
# token, one sample, a length of a head's width: each hides something, so none of them stands alone.
WIDTH, HEADS = 24, 4

HEAD = ("H", "d")
ROLES: tuple[Role, ...] = (
    *(replace(role, out=HEAD) for role in (QUERY, KEY, VALUE)),
    replace(OUTPUT, into=HEAD),
)
ORDERS = ("R H d", "H R d", "R d H", "H d R", "d R H", "d H R")
# Heads, and the features within each, may be numbered anew between queries and keys, and again at the join.
RENUMBERINGS = tuple(Renumbering(axis, by) for axis in HEAD for by in (0, 1, -1))
AXES = {
    **{axis: words - {"h"} for axis, words in WORDS.items()},
    "H": frozenset({"h", "heads", "num_heads", "n_heads", "n_head", "nh", "nhead", "n_h"}),
    "d": frozenset({"d", "dh", "hd", "head_dim", "d_head", "d_k", "dk", "head_size", "hs", "dim_head"}),
}


def sizes(batch: int, seq_len: int, width: int = WIDTH, heads: int = HEADS) -> dict[str, int]:
    return {"B": batch, "S": seq_len, "D": width, "H": heads}


def head_dim(given: Mapping[str, int]) -> int:
    return given["D"] // given["H"]


def under_mask(
    name: str,
    given: Mapping[str, int],
    axes: str = "B S S",
    dtype: torch.dtype = torch.bool,
    *,
    traced: bool = False,
    open_rows: bool = False,
    open_samples: int = 0,
) -> Probe:
    """A probe with a mask."""
    spec = MaskSpec(axes, dtype, open_rows=open_rows, open_samples=open_samples)
    return Probe(name, given, spec, stage=1, traced=traced)


DERIVED = {"d": head_dim}
