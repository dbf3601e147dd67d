"""The structure of mha."""

from __future__ import annotations

import torch
from kata_content.common.single_head import PACKINGS, SAMPLES, TOKENS
from kata_content.heads.family import AXES, DERIVED, ORDERS, RENUMBERINGS, ROLES, sizes, under_mask
from kata_content.heads.remarks import REMARKS
from kata_content.heads.steps import MASKED

from grader.authoring import Family, Probe, Reveal

UNMASKED = (
    Probe("base", sizes(3, 5), traced=True),
    Probe("other_width", sizes(2, 7, 10, 2)),
    Probe("one_sample", sizes(1, 4, 15, 5)),
    Probe("one_token", sizes(2, 1), thin=True),  # whatever its score, it gets all the weight
    Probe("batch_is_heads", sizes(4, 3)),
)
KINDS = (("bool", torch.bool), ("int", torch.int64), ("float", torch.float32))
MASKED_PROBES = (
    under_mask("mask_bss_bool", sizes(3, 5), traced=True),
    *(
        under_mask(
            f"mask_{''.join(axes.split()).lower()}_{name}",
            sizes(3, 5),
            axes,
            dtype,
            traced=(axes, name) == ("B S S", "int"),
        )
        for axes in ("B S S", "B 1 S", "1 S S")
        for name, dtype in KINDS
        if (axes, name) != ("B S S", "bool")
    ),
    under_mask("mask_open_rows", sizes(2, 4, 15, 3), open_rows=True),
    under_mask("mask_batch_is_heads", sizes(4, 5), dtype=torch.int64),
)
SHARED_MASK = under_mask("mask_ss", sizes(3, 5), "S S")

FAMILY = Family(
    plan=MASKED,
    standard=(*UNMASKED, *MASKED_PROBES),
    further=(
        Probe("one_head", sizes(2, 5, 7, 1)),
        Probe("heads_of_one", sizes(2, 5, 6, 6)),
        Probe("long", sizes(1, 72, 12, 3)),
        under_mask("mask_byte", sizes(3, 5), dtype=torch.uint8),
        under_mask("mask_short", sizes(2, 6, 10, 2), dtype=torch.int32),
        under_mask("mask_open_sample", sizes(3, 4), dtype=torch.int64, open_samples=1),
        under_mask("mask_hides_nothing", sizes(2, 3), "B 1 S", open_samples=2),
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
        dropout_masked=under_mask("dropout_masked", sizes(8, 6)),
    ),
    remarks=REMARKS,
    relations=(SAMPLES, TOKENS),
    words=AXES,
    formula="softmax(QKᵀ/√head_dim)V in each head",
)
