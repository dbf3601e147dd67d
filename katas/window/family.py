"""The structure of window: attention over the last `window` keys, the query's own among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from kata_content.common.steps import PASS_ON
from kata_content.heads import steps as heads
from kata_content.heads.family import AXES
from torch import Tensor

from grader.authoring import Context, Drawn, Family, Plan, Probe, Relation, Reveal, Step

LOUD = 10.0  # logits of some tens: what is filled with -20 is no longer hidden


def window_of(c: Context) -> int:
    return int(c.numbers["window"])


def places(c: Context) -> tuple[Tensor, Tensor]:
    """The positions of the queries, as a column, and of the keys."""
    positions = torch.arange(c.query.shape[-2])
    return positions[:, None], positions[None, :]


def band(c: Context) -> Context:
    """What is visible: key j for query i where i - window < j ≤ i. One for all samples and heads."""
    i, j = places(c)
    visible = ((j <= i) & (j > i - window_of(c)))[None, None]
    return c.but(visible=visible, mask=visible.to(c.query.dtype))


PLAN: Plan = {
    "band": Step(band, "window"),
    "scores": heads.SCORES,
    "scale": heads.SCALE,
    "mask": replace(heads.MASK, concept="window"),
    "normalise": heads.NORMALISE,
    "mix": heads.MIX,
    "output": replace(PASS_ON, makes={"output": "B H S d"}),
}


def sizes(batch: int, heads_: int, seq_len: int, width: int) -> Mapping[str, int]:
    return {"B": batch, "H": heads_, "S": seq_len, "d": width}


def over(window: int) -> Mapping[str, int]:
    return {"window": window}


def loud(query: Tensor) -> Tensor:
    return LOUD * query


DOUBLE = dict.fromkeys(("query", "key", "value"), torch.float64)


def _other_samples(drawn: Drawn) -> Drawn:
    """Other tokens in every sample but the first."""
    inputs = {name: drawn.inputs[name].clone() for name in ("query", "key", "value")}
    for tensor in inputs.values():
        tensor[1:] = tensor[1:].flip(-1) + 1.0
    return drawn.but(**inputs)


SAMPLES = Relation("samples", _other_samples, lambda before, after: (before[0], after[0]))

FAMILY = Family(
    plan=PLAN,
    standard=(
        Probe("base", sizes(2, 4, 13, 14), traced=True, numbers=over(3)),
        Probe("window_of_four", sizes(2, 3, 17, 5), numbers=over(4)),
        Probe("window_of_two", sizes(3, 2, 11, 6), numbers=over(2)),
        Probe("window_of_one", sizes(2, 3, 5, 6), thin=True, numbers=over(1)),
        Probe("many_windows", sizes(1, 2, 41, 4), numbers=over(5)),
        Probe("window_of_the_length", sizes(3, 2, 6, 5), numbers=over(6)),
        Probe("one_token_more", sizes(2, 3, 7, 5), numbers=over(6)),
        Probe("window_beyond", sizes(3, 2, 5, 4), numbers=over(7)),
        Probe("one_token", sizes(2, 3, 1, 4), thin=True, numbers=over(3)),
        Probe("one_sample_and_head", sizes(1, 1, 9, 8), numbers=over(2)),
        Probe("loud", sizes(3, 4, 12, 5), stage=1, numbers=over(2), change={"query": loud}),
        Probe("loud_alone", sizes(3, 4, 7, 5), stage=1, numbers=over(1), change={"query": loud}),
        Probe("loud_window_of_four", sizes(2, 3, 14, 6), stage=1, numbers=over(4), change={"query": loud}),
    ),
    further=(
        Probe("double", sizes(2, 3, 9, 4), numbers=over(3), dtypes=DOUBLE),
        Probe("square", sizes(3, 3, 3, 3), numbers=over(2)),
        Probe("narrow", sizes(2, 2, 8, 1), numbers=over(3)),
        Probe("long", sizes(1, 2, 130, 3), numbers=over(32)),
        Probe("far_beyond", sizes(2, 2, 4, 3), numbers=over(1000)),
    ),
    derived={"T": lambda given: given["S"], "D": lambda given: given["H"] * given["d"]},
    reveal=Reveal(
        tokens="value",
        deciding=frozenset({"mask", "normalise"}),
        after=frozenset({"mix", "output"}),
        heads="H",
        width="d",
    ),
    relations=(SAMPLES,),
    words=AXES,
    formula="softmax(QKᵀ/√head_dim)V over the last `window` keys",
)
