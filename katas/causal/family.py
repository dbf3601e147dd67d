"""The structure of causal: several heads, and a mask that every call makes for itself."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from kata_content.common.single_head import PACKINGS, SAMPLES
from kata_content.heads.family import AXES, DERIVED, ORDERS, RENUMBERINGS, ROLES
from kata_content.heads.remarks import REMARKS
from kata_content.heads.steps import MASKED
from torch import Tensor

from grader.authoring import Context, Family, Probe, Reveal, Step

LONGEST = 16
LOUD = 5.0  # logits of some tens: what is filled with -20 is no longer hidden


def triangle(c: Context) -> Context:
    """What is visible: key j for query i where j is not later. One for all samples and heads."""
    seq_len = c.x.shape[-2]
    visible = torch.ones(1, 1, seq_len, seq_len, dtype=torch.bool).tril()
    return c.but(visible=visible, mask=visible.to(c.x.dtype))


def sizes(
    batch: int, seq_len: int, width: int = 24, heads: int = 4, longest: int = LONGEST
) -> Mapping[str, int]:
    return {"B": batch, "S": seq_len, "D": width, "H": heads, "L": longest}


def loud(x: Tensor) -> Tensor:
    return LOUD * x


FAMILY = Family(
    plan={**MASKED, "lay": Step(triangle, "mask")},
    standard=(
        Probe("base", sizes(3, 5), traced=True),
        Probe("longer", sizes(2, 9)),
        Probe("shorter", sizes(2, 3)),
        Probe("full_length", sizes(1, LONGEST)),
        Probe("one_token", sizes(2, 1), thin=True),
        Probe("other_width", sizes(2, 7, 10, 2, 7)),
        Probe("one_sample", sizes(1, 4, 15, 5, 9)),
        Probe("large_logits", sizes(3, 6), stage=1, change={"x": loud}),
        Probe("large_logits_longer", sizes(4, 8), stage=1, change={"x": loud}),
    ),
    further=(
        Probe("one_head", sizes(2, 5, 7, 1)),
        Probe("long", sizes(1, 200, 12, 3, 256)),
        Probe("batch_heads_and_length", sizes(4, 4)),
    ),
    roles=ROLES,
    packings=PACKINGS,
    orders=ORDERS,
    renumberings=RENUMBERINGS,
    derived=DERIVED,
    reveal=Reveal(
        tokens="x",
        value="value",
        last="output",
        stronger="query",
        deciding=frozenset({"mask", "normalise", "drop"}),
        after=frozenset({"mix", "join", "output"}),
        heads="H",
        width="d",
        dropout=Probe("dropout", sizes(24, 6)),
    ),
    remarks=REMARKS,
    relations=(SAMPLES,),
    words={**AXES, "L": frozenset({"max_seq_len", "block_size", "context_length", "max_len"})},
    formula="softmax(QKᵀ/√head_dim)V over the past in each head",
)
