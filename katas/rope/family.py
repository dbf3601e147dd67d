"""The structure of rope: an angle for each pair and position, and a rotation of the pairs by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from kata_content.rotary.steps import BASE, NEIGHBOURS, PLAN, apart, count
from torch import Tensor

from grader.authoring import Context, Convention, Family, Probe, Table


def turns(c: Context, output: Tensor) -> Tensor:
    """By which angle each pair of x was turned, (batch, heads, seq_len, pairs), between -π and π."""
    (one, two), (first, second) = apart(c, c.x.double()), apart(c, output.double())
    return torch.atan2(second * one - first * two, first * one + second * two)


def named(c: Context) -> list[list[str]]:
    """The position of each row, for each head of each sample."""
    given = c.positions.expand(c.x.shape[0], c.x.shape[2])
    return [[f"position {int(place)}" for place in row] for row in given for _ in range(c.x.shape[1])]


def scattered(step: int, start: int, below: int = 43) -> Callable[[Tensor], Tensor]:
    """Positions out of order, other ones in each sample."""

    def change(counted: Tensor) -> Tensor:
        samples = torch.arange(counted.shape[0]).unsqueeze(-1) if counted.dim() == 2 else 0
        return (start + step * counted + 17 * samples) % below

    return change


def moved(by: int) -> Callable[[Tensor], Tensor]:
    return lambda counted: counted + by


SIZES: Mapping[str, int] = {"B": 2, "H": 3, "S": 5, "d": 8}
OWN = "B S"  # positions of each sample


def at(
    name: str,
    change: Callable[[Tensor], Tensor] | None,
    axes: str = "S",
    number: float | None = None,
    **more: object,
) -> Probe:
    """A probe whose positions are counted from 0 and then changed; `more` are its sizes, and what else it
    is.
    """
    sizes = {axis: int(str(more.pop(axis, size))) for axis, size in SIZES.items()}
    return Probe(
        name,
        sizes,
        axes={"positions": axes},
        numbers={} if number is None else {"base": number},
        change={} if change is None else {"positions": change},
        **more,  # type: ignore[arg-type]
    )


STANDARD = (
    at("base", scattered(19, 7), traced=True),
    at("counted", None),
    at("run", moved(9)),
    at("own", scattered(11, 5), OWN, B=3, H=2, traced=True),
    at("own_one_sample", scattered(13, 2), OWN, B=1, H=3),
    at("own_batch_is_heads", scattered(11, 8), OWN, B=3, H=3),
    at("own_run", lambda counted: counted + 6 * torch.arange(len(counted))[:, None] + 2, OWN, B=3, H=2),
    at("length_is_heads", scattered(7, 3), S=4, H=4),
    at("length_is_width", scattered(5, 4), S=6, H=2, d=6),
    at("odd_pairs", scattered(19, 1), S=4, H=2, d=10),
    at("one_head", scattered(17, 6), H=1),
    at("one_token", moved(23), S=1),
    at("two_features", scattered(19, 9), d=2, thin=True),
    at("large_base", scattered(19, 11, 61), number=500000.0),
    at("small_base", scattered(19, 3), OWN, 100.0, B=3, H=2),
    at("same_position_twice", lambda counted: (9 * (counted // 2)) % 20),
)

FAMILY = Family(
    plan=PLAN,
    standard=STANDARD,
    further=(
        at("usual_base", scattered(23, 12), number=BASE),
        at("wide", scattered(7, 1, 29), S=7, H=2, d=32),
        at("long", None, S=48, B=1, H=2, d=4),
        at("own_short", scattered(3, 30), OWN, S=2, B=4, H=2),
    ),
    conventions=(
        Convention(
            "halves",
            says="Your pairs are (i, i + d/2), the halves of a head, as in GPT-NeoX and Llama's public code.",
        ),
        Convention(
            "neighbours",
            NEIGHBOURS,
            says="Your pairs are the neighbours (2i, 2i + 1), as in the paper and in GPT-J.",
        ),
    ),
    table=Table(
        "The angle by which each pair was turned, in radians between -π and π",
        turns,
        named,
        lambda c: [f"pair {pair}" for pair in range(count(c))],
    ),
    derived={"P": lambda given: given["d"] // 2},
    words={
        "B": frozenset({"b", "batch", "batch_size"}),
        "H": frozenset({"h", "heads", "num_heads", "n_heads"}),
        "S": frozenset({"s", "seq", "seq_len", "length", "t", "l"}),
        "d": frozenset({"d", "head_dim", "dim", "hd", "d_head"}),
        "P": frozenset({"d/2", "d//2", "half", "head_dim/2", "head_dim//2", "pairs"}),
    },
    formula="each pair turned by +position · base^(-2i/d)",
)
