"""The layers among the parameters that an instance reports: a weight of a layer's shape, and its bias.

What counts is what a weight can do, not how it is stored: one of several parts in a fused weight, stacked or
side by side, with axes of size 1 or without, as (out, in) or as (in, out), cut into heads in one way or
another, one parameter for all heads or one for each.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from grader.judge.family import Family, Role
from grader.protocol import ParameterInfo
from grader.signature import Sizes, shape_of

MAX_UNITS = 12
LINEAR = ("Linear", "NonDynamicallyQuantizableLinear", "Conv1d", "LazyLinear")
FLOATS = ("float32", "float64", "float16", "bfloat16")
ROLES = "R"  # the label of the axis along which a packed weight holds its roles
OUT, INTO = "out:", "in:"


class Misfit(Exception):
    """An instance has no parameter where the layout says that a role has one, or one of another shape."""


@dataclass(frozen=True)
class Stored:
    """One tensor as it lies in the parameters: a parameter, or equal ones of all heads stacked.

    Of such the name has a `*` for the number; an instance with other sizes has more of them, or fewer.
    """

    name: str
    shape: tuple[int, ...]
    owner: str

    @classmethod
    def alone(cls, info: ParameterInfo) -> Stored:
        return cls(info.name, info.shape, info.owner)

    def members(self, known: Container[str]) -> list[str]:
        """The parameters of an instance that it is made of."""
        before, star, after = self.name.partition("*")
        if not star:
            return [self.name] if self.name in known else []
        numbered = (f"{before}{number}{after}" for number in itertools.count())
        return list(itertools.takewhile(lambda name: name in known, numbered))

    def read(self, values: Mapping[str, Tensor]) -> Tensor:
        """The tensor: what is changed in it is changed in a single parameter, and goes back with `put`
        else.
        """
        if self.name in values:
            return values[self.name]
        try:
            return torch.stack([values[name] for name in self.members(values)])
        except RuntimeError as error:  # none of them, or not all of one shape
            raise Misfit(self.name) from error

    def put(self, values: Mapping[str, Tensor], whole: Tensor) -> None:
        """What was changed in the tensor, back into the parameters that it was stacked from."""
        if self.name not in values:
            for name, part in zip(self.members(values), whole, strict=True):
                values[name].copy_(part)


@dataclass(frozen=True)
class Order:
    """How the axes of a weight lie in storage: labels such as `R`, `out:H` and `in:D`.

    `turned`: the inputs come first, as in x @ W. `cut`: its place among the orders that the family knows, 0
    for the usual one.
    """

    labels: tuple[str, ...]
    turned: bool
    cut: int = 0


@dataclass(frozen=True)
class Unit:
    """A layer: one weight, perhaps a bias, in `parts` equal pieces, each the layer of a role.

    Axes of size 1 count for nothing: a weight (hidden_dim, 1, hidden_dim), with an axis for its one head, is
    a square. `orders` are for each role that it may play how it may be stored, most plausible first.
    A weight that several roles share in unequal pieces is one part; `shared` are the roles.
    """

    name: str
    weight: Stored
    bias: Stored | None
    parts: int
    orders: Mapping[str, tuple[Order, ...]]
    states: str | None  # the role its name states
    outputs: int  # of one part
    fan_in: int
    role_biases: Mapping[str, Stored] = field(default_factory=dict)  # vectors of its parts, by role
    shared: tuple[Role, ...] = ()

    @property
    def roles(self) -> int:
        """How many roles it plays at once."""
        return len(self.shared) or self.parts

    def plays(self, role: str) -> bool:
        return role in self.orders


class Names:
    """What the names of layers state, in the words of a family."""

    def __init__(self, family: Family) -> None:
        self._roles = {word: role.name for role in family.roles for word in role.words}
        self._packed = {word: "+".join(pack.roles) for pack in family.packings for word in pack.words}
        whole = [pack.roles for pack in family.packings if pack.words]
        self._whole = {"+".join(roles): frozenset(roles) for roles in whole}
        self._required = frozenset(family.required)

    def states(self, name: str) -> str | None:
        """The role that a layer's name states, or roles joined by `+`; None when it contradicts itself."""
        whole = re.split(r"[^A-Za-z]+", name)
        words = [part for piece in whole for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", piece)]
        known = {**self._roles, **self._packed}
        found = {known[word] for word in (one.lower() for one in (*words, *whole)) if word in known}
        for packed, roles in self._whole.items():
            if roles <= found if self._required <= roles else roles == found:
                return packed
        complete = {packed for packed, roles in self._whole.items() if self._required <= roles}
        if len(found) > 1:
            found -= complete
        return found.pop() if len(found) == 1 else None


def squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    """Without the axes of size 1."""
    return tuple(size for size in shape if size != 1)


def label_sizes(role: Role, sizes: Sizes, parts: int) -> dict[str, int]:
    """The sizes of all labels of a role's weight, in the order in which a layer is applied."""
    out = {f"{OUT}{axis}": sizes[axis] for axis in role.out}
    into = {f"{INTO}{axis}": sizes[axis] for axis in role.into}
    return {**({ROLES: parts} if parts > 1 else {}), **out, **into}


class Finder:
    """Finds the layers of a family among parameters, at some sizes."""

    def __init__(self, family: Family, sizes: Sizes) -> None:
        self._family = family
        self._sizes = sizes
        self._names = Names(family)
        self._known: dict[tuple[object, ...], tuple[Order, ...]] = {}
        self._several = sorted({len(packing.roles) for packing in family.packings}, reverse=True)

    def units(self, parameters: Sequence[ParameterInfo]) -> tuple[Unit, ...]:
        """The layers among the parameters: weights of a shape that a role can have, with their biases."""
        floats = [Stored.alone(info) for info in parameters if info.dtype in FLOATS]
        floats = self._gathered(floats)
        found: list[Unit] = []
        taken: set[str] = set()
        for stored in floats:
            unit = self._unit(stored)
            if unit is not None:
                bias = self._bias_for(unit, floats, taken)
                taken |= {bias.name} if bias is not None else set()
                found.append(replace(unit, bias=bias))
        found = self._with_listed_biases(found, floats, taken)[:MAX_UNITS]
        return tuple(self._with_role_biases(unit, floats, taken) for unit in found)

    def _gathered(self, floats: list[Stored]) -> list[Stored]:
        """Equal parameters of all heads, `heads.0.query.weight` and so on, as one; where there are heads."""
        heads = {role.out[:some] for role in self._family.roles for some in range(1, len(role.out))}
        counts = {math.prod(shape_of(axes, self._sizes)) for axes in heads} - {1}
        if not counts:
            return floats
        groups: dict[tuple[str, str, tuple[int, ...]], dict[int, Stored]] = {}
        for stored in floats:
            for number in re.finditer(r"(?:^|(?<=\.))\d{1,3}(?=\.|$)", stored.name):
                before, after = stored.name[: number.start()], stored.name[number.end() :]
                groups.setdefault((before, after, stored.shape), {})[int(number.group())] = stored
        joined: dict[str, Stored] = {}
        for (before, after, shape), members in groups.items():
            if len(members) in counts and sorted(members) == list(range(len(members))):
                whole = Stored(f"{before}*{after}", (len(members), *shape), members[0].owner)
                if self._is_of_heads(whole):
                    joined |= {member.name: whole for member in members.values()}
        return list(dict.fromkeys(joined.get(stored.name, stored) for stored in floats))

    def _is_of_heads(self, stored: Stored) -> bool:
        """Whether the stacked tensor is a layer, or the bias of one, whose first axis are the heads."""
        unit = self._unit(stored)
        if unit is not None:
            firsts = {order.labels[0] for orders in unit.orders.values() for order in orders}
            return any(first.startswith(OUT) for first in firsts)
        return any(
            squeezed(stored.shape) == squeezed([math.prod(sizes[:some]), parts * math.prod(sizes[some:])])
            for role in self._family.roles
            for sizes in [shape_of(role.out, self._sizes)]
            for some in range(1, len(sizes))
            for parts in (1, *self._several)
        )

    def _unit(self, stored: Stored) -> Unit | None:
        for parts in (1, *self._several):
            orders: dict[str, tuple[Order, ...]] = {}
            for role in self._roles_in(parts):
                fitting = self._orders(stored, role, parts)
                if fitting:
                    orders[role.name] = fitting
            if orders:
                role = self._family.role(next(iter(orders)))
                name = _layer_name(stored.name)
                states = self._names.states(name)
                return Unit(
                    name=name,
                    weight=stored,
                    bias=None,
                    parts=parts,
                    orders=orders,
                    states=None if parts == 1 and states is not None and "+" in states else states,
                    outputs=math.prod(shape_of(role.out, self._sizes)),
                    fan_in=math.prod(shape_of(role.into, self._sizes)),
                )
        return self._unequal(stored)

    def _unequal(self, stored: Stored) -> Unit | None:
        """A weight that the roles of a packing share in pieces of several widths."""
        for packing in self._family.packings:
            roles = tuple(map(self._family.role, packing.roles))
            total = sum(math.prod(shape_of(role.out, self._sizes)) for role in roles)
            orders = {role.name: self._unequal_orders(stored, role, total) for role in roles}
            if all(orders.values()) and len({role.into for role in roles}) == 1:
                fan_in = math.prod(shape_of(roles[0].into, self._sizes))
                name = _layer_name(stored.name)
                return Unit(name, stored, None, 1, orders, None, total, fan_in, shared=roles)
        return None

    def _unequal_orders(self, stored: Stored, role: Role, total: int) -> tuple[Order, ...]:
        """How a role's piece may lie in such a weight: in one run, or some of it in each of several."""
        into = tuple(f"{INTO}{axis}" for axis in role.into)
        fan_in = math.prod(shape_of(role.into, self._sizes))
        if math.prod(stored.shape) != total * fan_in:
            return ()
        found = []
        for cut, run in enumerate(self._known_runs(role)):
            found += [
                Order((*into, *run) if turned else (*run, *into), turned, cut)
                for turned, first in ((False, total), (True, fan_in))
                if first in itertools.accumulate(stored.shape, operator.mul)
            ]
        return tuple(sorted(found, key=lambda order: (order.cut, order.turned == (stored.owner in LINEAR))))

    def _roles_in(self, parts: int) -> list[Role]:
        """The roles that a part of such a weight may play: those of a packing have one shape."""
        if parts == 1:
            return list(self._family.roles)
        fitting = [packing.roles for packing in self._family.packings if len(packing.roles) == parts]
        return [role for role in self._family.roles if any(role.name in roles for roles in fitting)]

    def _orders(self, stored: Stored, role: Role, parts: int) -> tuple[Order, ...]:
        """Every way in which a weight of this role may lie in such a shape; thought out once."""
        key = (stored.shape, role.out, role.into, parts, stored.owner in LINEAR)
        if key not in self._known:
            self._known[key] = self._thought_out(stored, role, parts)
        return self._known[key]

    def _thought_out(self, stored: Stored, role: Role, parts: int) -> tuple[Order, ...]:
        sizes = label_sizes(role, self._sizes, parts)
        if math.prod(stored.shape) != math.prod(sizes.values()):
            return ()
        single = [label for label, size in sizes.items() if size == 1]
        known = self._known_runs(role)
        found: dict[tuple[str, ...], Order] = {}
        for labels in itertools.permutations(label for label, size in sizes.items() if size > 1):
            groups = grouped(squeezed(stored.shape), labels, sizes)
            if groups is None:
                continue
            for cut, run in enumerate(known):
                if all(len(group) == 1 or _is_within(group, run, sizes) for group in groups):
                    order = Order((*labels, *single), _is_turned(labels), cut)
                    found.setdefault(order.labels, order)
        linear = stored.owner in LINEAR
        return tuple(sorted(found.values(), key=lambda order: (order.cut, order.turned == linear)))

    def _known_runs(self, role: Role) -> list[tuple[str, ...]]:
        """The orders of what is cut into heads: of the outputs, else of the inputs."""
        inputs = len(role.into) > len(role.out)
        axes, mark = (role.into, INTO) if inputs else (role.out, OUT)
        runs = [_run(order.split(), axes, mark) for order in self._family.orders if len(axes) > 1]
        return list(dict.fromkeys(runs)) or [(ROLES, *(f"{mark}{axis}" for axis in axes))]

    def _bias_for(self, unit: Unit, floats: Sequence[Stored], taken: set[str]) -> Stored | None:
        """The bias of a weight: in the same module, or a free vector whose name states the same role."""
        weight = unit.weight

        def free_vector(stored: Stored) -> bool:
            return stored.name not in taken and self._is_vector(stored, unit)

        head, _, leaf = weight.name.rpartition(".")
        if leaf in ("weight", "kernel"):
            wanted = f"{head}.bias" if head else "bias"
            return next((stored for stored in floats if stored.name == wanted and free_vector(stored)), None)
        role = self._names.states(weight.name)
        vectors = [
            stored for stored in floats if free_vector(stored) and stored.name.rpartition(".")[2] != "weight"
        ]
        if role is not None:
            return next((stored for stored in vectors if self._names.states(stored.name) == role), None)
        low = leaf.lower()
        twins = {re.sub("^w", "b", low), re.sub("weight|kernel", "bias", low)} - {low}
        return next((stored for stored in vectors if stored.name.rpartition(".")[2].lower() in twins), None)

    def _is_vector(self, stored: Stored, unit: Unit) -> bool:
        """Whether it can be the unit's bias: one number for each output, in one row or one for each part or
        head.
        """
        shape = squeezed(stored.shape)
        if shape == (unit.parts * unit.outputs,):
            return True
        return any(
            grouped(shape, labels, sizes) is not None
            for name in unit.orders
            for sizes in [label_sizes(self._family.role(name), self._sizes, unit.parts)]
            for labels in [tuple(label for label in sizes if not label.startswith(INTO))]
        )

    def _with_role_biases(self, unit: Unit, floats: Sequence[Stored], taken: set[str]) -> Unit:
        """A fused weight without a bias for all: vectors whose names state a role belong to its parts."""
        if unit.parts == 1 or unit.bias is not None:
            return unit
        vectors = [
            stored
            for stored in floats
            if stored.name not in taken and squeezed(stored.shape) == (unit.outputs,)
        ]
        stated = {role: stored for stored in vectors if (role := self._names.states(stored.name)) is not None}
        return replace(unit, role_biases=stated)

    def _with_listed_biases(self, found: list[Unit], floats: Sequence[Stored], taken: set[str]) -> list[Unit]:
        """Vectors that no name pairs with a weight (a ParameterList) belong to the bare weights, in order."""
        bare = [unit for unit in found if unit.bias is None and "Linear" not in unit.weight.owner]
        weights = {unit.weight.name for unit in found}
        vectors = [
            stored
            for stored in floats
            if stored.name not in taken | weights
            and "Norm" not in stored.owner
            and any(self._is_multiple(stored, unit.outputs) for unit in found)
        ]
        lists = {
            unit.name: vector
            for unit, vector in zip(bare, vectors, strict=False)
            if math.prod(vector.shape) == unit.parts * unit.outputs
        }
        if len(lists) != len(bare):
            return found
        return [replace(unit, bias=lists.get(unit.name, unit.bias)) for unit in found]

    def _is_multiple(self, stored: Stored, outputs: int) -> bool:
        """Whether a bias can have this shape: so many outputs, or as many for each of some parts."""
        *parts, last = squeezed(stored.shape) or (0,)
        return (not parts and last % outputs == 0 < last) or (len(parts) == 1 and last == outputs > parts[0])


def grouped(shape: Sequence[int], labels: Sequence[str], sizes: Mapping[str, int]) -> list[list[str]] | None:
    """The labels dealt out to the axes of a shape, in order, so that the sizes agree; None where they do
    not.
    """
    rest = [label for label in labels if sizes[label] > 1]
    groups: list[list[str]] = []
    for size in shape:
        group: list[str] = []
        while rest and math.prod(sizes[label] for label in group) < size:
            group.append(rest.pop(0))
        if math.prod(sizes[label] for label in group) != size:
            return None
        groups.append(group)
    return None if rest else groups


def _is_within(group: Sequence[str], run: Sequence[str], sizes: Mapping[str, int]) -> bool:
    """Whether the labels stand side by side in that order, but for labels of size 1."""
    known = [label for label in run if sizes.get(label, 1) > 1]
    return any(known[start : start + len(group)] == list(group) for start in range(len(known)))


def _run(order: Sequence[str], axes: Sequence[str], mark: str) -> tuple[str, ...]:
    """`R H K` as labels, without what the role has not."""
    return tuple(axis if axis == ROLES else mark + axis for axis in order if axis == ROLES or axis in axes)


def _is_turned(labels: Sequence[str]) -> bool:
    """Whether an input axis comes before an output axis."""
    firsts = [place for place, label in enumerate(labels) if label.startswith(INTO)]
    lasts = [place for place, label in enumerate(labels) if label.startswith(OUT)]
    return bool(firsts and lasts) and firsts[0] < lasts[-1]


def _layer_name(parameter: str) -> str:
    head, _, leaf = parameter.rpartition(".")
    return head if head and leaf in ("weight", "bias", "kernel") else parameter
