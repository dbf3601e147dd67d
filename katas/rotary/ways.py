"""Wrong ways to make angles, to take positions and to rotate, as functions of which forms are made.

Axes are counted from the end, so that a step does the same to a stack of variants as to one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from kata_content.rotary.steps import (
    apart,
    base,
    count,
    exponents,
    in_halves,
    in_neighbours,
    in_pairs,
    join_halves,
    join_pairs,
    together,
)
from torch import Tensor

from grader.authoring import Context

Rule = Callable[[Context], Tensor]
StepOf = Callable[[Context], Context]
Made = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def slowed(rule: Rule) -> StepOf:
    """Other frequencies."""
    return lambda c: c.but(theta=rule(c))


def one_for_all(rule: Callable[[Context], float]) -> StepOf:
    """One frequency for all pairs."""
    return slowed(lambda c: torch.full((count(c),), float(rule(c)), dtype=torch.float64))


def powers(rule: Rule) -> StepOf:
    """The base to other exponents."""
    return slowed(lambda c: base(c) ** -rule(c))


def counted(c: Context) -> Tensor:
    return torch.arange(count(c), dtype=torch.float64)


def always(number: float, *, when_left_out: bool = False) -> StepOf:
    """A base that is not the one that was given, or another one where none is."""

    def step(c: Context) -> Context:
        used = base(c) if when_left_out and "base" in c.numbers else number
        return c.but(theta=used ** -exponents(c))

    return step


def turned_by(factor: float) -> StepOf:
    """All angles times a number."""
    return lambda c: c.but(angles=factor * c.positions.unsqueeze(-1) * c.theta)


def placed(rule: Rule) -> StepOf:
    """Other positions."""
    return lambda c: c.but(angles=rule(c).unsqueeze(-1) * c.theta)


def from_zero(c: Context) -> Tensor:
    return torch.arange(c.seq_len).expand(c.positions.shape)


def of_sample(place: int) -> Rule:
    """The positions of one sample for all of them."""

    def rule(c: Context) -> Tensor:
        given: Tensor = c.positions
        return given if given.dim() == 1 else given[place].expand(given.shape)

    return rule


def over_heads(c: Context) -> Context:
    """(batch, seq_len, pairs) as it is: the samples meet the heads."""
    return c


def by_head(rule: Rule) -> StepOf:
    """Angles that differ by head and not by token."""

    def step(c: Context) -> Context:
        places = rule(c)
        if places.shape[-1] not in (1, c.num_heads):
            raise RuntimeError("fewer positions than heads")
        return c.but(angles=(places.unsqueeze(-1) * c.theta).unsqueeze(-2))

    return step


def wrongly_laid(c: Context) -> Context:
    """The axis for the heads behind the positions: (seq_len, 1, pairs)."""
    return c.but(angles=c.angles.unsqueeze(-2))


def given(rule: Rule) -> StepOf:
    """Another result."""
    return lambda c: c.but(output=rule(c).to(c.x.dtype))


def mismatched(c: Context) -> Context:
    """The table of the other pairing."""
    return c.but(table=(in_halves if in_neighbours(c) else in_pairs)(c.angles))


def read_from(columns: Callable[[Context], Tensor]) -> StepOf:
    """Each pair takes its angle from another column of the table of pairs."""

    def step(c: Context) -> Context:
        angles = c.angles[..., columns(c)]
        return c.but(angles=angles, table=together(c, angles, angles))

    return step


def crossed(c: Context) -> Context:
    """Taken apart in one pairing, put together in the other."""
    first, second = apart(c, c.turned)
    joined = (join_halves if in_neighbours(c) else join_pairs)(first, second)
    return c.but(output=joined.to(c.x.dtype))


def mirrored(c: Context) -> Context:
    """Partners are (i, d - 1 - i)."""
    width = c.head_dim
    sign = torch.where(torch.arange(width) < width // 2, -1.0, 1.0)
    angle = torch.cat((c.angles, c.angles.flip(-1)), dim=-1)
    return c.but(table=angle, turned=c.x * angle.cos() + sign * c.x.flip(-1) * angle.sin())


def _lines(c: Context) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The two features of each pair, and cosine and sine of its angle."""
    return c.first, c.second, c.angles.cos(), c.angles.sin()


def paired(rule: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]) -> StepOf:
    """Both features of each pair made in another way, from both features, cosine and sine."""
    return lambda c: c.but(turned=together(c, *rule(*_lines(c))))


# A line is (feature with the cosine, its sign, feature with the sine, its sign); 0 is the first of the pair.
Line = tuple[int, int, int, int]
FIRST: Line = (0, 1, 1, -1)  # x₁cos - x₂sin
SECOND: Line = (1, 1, 0, 1)  # x₂cos + x₁sin
ALL = tuple(itertools.product((0, 1), (1, -1), (0, 1), (1, -1)))


def _made(line: Line) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    cosine, cosine_sign, sine, sine_sign = line

    def made(first: Tensor, second: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        features = (first, second)
        return cosine_sign * features[cosine] * cos + sine_sign * features[sine] * sin

    return made


def in_words(line: Line) -> str:
    cosine, cosine_sign, sine, sine_sign = line
    names = ("x₁", "x₂")
    lead, sign = "-" if cosine_sign < 0 else "", "+" if sine_sign > 0 else "-"
    return f"{lead}{names[cosine]}cos {sign} {names[sine]}sin"


def by_lines(one: Line, two: Line) -> StepOf:
    def rule(*of: Tensor) -> tuple[Tensor, Tensor]:
        return _made(one)(*of), _made(two)(*of)

    return paired(rule)


def kept(turned: Callable[[Context], Tensor]) -> StepOf:
    """Some of the features turned, the others as they came."""

    def step(c: Context) -> Context:
        right = c.x * c.table.cos() + c.partner * c.table.sin()
        return c.but(turned=torch.where(turned(c), right, c.x.to(right.dtype)))

    return step


def first_pairs(c: Context) -> Tensor:
    early = torch.arange(count(c)) < (count(c) + 1) // 2
    return together(c, early, early)


def first_features(c: Context) -> Tensor:
    """The first feature of each pair."""
    ones = torch.ones(count(c), dtype=torch.bool)
    return together(c, ones, ~ones)


def part_turned(*, own_width: bool, back: bool = False) -> StepOf:
    """Half of the width is a small rope of its own, with its own frequencies or the first ones of all."""

    def step(c: Context) -> Context:
        half = c.head_dim // 2
        few = half // 2
        if half % 2:
            raise RuntimeError("an odd number of features has no pairs")
        part, rest = (c.x[..., half:], c.x[..., :half]) if back else (c.x[..., :half], c.x[..., half:])
        first, second = apart(c, part)
        if own_width:
            exponent = torch.arange(0, half, 2, dtype=torch.float64) / half
            angles = c.positions.unsqueeze(-1) * base(c) ** -exponent
            angles = angles.unsqueeze(-3) if c.positions.dim() == 2 else angles
        else:
            angles = c.angles[..., :few]
        cos, sin = angles.cos(), angles.sin()
        made = together(c, first * cos - second * sin, second * cos + first * sin)
        rest = rest.to(made.dtype)
        return c.but(turned=torch.cat((rest, made) if back else (made, rest), dim=-1))

    return step
