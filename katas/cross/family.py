"""The structure of cross: queries from x, keys and values from the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from kata_content.common.single_head import KEY, OUTPUT, PACKINGS, QUERY, VALUE
from kata_content.heads.family import AXES, DERIVED, HEAD, ORDERS, RENUMBERINGS
from kata_content.heads.remarks import REMARKS
from kata_content.heads.steps import MASKED

from grader.authoring import Context, Drawn, Family, MaskSpec, Probe, Relation, Reveal, Step


def lay(c: Context) -> Context:
    """The mask of the context gets axes for the heads and the queries."""
    if c.mask is None or c.visible is None:
        return c
    return c.but(mask=c.mask[:, None, None, :], visible=c.visible[:, None, None, :])


def project(c: Context) -> Context:
    """The query from x, key and value from the context."""
    return c.but(
        query=c.layers["query"](c.x), key=c.layers["key"](c.context), value=c.layers["value"](c.context)
    )


PROJECT = Step(project, "projections", {"query": "B S D", "key": "B T D", "value": "B T D"})


def sizes(
    batch: int, seq_len: int, length: int, width: int = 24, heads: int = 4, source: int | None = 24
) -> Mapping[str, int]:
    given = {"B": batch, "S": seq_len, "T": length, "D": width, "H": heads}
    return given if source is None else {**given, "C": source}


def under_mask(
    name: str,
    given: Mapping[str, int],
    dtype: torch.dtype = torch.bool,
    *,
    traced: bool = False,
    open_samples: int = 0,
) -> Probe:
    """A probe with a mask of the context."""
    return Probe(name, given, MaskSpec("B T", dtype, open_samples=open_samples), stage=1, traced=traced)


def _other_samples(drawn: Drawn) -> Drawn:
    """Other tokens and another context in every sample but the first."""
    inputs = {name: drawn.inputs[name].clone() for name in ("x", "context")}
    for tensor in inputs.values():
        tensor[1:] = tensor[1:].flip(-1) + 1.0
    return drawn.but(**inputs)


SAMPLES = Relation("samples", _other_samples, lambda before, after: (before[0], after[0]))

OF_CONTEXT = {
    "T": frozenset({"t", "context_len", "src_len", "kv_len", "source", "src", "k_len", "m"}),
    "C": frozenset({"c", "context_dim", "ctx_dim", "kv_dim", "source_dim"}),
}

FAMILY = Family(
    plan={**MASKED, "lay": Step(lay, "mask"), "project": PROJECT},
    standard=(
        Probe("base", sizes(3, 7, 5), traced=True),
        Probe("wide_context", sizes(2, 4, 9, 10, 2, 16)),
        Probe("narrow_context", sizes(3, 6, 4, 24, 4, 20)),
        Probe("width_left_out", sizes(2, 3, 4, 24, 4, None)),
        Probe("one_sample", sizes(1, 4, 6, 15, 5, 15)),
        Probe("one_token", sizes(2, 1, 3), thin=True),
        Probe("one_token_of_context", sizes(2, 3, 1), thin=True),
        Probe("same_length", sizes(2, 5, 5)),
        under_mask("mask_bool", sizes(3, 7, 5), traced=True),
        under_mask("mask_int", sizes(3, 7, 5), torch.int64, traced=True),
        under_mask("mask_float", sizes(3, 7, 5), torch.float32),
        under_mask("mask_same_length", sizes(2, 5, 5)),
        under_mask("mask_batch_is_heads", sizes(4, 3, 6), torch.int64),
        under_mask("mask_batch_is_length", sizes(3, 3, 5)),
        under_mask("mask_one_sample", sizes(1, 3, 5)),
        under_mask("mask_other_width", sizes(3, 6, 4, 24, 4, 20)),
    ),
    further=(
        Probe("one_head", sizes(2, 5, 4, 7, 1, 3)),
        Probe("long", sizes(1, 66, 72, 12, 3, 5)),
        under_mask("mask_byte", sizes(3, 4, 5), torch.uint8),
        under_mask("mask_open_sample", sizes(3, 4, 6), torch.int64, open_samples=1),
    ),
    roles=(
        replace(QUERY, out=HEAD),
        replace(KEY, out=HEAD, into=("C",)),
        replace(VALUE, out=HEAD, into=("C",)),
        replace(OUTPUT, into=HEAD),
    ),
    packings=tuple(packing for packing in PACKINGS if packing.roles == ("key", "value")),
    orders=ORDERS,
    renumberings=RENUMBERINGS,
    derived={**DERIVED, "C": lambda given: given["D"]},
    reveal=Reveal(
        tokens="context",
        value="value",
        last="output",
        stronger="query",
        deciding=frozenset({"mask", "normalise", "drop"}),
        after=frozenset({"mix", "join", "output"}),
        heads="H",
        width="d",
        dropout=Probe("dropout", sizes(24, 6, 5)),
        dropout_masked=under_mask("dropout_masked", sizes(8, 6, 5)),
    ),
    remarks=REMARKS,
    relations=(SAMPLES,),
    words={**{axis: words - OF_CONTEXT["T"] - OF_CONTEXT["C"] for axis, words in AXES.items()}, **OF_CONTEXT},
    formula="softmax(QKᵀ/√head_dim)V in each head, with queries from x, keys and values from the context",
)
