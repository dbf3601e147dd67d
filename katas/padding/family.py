"""The structure of padding: which tokens are real, and one row of them for each query."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from grader.authoring import Context, Family, MaskSpec, Plan, Probe, Step


def real(c: Context) -> Context:
    """Which tokens are real: 1, and 0 for padding."""
    assert c.visible is not None
    return c.but(real=c.visible.float())


def keys(c: Context) -> Context:
    """An axis for the queries, in front of the keys."""
    return c.but(keys=c.real.unsqueeze(-2))


def rows(c: Context) -> Context:
    """One row of keys for each query, padded ones too."""
    return c.but(output=c.keys.repeat_interleave(c.keys.shape[-1], dim=-2))


PLAN: Plan = {
    "real": Step(real, "mask", {"real": "B S"}),
    "keys": Step(keys, "mask", {"keys": "B Q S"}),
    "rows": Step(rows, "mask", {"output": "B S S"}),
}


def padded(
    name: str,
    batch: int,
    seq_len: int,
    dtype: torch.dtype = torch.int64,
    *,
    open_samples: int = 0,
    traced: bool = False,
) -> Probe:
    """Tokens and padding anywhere, other ones in each sample."""
    sizes: Mapping[str, int] = {"B": batch, "S": seq_len}
    return Probe(name, sizes, MaskSpec("B S", dtype, open_samples=open_samples), traced=traced)


DTYPES = {
    "bool": torch.bool,
    "int32": torch.int32,
    "byte": torch.uint8,
    "float": torch.float32,
}

FAMILY = Family(
    plan=PLAN,
    standard=(
        padded("base", 3, 6, traced=True),
        padded("longer_batch", 5, 4),
        padded("two_samples", 2, 7),
        padded("batch_is_length", 5, 5),
        padded("one_sample", 1, 5),
        padded("all_real", 3, 4, open_samples=3),
        *(padded(name, 3, 6, dtype) for name, dtype in DTYPES.items()),
    ),
    further=(
        padded("long", 2, 40, torch.bool),
        padded("float_one_sample", 1, 7, torch.float32),
        padded("byte_longer_batch", 6, 3, torch.uint8),
    ),
    words={"B": frozenset({"b", "batch"}), "S": frozenset({"s", "seq", "seq_len", "length", "t"})},
    formula="visible exactly where the key is a real token",
)
