"""The judge knows no family: heads, functions and states are what content says, and no label stands in its
code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import grader.judge
from grader.catalog import content_root, load_labels
from grader.judge.family import Family, Packing, Renumbering, Role
from grader.judge.oracle import Affine, Context, Step
from grader.judge.probes import MaskSpec, Probe, Turn, draw
from grader.judge.roles import layouts
from grader.judge.units import Finder, Misfit
from grader.protocol import ParameterInfo
from grader.signature import Construct, Input, Output, Signature, shape_of
from tests.judge.stage import CATALOG

# A role of this name is also what every plan ends with.
ALLOWED = {"output"}
NOTES = {"fp16_overflow"}  # the id of a note, which is older than the label

SIZES = {"B": 2, "S": 5, "D": 12, "H": 3, "K": 4}
CUT = ("H", "K")
HEADS = Family(
    plan={},
    standard=(Probe("base", SIZES),),
    roles=(
        Role("ask", CUT, words=frozenset({"ask"})),
        Role("tell", CUT, words=frozenset({"tell"})),
        Role("join", into=CUT, words=frozenset({"join"}), optional=True),
    ),
    packings=(Packing(("ask", "tell")),),
    orders=("R H K", "R K H", "H R K"),
    renumberings=(Renumbering("H"), Renumbering("H", 1), Renumbering("H", -1)),
)


def literals(path: Path) -> Iterator[str]:
    """The texts in a module that are no docstrings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_label_and_no_role_stands_in_the_judge() -> None:
    roles = {"query", "key", "value", "output"} - ALLOWED
    known = (set(load_labels(CATALOG)) | roles) - NOTES
    folder = Path(grader.judge.__path__[0])
    found = {
        f"{path.name}: {text}" for path in folder.glob("*.py") for text in literals(path) if text in known
    }
    assert found == set()


def test_every_kata_of_ours_has_a_family() -> None:
    folders = {path.parent.name for path in (content_root() / "katas").glob("*/family.py")}
    assert {kata.id for kata in CATALOG.katas} <= folders


def info(name: str, *shape: int, owner: str = "Linear") -> ParameterInfo:
    return ParameterInfo(name=name, shape=shape, dtype="float32", owner=owner)


@pytest.mark.parametrize(
    ("stored", "parameters"),
    [
        (lambda w: {"ask.weight": w.reshape(12, 12)}, [info("ask.weight", 12, 12)]),
        (lambda w: {"ask.weight": w.transpose(0, 1).reshape(12, 12)}, [info("ask.weight", 12, 12)]),
        (lambda w: {"ask": w.reshape(12, 12).mT.contiguous()}, [info("ask", 12, 12, owner="Own")]),
        (lambda w: {"ask": w.transpose(1, 2).contiguous()}, [info("ask", 3, 12, 4, owner="Own")]),
        (
            lambda w: {f"heads.{n}.ask.weight": w[n].contiguous() for n in range(3)},
            [info(f"heads.{n}.ask.weight", 4, 12) for n in range(3)],
        ),
    ],
    ids=["blocks", "interleaved", "x @ W", "a parameter of all heads", "a layer a head"],
)
def test_a_layer_is_found_however_its_heads_lie(stored: object, parameters: list[ParameterInfo]) -> None:
    right = torch.arange(144.0).reshape(3, 4, 12)
    values = {**stored(right), "tell.weight": torch.zeros(12, 12)}  # type: ignore[operator]
    found = Finder(HEADS, SIZES).units([*parameters, info("tell.weight", 12, 12)])
    read = [layout.layers(values, SIZES)["ask"].weight for layout in layouts(found, HEADS)]
    assert any(torch.equal(weight, right.reshape(12, 12)) for weight in read)


@pytest.mark.parametrize("order", ["R H K", "R K H", "H R K"])
def test_a_packed_weight_is_read_and_written_in_each_declared_order(order: str) -> None:
    one, other = torch.randn(3, 4, 12), torch.randn(3, 4, 12)
    axes = {"R": 0, "H": 1, "K": 2}
    packed = torch.stack([one, other]).permute(*(axes[name] for name in order.split()), 3).reshape(24, 12)
    found = Finder(HEADS, SIZES).units([info("both.weight", 24, 12), info("both.bias", 24)])
    values = {"both.weight": packed.contiguous(), "both.bias": torch.zeros(24)}
    fitting = [
        layout
        for layout in layouts(found, HEADS)
        if torch.equal(layout.layers(values, SIZES)["ask"].weight, one.reshape(12, 12))
    ]
    assert fitting
    layer = Affine(torch.randn(12, 12), torch.randn(12))
    fitting[0].slots["tell"].write(values, layer, SIZES)
    read = fitting[0].layers(values, SIZES)
    assert torch.equal(read["tell"].weight, layer.weight)
    assert read["tell"].bias is not None
    assert torch.equal(read["tell"].bias, layer.bias)
    assert torch.equal(read["ask"].weight, one.reshape(12, 12))


