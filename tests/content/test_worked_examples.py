"""The numbers of a kata's worked example are those that its solution gives."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor, nn

from grader.catalog import Kata
from grader.signature import Input, shape_of
from tests.content.levels import LEVELS
from tests.content.test_family_solutions import solution

NUMBER = r"-?\d+(?:\.\d+)?"
SHOWN = [kata for kata in LEVELS if (kata.folder / "example.md").is_file()]
each_example = pytest.mark.parametrize("kata", SHOWN, ids=lambda kata: kata.id)


def numbers(page: str, name: str) -> list[float]:
    """Those of the line that begins with the name."""
    line = next(line for line in page.splitlines() if re.match(rf"{name}\s+{NUMBER}", line))
    return [float(number) for number in re.findall(NUMBER, line.removeprefix(name))]


def sizes(kata: Kata, page: str) -> dict[str, int]:
    """Of each axis, as the page tells them: "`x` of shape (1, 3, 4)", "num_heads is 2"."""
    found: dict[str, int] = {}
    for names, shape in re.findall(r"((?:`\w+`(?: and )?)+) of shape \(([\d, ]+)\)", page):
        for name in re.findall(r"`(\w+)`", names):
            wanted = next(one for one in kata.signature.inputs if one.name == name)
            found |= zip(wanted.axes.split(), map(int, shape.split(", ")), strict=False)
    for construct in kata.signature.construct:
        said = re.search(rf"\b{construct.name} is (\d+)", page)
        if said is not None:
            found[construct.axis] = int(said[1])
    return found


def given(kata: Kata, page: str, wanted: Input, known: dict[str, int]) -> Tensor | int | None:
    """What the page shows of an input; None for a mask that it does not show."""
    if wanted.kind == "number":
        said = re.search(rf"`{wanted.name}` = (\d+)", page)
        assert said is not None
        return int(said[1])
    line = (
        "mask" if wanted is kata.signature.mask and re.search(r"^mask ", page, re.MULTILINE) else wanted.name
    )
    if wanted.optional and re.search(rf"^{line} ", page, re.MULTILINE) is None:
        return None
    tensor = torch.tensor(numbers(page, line))
    if wanted is not kata.signature.first:
        return tensor.reshape(shape_of(wanted.axes, known))
    shape = re.search(rf"`{wanted.name}` of shape \(([\d, ]+)\)", page)
    assert shape is not None
    return tensor.reshape([int(size) for size in shape[1].split(", ")])


def identities(module: nn.Module) -> nn.Module:
    """Every projection hands on what it gets, or the first features of it; a packed one three times."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.zeros_(layer.bias)
            times = max(1, layer.out_features // layer.in_features)
            layer.weight.data = torch.eye(layer.out_features // times, layer.in_features).repeat(times, 1)
    return module.eval()


@each_example
@torch.no_grad()
def test_the_worked_example_is_what_the_solution_gives(kata: Kata) -> None:
    page = kata.text("example.md")
    known = sizes(kata, page)
    made = getattr(solution(kata.id), kata.signature.name)
    if kata.signature.is_module:
        made = identities(made(*(known[one.axis] for one in kata.signature.construct if one.axis in known)))
    found = made(*(given(kata, page, wanted, known) for wanted in kata.signature.inputs))
    found = found[0] if isinstance(found, tuple) else found  # what else is returned is a state
    assert numbers(page, "output") == [round(float(value), 3) for value in found.flatten()]


@each_example
def test_the_worked_example_says_how_to_try_ones_own(kata: Kata) -> None:
    page = kata.text("example.md")
    assert page.startswith("## An example, with numbers\n")
    assert f"`kata run {kata.id}`" in page


def test_there_are_worked_examples() -> None:
    assert {kata.id for kata in SHOWN} >= {kata.id for kata in LEVELS if kata.todos}
