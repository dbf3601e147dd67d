"""The structure of cache: causal attention, put to the answer in one call and in several."""

from __future__ import annotations

from kata_content.common.single_head import PACKINGS, SAMPLES
from kata_content.decoding.steps import PLAN
from kata_content.heads.family import AXES, DERIVED, ORDERS, RENUMBERINGS, ROLES, sizes

from grader.authoring import Family, Probe, Reveal, Turn

WIDTH = 32


def in_calls(*counts: int) -> tuple[Turn, ...]:
    """One sequence in calls of so many tokens."""
    starts = [sum(counts[:place]) for place in range(len(counts))]
    return tuple(
        Turn("S", start, start + count, keep="a", use="a" if start else "")
        for start, count in zip(starts, counts, strict=True)
    )


def turned(
    name: str,
    batch: int,
    turns: tuple[Turn, ...],
    width: int = WIDTH,
    heads: int = 4,
    *,
    traced: bool = False,
) -> Probe:
    """A probe that is put in several calls."""
    length = max(turn.stop for turn in turns)
    return Probe(name, sizes(batch, length, width, heads), stage=1, turns=turns, traced=traced)


def turn(start: int, stop: int, keep: str, use: str = "") -> Turn:
    return Turn("S", start, stop, keep=keep, use=use)


TWO_SEQUENCES = (
    turn(0, 2, "a"),
    turn(2, 4, "b"),
    turn(4, 5, "a", "a"),
    turn(5, 6, "b", "b"),
    turn(6, 7, "a", "a"),
)
ANOTHER_PROMPT = (turn(0, 2, "a"), turn(2, 3, "a", "a"), turn(3, 6, "b"), turn(6, 7, "b", "b"))

FAMILY = Family(
    plan=PLAN,
    standard=(
        Probe("base", sizes(3, 5, WIDTH), traced=True),
        Probe("other_width", sizes(2, 7, 10, 2)),
        Probe("one_sample", sizes(1, 4, 15, 5)),
        Probe("one_token", sizes(2, 1, WIDTH), thin=True),
        Probe("batch_is_heads", sizes(4, 3, WIDTH)),
        turned("chunks", 3, in_calls(3, 1, 3), traced=True),
        turned("prompt_and_steps", 2, in_calls(5, 1, 1), traced=True),
        turned("steps", 1, in_calls(1, 1, 1, 1)),
        turned("equal_calls", 2, in_calls(2, 2, 2)),
        turned("other_width_in_calls", 2, in_calls(1, 4, 1), 10, 2),
        turned("two_sequences", 3, TWO_SEQUENCES),
        turned("another_prompt", 1, ANOTHER_PROMPT),
    ),
    further=(
        Probe("one_head", sizes(2, 5, 7, 1)),
        turned("batch_heads_and_length", 4, in_calls(4, 4)),
        turned("one_head_in_calls", 2, in_calls(4, 2, 1), 7, 1),
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
        deciding=frozenset({"lay", "remember", "mask", "normalise", "recall"}),
        after=frozenset({"mix", "join", "output"}),
        heads="H",
        width="d",
    ),
    relations=(SAMPLES,),
    words=AXES,
    formula="softmax(QKᵀ/√head_dim)V over all tokens so far in each head",
)