@pytest.mark.parametrize(
    "number",
    [lambda w: w.flip(0), lambda w: w.roll(1, 0), lambda w: w.roll(-1, 0)],
    ids=["flip", "on", "back"],
)
@pytest.mark.parametrize("parts", [1, 2], ids=["separate", "packed"])
def test_a_layer_that_numbers_heads_otherwise_is_read_and_written_with_its_bias(
    number: Callable[[torch.Tensor], torch.Tensor], parts: int
) -> None:
    ask, tell, bias = torch.randn(12, 12), torch.randn(3, 4, 12), torch.randn(3, 4)
    stored, vector = number(tell).reshape(12, 12), number(bias).reshape(12)
    if parts == 1:
        parameters = [info("ask.weight", 12, 12), info("tell.weight", 12, 12), info("tell.bias", 12)]
        values = {"ask.weight": ask, "tell.weight": stored, "tell.bias": vector}
    else:
        parameters = [info("both.weight", 24, 12), info("both.bias", 24)]
        values = {"both.weight": torch.cat([ask, stored]), "both.bias": torch.cat([torch.zeros(12), vector])}
    fitting = [
        layout
        for layout in layouts(Finder(HEADS, SIZES).units(parameters), HEADS)
        for read in [layout.layers(values, SIZES)]
        if torch.equal(read["ask"].weight, ask) and torch.equal(read["tell"].weight, tell.reshape(12, 12))
    ]
    assert fitting
    read = fitting[0].layers(values, SIZES)["tell"]
    assert read.bias is not None
    assert torch.equal(read.bias, bias.reshape(12))
    layer = Affine(torch.randn(12, 12), torch.randn(12))
    fitting[0].slots["tell"].write(values, layer, SIZES)
    again = fitting[0].layers(values, SIZES)["tell"]
    assert again.bias is not None
    assert torch.equal(again.weight, layer.weight)
    assert torch.equal(again.bias, layer.bias)


GROUPED = Family(
    plan={},
    standard=(Probe("base", {"B": 2, "S": 5, "D": 12, "G": 2, "r": 3, "K": 4}),),
    roles=(Role("ask", ("G", "r", "K")), Role("tell", ("G", "K")), Role("say", ("G", "K"))),
    packings=(Packing(("ask", "tell", "say")),),
    orders=("R G r K", "G R r K"),
)


