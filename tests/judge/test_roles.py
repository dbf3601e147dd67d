"""Layers are found by what they do: separate, packed, parameters, in either orientation, of any name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from grader.judge.oracle import Affine
from grader.judge.roles import NO_LAYER, Layout, layouts
from grader.judge.units import Finder, Misfit, Names, Unit
from grader.protocol import ParameterInfo
from tests.judge.stage import content

D = 6
SIZES = {"B": 2, "S": 3, "D": D}


QKV = "query+key+value"


def parameter(name: str, *shape: int, owner: str = "Linear") -> ParameterInfo:
    return ParameterInfo(name=name, shape=shape, dtype="float32", owner=owner)


def linear(name: str, out: int = D, *, bias: bool = True) -> list[ParameterInfo]:
    weight = [parameter(f"{name}.weight", out, D)]
    return weight + ([parameter(f"{name}.bias", out)] if bias else [])


def units(parameters: Sequence[ParameterInfo]) -> tuple[Unit, ...]:
    return Finder(content("v3").family, SIZES).units(parameters)


def all_layouts(parameters: Sequence[ParameterInfo], *, fixed: bool = False) -> tuple[Layout, ...]:
    return layouts(units(parameters), content("v2" if fixed else "v3").family)


def first_layout(parameters: Sequence[ParameterInfo], *, fixed: bool = False) -> Layout:
    return all_layouts(parameters, fixed=fixed)[0]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("query_proj", "query"), ("q_proj", "query"), ("Wq", "query"), ("W_q", "query"), ("to_q", "query"),
        ("wq", "query"), ("q", "query"), ("queryProj", "query"), ("linear_q", "query"), ("fc_q", "query"),
        ("key", "key"), ("k_linear", "key"), ("W_K", "key"), ("toK", "key"),
        ("v_proj", "value"), ("values", "value"), ("WV", "value"), ("val", "value"),
        ("out_proj", "output"), ("output_proj", "output"), ("Wo", "output"), ("o_proj", "output"),
        ("qkv", QKV), ("qkv_proj", QKV), ("to_qkv", QKV), ("query_key_value", QKV),
        ("kv", "key+value"), ("to_kv", "key+value"), ("key_value", "key+value"),
        ("proj", None), ("a", None), ("linear1", None), ("layer", None), ("query_key", None),
    ],
)  # fmt: skip
def test_a_name_states_a_role_or_says_nothing(name: str, role: str | None) -> None:
    assert Names(content("v3").family).states(name) == role


def test_names_pin_roles_in_any_order_of_creation() -> None:
    made = [*linear("value_proj"), *linear("query_proj"), *linear("key_proj")]
    found = first_layout(made)
    assert {role: slot.unit.name for role, slot in found.slots.items()} == {
        role: f"{role}_proj" for role in ("query", "key", "value")
    }
    assert not found.fused
    assert found.unused == ()


def test_names_that_say_nothing_leave_every_assignment_open() -> None:
    found = [*linear("a"), *linear("b"), *linear("c")]
    own = {
        tuple(layout.slots[role].unit.name for role in ("query", "key", "value"))
        for layout in all_layouts(found)
    }
    assert len(own) == 6


def test_an_output_layer_is_found_beside_the_others() -> None:
    made = [*linear("q"), *linear("k"), *linear("v"), *linear("out")]
    assert first_layout(made).slots["output"].unit.name == "out"


def test_a_layer_that_plays_no_part_is_named() -> None:
    made = [*linear("q"), *linear("k"), *linear("v"), *linear("out"), *linear("norm_out")]
    assert "norm_out" in first_layout(made).unused or "out" in first_layout(made).unused


@pytest.mark.parametrize(
    "weight",
    [
        parameter("proj.weight", 3 * D, D),
        parameter("w", D, 3 * D, owner="SelfAttention"),
        parameter("w", 3, D, D, owner="SelfAttention"),
    ],
)
def test_a_packed_weight_is_found_in_each_of_its_shapes(weight: ParameterInfo) -> None:
    found = first_layout([weight], fixed=True)
    assert found.fused
    assert [found.slots[role].part for role in ("query", "key", "value")] == [0, 1, 2]


def test_the_order_of_the_thirds_is_open_unless_the_kata_fixes_it() -> None:
    assert len(all_layouts(linear("proj", 3 * D), fixed=True)) == 1
    assert len(all_layouts(linear("proj", 3 * D))) == 6


def test_one_layer_for_query_and_one_for_key_and_value() -> None:
    found = first_layout([*linear("q"), *linear("kv", 2 * D)])
    assert {role: (slot.unit.name, slot.part) for role, slot in found.slots.items()} == {
        "query": ("q", 0),
        "key": ("kv", 0),
        "value": ("kv", 1),
    }


def test_a_plain_parameter_is_tried_as_x_at_w_first_and_a_linear_layer_as_it_is() -> None:
    plain = units([parameter("wq", D, D, owner="SelfAttention")])[0]
    assert [order.turned for order in plain.orders["query"]] == [True, False]
    assert [order.turned for order in units(linear("q"))[0].orders["query"]] == [False, True]


def test_biases_belong_to_their_layers_and_may_be_missing() -> None:
    found = units([*linear("q"), *linear("k", bias=False), parameter("w_v", D, D), parameter("b_v", D)])
    assert [unit.bias.name if unit.bias else None for unit in found] == ["q.bias", None, "b_v"]


def test_what_is_no_projection_is_left_out() -> None:
    others = [parameter("norm.weight", D), parameter("table", 99, 5), parameter("scale")]
    assert units(others) == ()
    assert units([ParameterInfo(name="i", shape=(D, D), dtype="int64", owner="X")]) == ()


def test_fewer_layers_than_roles_borrow() -> None:
    found = all_layouts(linear("proj"))
    assert found
    assert all(layout.borrowed for layout in found)
    assert any(set(layout.borrowed.values()) == {NO_LAYER} for layout in found)


@pytest.mark.parametrize("parameters", [linear("proj", 3 * D), [parameter("w", D, 3 * D, owner="X")]])
def test_what_is_written_into_a_role_is_read_back(parameters: list[ParameterInfo]) -> None:
    slot = first_layout(parameters, fixed=True).slots["key"]
    values = {info.name: torch.zeros(info.shape) for info in parameters}
    layer = Affine(torch.randn(D, D), torch.randn(D))
    slot.write(values, layer, SIZES)
    read = slot.affine(values, SIZES)
    assert torch.equal(read.weight, layer.weight)
    assert sum(int((value != 0).sum()) for value in values.values()) in (D * D, D * D + D)


FUSED = linear("proj", 3 * D)
STACKED = [parameter("w", 3, D, D, owner="X"), parameter("b", 3, D, owner="X")]


@pytest.mark.parametrize(
    ("parameters", "others"),
    [
        (FUSED, {}),
        (FUSED, {"proj.weight": (3 * D, D)}),
        (FUSED, {"proj.weight": (3 * D,), "proj.bias": (3 * D,)}),
        (FUSED, {"proj.weight": (D, D), "proj.bias": (3 * D,)}),
        (FUSED, {"proj.weight": (3 * D, D + 1), "proj.bias": (3 * D,)}),
        (FUSED, {"proj.weight": (3 * D, D), "proj.bias": (D,)}),
        (STACKED, {"w": (1, D, D), "b": (3, D)}),
        (STACKED, {"w": (3, D), "b": (3, D)}),
    ],
)  # fmt: skip
def test_an_instance_that_is_built_otherwise_does_not_fit(
    parameters: list[ParameterInfo], others: dict[str, tuple[int, ...]]
) -> None:
    layout = first_layout(parameters, fixed=True)
    assert layout.layers({info.name: torch.zeros(info.shape) for info in parameters}, SIZES)
    with pytest.raises(Misfit):
        layout.layers({name: torch.zeros(shape) for name, shape in others.items()}, SIZES)


def roles(parameters: Sequence[ParameterInfo]) -> list[dict[str, str]]:
    return [
        {role: f"{slot.unit.name}[{slot.part}]" for role, slot in layout.slots.items()}
        for layout in all_layouts(parameters)
    ]


@pytest.mark.parametrize(
    "shape", [(3, D, D), (D, 3, D), (D, D, 3), (3, 1, D, D), (1, D, 3 * D), (D, 1, 3 * D), (3 * D, 1, D)]
)
def test_a_fused_weight_may_hold_its_parts_along_any_axis(shape: tuple[int, ...]) -> None:
    (unit,) = units([parameter("w", *shape, owner="X")])
    assert unit.parts == 3
    layout = first_layout([parameter("w", *shape, owner="X")])
    found = layout.layers({"w": torch.randn(shape)}, SIZES)
    assert {name: tuple(layer.weight.shape) for name, layer in found.items()} == {
        "query": (D, D), "key": (D, D), "value": (D, D)
    }  # fmt: skip


def test_of_four_parts_one_is_the_output() -> None:
    assert roles([parameter("w", 4, D, D, owner="X")])[0] == {
        "query": "w[0]", "key": "w[1]", "value": "w[2]", "output": "w[3]"
    }  # fmt: skip


@pytest.mark.parametrize("shape", [(D,), (1, D), (D, 1), (1, 1, D)])
def test_a_bias_is_one_in_any_of_its_shapes(shape: tuple[int, ...]) -> None:
    (unit,) = units([parameter("wq", D, D, owner="X"), parameter("bq", *shape, owner="X")])
    assert unit.bias is not None


def test_biases_of_a_fused_weight_may_come_one_by_one() -> None:
    made = [
        *linear("qkv", 3 * D, bias=False),
        parameter("q_bias", D, owner="X"),
        parameter("v_bias", D, owner="X"),
    ]
    layers = first_layout(made).layers({info.name: torch.ones(info.shape) for info in made}, SIZES)
    assert {role: layer.bias is not None for role, layer in layers.items()} == {
        "query": True, "key": False, "value": True
    }  # fmt: skip


def test_names_that_say_the_same_of_several_layers_say_nothing() -> None:
    found = roles([info for name in ("k1", "k2", "k3") for info in linear(name)])
    assert {"query": "k1[0]", "key": "k2[0]", "value": "k3[0]"} in found


def test_any_two_roles_may_share_a_layer() -> None:
    found = roles([*linear("qv_proj", 2 * D), *linear("key_proj")])
    assert {"query": "qv_proj[0]", "value": "qv_proj[1]", "key": "key_proj[0]"} in found


def test_every_assignment_is_tried_as_it_is_and_turned_before_any_mixture() -> None:
    made = all_layouts([parameter(name, D, D, owner="X") for name in "abcd"])
    turns = [tuple(slot.order.turned for slot in layout.slots.values()) for layout in made]
    assert set(turns[:24]) == {(True,) * 4}
    assert set(turns[24:48]) == {(False,) * 4}