def shared_weight(
    groups: int, repeats: int, *, by_group: bool
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """A weight of three roles of unequal widths, side by side or group by group, and what is in it."""
    own = {"say": torch.randn(groups, 1, 4, 12), "ask": torch.randn(groups, repeats, 4, 12)}
    own["tell"] = torch.randn(groups, 1, 4, 12)
    rows = torch.cat(list(own.values()), 1).reshape(-1, 12)
    if not by_group:
        rows = torch.cat([piece.reshape(-1, 12) for piece in own.values()])
    return rows, {name: piece.reshape(-1, 12) for name, piece in own.items()}


@pytest.mark.parametrize("turned", [False, True], ids=["as it is", "turned"])
@pytest.mark.parametrize("by_group", [False, True], ids=["side by side", "by group"])
def test_roles_of_unequal_widths_may_share_a_weight(by_group: bool, turned: bool) -> None:
    rows, right = shared_weight(2, 3, by_group=by_group)
    stored = rows.mT.contiguous() if turned else rows
    values = {"w": stored, "b": torch.zeros(40)}
    found = Finder(GROUPED, GROUPED.base.sizes).units(
        [info("w", *stored.shape, owner="X"), info("b", 40, owner="X")]
    )
    fitting = [
        layout
        for layout in layouts(found, GROUPED)
        for read in [layout.layers(values, GROUPED.base.sizes)]
        if all(torch.equal(read[name].weight, piece) for name, piece in right.items())
    ]
    assert fitting
    layer = Affine(torch.randn(24, 12), torch.randn(24))
    fitting[0].slots["ask"].write(values, layer, GROUPED.base.sizes)
    read = fitting[0].layers(values, GROUPED.base.sizes)
    assert torch.equal(read["ask"].weight, layer.weight)
    assert read["ask"].bias is not None
    assert torch.equal(read["ask"].bias, layer.bias)
    assert torch.equal(read["say"].weight, right["say"])
    other = {**GROUPED.base.sizes, "G": 3, "r": 1}
    rows, right = shared_weight(3, 1, by_group=by_group)
    again = fitting[0].layers({"w": rows.mT.contiguous() if turned else rows, "b": torch.zeros(36)}, other)
    assert all(torch.equal(again[name].weight, piece) for name, piece in right.items())
    with pytest.raises(Misfit):
        fitting[0].layers({"w": torch.zeros(12, 12), "b": torch.zeros(36)}, other)


def test_two_axes_may_be_numbered_backward_at_once_where_one_role_alone_has_them() -> None:
    sizes = {"B": 2, "S": 5, "D": 12, "G": 2, "r": 3, "K": 4}
    family = Family(
        plan={},
        standard=(Probe("base", sizes),),
        roles=(Role("join", into=("G", "r", "K"), words=frozenset({"join"})),),
        renumberings=(Renumbering("G r"),),
    )
    right = torch.randn(12, 2, 3, 4)
    values = {"join.weight": right.flip(1, 2).reshape(12, 24)}
    found = layouts(Finder(family, sizes).units([info("join.weight", 12, 24)]), family)
    read = [layout.layers(values, sizes)["join"].weight for layout in found]
    assert any(torch.equal(weight, right.reshape(12, 24)) for weight in read)


def test_a_layer_of_each_head_may_be_numbered_through_all_groups() -> None:
    parameters = [info(f"ask.{n}.weight", 4, 12) for n in range(6)]
    parameters += [info(f"{name}.{n}.weight", 4, 12) for name in ("tell", "say") for n in range(2)]
    found = Finder(GROUPED, GROUPED.base.sizes).units(parameters)
    weights = {parameter.name: torch.randn(4, 12) for parameter in parameters}
    read = layouts(found, GROUPED)[0].layers(weights, GROUPED.base.sizes)
    assert torch.equal(read["ask"].weight, torch.cat([weights[f"ask.{n}.weight"] for n in range(6)]))


def test_a_layer_of_each_head_is_found_in_an_instance_with_another_number_of_heads() -> None:
    parameters = [info(f"heads.{n}.ask.weight", 4, 12) for n in range(3)]
    found = Finder(HEADS, SIZES).units([*parameters, info("tell.weight", 12, 12)])
    layout = layouts(found, HEADS)[0]
    sizes = {**SIZES, "H": 1, "K": 12}
    values = {"heads.0.ask.weight": torch.ones(12, 12), "tell.weight": torch.zeros(12, 12)}
    assert torch.equal(layout.layers(values, sizes)["ask"].weight, torch.ones(12, 12))


FUNCTION = Signature(
    kind="function",
    name="shift",
    axes={"A": "rows", "B": "columns"},
    inputs=(Input(name="z", axes="A B"), Input(name="dim", kind="number", optional=True)),
    outputs=(Output(axes="A B"),),
)


def test_a_probe_draws_what_its_signature_names_and_changes_what_it_says() -> None:
    sizes = {"A": 2, "B": 3}
    drawn = draw(Probe("p", sizes, change={"z": lambda z: z + 200}, numbers={"dim": 0}), FUNCTION, sizes, 1)
    assert drawn.says == "z (2, 3), dim=0"
    assert float(drawn.x.min()) > 150
    ranked = draw(Probe("p", sizes, axes={"z": "B"}, dtypes={"z": torch.float16}), FUNCTION, sizes, 1)
    assert (tuple(ranked.x.shape), ranked.x.dtype) == ((3,), torch.float16)


def test_a_context_names_sizes_in_words_and_axes_from_the_end() -> None:
    plan = {"scores": Step(lambda c: c, "scores", {"scores": "B H Q T"})}
    c = Context(plan, {"x": torch.ones(2, 3)}, {}, sizes=SIZES, names={"H": "num_heads"})
    assert c.num_heads == 3
    assert [c.axis("scores", name) for name in "BHQT"] == [-4, -3, -2, -1]
    with pytest.raises(KeyError, match="no S"):
        c.axis("scores", "S")
    with pytest.raises(TypeError, match="no weights"):
        c.but(weights=torch.ones(1))


def test_a_size_that_a_probe_does_not_give_is_left_to_the_constructor_and_follows_from_others() -> None:
    signature = Signature(
        kind="module",
        name="Cross",
        construct=(Construct(name="d", axis="D"), Construct(name="c", axis="C", optional=True)),
        inputs=(Input(name="x", axes="B S D"), Input(name="mask", kind="mask", axes="B T", optional=True)),
        outputs=(Output(axes="B S D"),),
    )
    family = Family(plan={}, standard=(), derived={"C": lambda sizes: sizes["D"]})
    assert signature.built({"B": 1, "D": 6}) == {"D": 6}
    assert family.sizes({"B": 1, "D": 6})["C"] == 6
    assert family.sizes({"D": 6, "C": 9})["C"] == 9
    assert signature.takes_mask
    probe = Probe("p", {"B": 3, "S": 2, "T": 4, "D": 6}, MaskSpec("B T"))
    drawn = draw(probe, signature, family.sizes(probe.sizes), 1)
    assert drawn.mask is not None
    assert tuple(drawn.mask.shape) == shape_of("B T", probe.sizes)
    assert not torch.equal(drawn.mask[0], drawn.mask[1])


def test_a_turn_is_a_slice() -> None:
    turn = Turn("S", 2, 5, keep="b", use="a")
    assert (turn.axis, turn.stop - turn.start) == ("S", 3)
