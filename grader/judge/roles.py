"""Which parameter plays which role: layers are found by what they do, not by what they are called.

`layouts` lists the hypotheses about the roles of the layers (`grader.judge.units`), most plausible first. A
name that states a role (query/q/wq/to_q …) pins it: playing another one is a mistake. Names that say nothing
leave every assignment open, and the one under which the oracle reproduces the output is taken. A hypothesis
proves nothing by itself, so a worker that lies about names or shapes gains nothing.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from grader.judge.family import Convention, Family, Renumbering, Role
from grader.judge.oracle import Affine
from grader.judge.units import (
    INTO,
    OUT,
    ROLES,
    Misfit,
    Order,
    Stored,
    Unit,
    grouped,
    label_sizes,
    squeezed,
)
from grader.signature import Sizes, shape_of

MAX_LAYOUTS = 96  # of one way to cut the layers into heads
MAX_CUTS = 8
RENUMBERED, MIXED = 3, 4  # the last ranks of hypotheses
NO_LAYER = "x"  # what a role borrows that has no layer at all: the raw input


@dataclass(frozen=True, eq=False)
class Slot:
    """Where a role's weight or bias lives: piece `part` of a unit, stored in this order, and perhaps with
    an axis numbered otherwise than the other layers number it. In a weight of unequal pieces, `before` are
    the roles in front of it.

    Instances of other sizes may be built otherwise: `Misfit`.
    """

    role: Role
    unit: Unit
    part: int
    order: Order
    role_bias: Stored | None = None  # a vector of its own, where the unit has no bias for all parts
    renumbered: Renumbering | None = None
    before: tuple[Role, ...] = ()
    _views: dict[tuple[tuple[int, ...], Hashable], tuple[list[int], list[int]]] = field(
        default_factory=dict, repr=False
    )

    @property
    def has_bias(self) -> bool:
        return self.role_bias is not None or self.unit.bias is not None

    @property
    def is_turned(self) -> bool:
        """Stored the other way round than such a layer usually is."""
        return self.order.turned != self.unit.orders[self.role.name][0].turned

    @property
    def cut(self) -> str:
        """How the features lie, by the axes: "R H d"; empty where a layer has one axis only."""
        mark, axes = (INTO, self.role.into) if len(self.role.into) > 1 else (OUT, self.role.out)
        wanted = {ROLES: ROLES, **{f"{mark}{axis}": axis for axis in axes}}
        return (
            " ".join(wanted[label] for label in self.order.labels if label in wanted) if len(axes) > 1 else ""
        )

    def affine(self, values: Mapping[str, Tensor], sizes: Sizes) -> Affine:
        """The layer as (out, in) weight and bias, read from parameter values."""
        weight = self.piece(values, sizes)
        into = math.prod(weight.shape[len(self.role.out) :])
        bias = self._stored_bias
        vector = (
            None if bias is None else self._numbered(self._bias_view(bias.read(values), sizes)).reshape(-1)
        )
        return Affine(weight.reshape(-1, into), vector)

    def write(self, values: Mapping[str, Tensor], layer: Affine, sizes: Sizes) -> None:
        """Put a layer into parameter values, in place."""
        self.change(values, sizes, lambda view: layer.weight.reshape(view.shape))
        bias = self._stored_bias
        if bias is not None:
            whole = bias.read(values)
            view = self._bias_view(whole, sizes)
            view.copy_(
                torch.zeros_like(view)
                if layer.bias is None
                else self._as_stored(layer.bias.reshape(view.shape))
            )
            bias.put(values, whole)

    def change(self, values: Mapping[str, Tensor], sizes: Sizes, rule: Callable[[Tensor], Tensor]) -> None:
        """Put what a rule makes of the role's part of the weight in its place."""
        whole = self.unit.weight.read(values)
        view = self._view(whole, sizes)
        view.copy_(self._as_stored(rule(self._numbered(view))))
        self.unit.weight.put(values, whole)

    def piece(self, values: Mapping[str, Tensor], sizes: Sizes) -> Tensor:
        """The role's part of the weight, or of its gradient: the axes of its outputs, then of its inputs."""
        return self._numbered(self._view(self.unit.weight.read(values), sizes))

    def _view(self, whole: Tensor, sizes: Sizes) -> Tensor:
        if self.unit.shared:
            return self._own_share(whole, sizes, self.order.labels)
        key = (tuple(whole.shape), frozenset(sizes.items()))
        if key not in self._views:
            known = label_sizes(self.role, sizes, self.unit.parts)
            labels = self.order.labels
            if grouped(squeezed(whole.shape), labels, known) is None:
                raise Misfit(self.unit.weight.name)
            self._views[key] = [known[label] for label in labels], [labels.index(label) for label in known]
        shape, axes = self._views[key]
        found = whole.reshape(shape).permute(axes)
        return found.select(0, self.part) if self.unit.parts > 1 else found

    def _own_share(self, whole: Tensor, sizes: Sizes, labels: Sequence[str]) -> Tensor:
        """The role's piece among unequal ones: what stands before `R` in the order, each of them has."""
        known = {label: size for label, size in label_sizes(self.role, sizes, 1).items() if label in labels}
        outs = [label for label in labels[: labels.index(ROLES)] if not label.startswith(INTO)]
        runs = math.prod(known[label] for label in outs)
        into = math.prod(size for label, size in known.items() if label.startswith(INTO))
        widths = {role: math.prod(shape_of(role.out, sizes)) for role in self.unit.shared}
        total = sum(widths.values())
        if whole.numel() != total * into or any(width % runs for width in widths.values()):
            raise Misfit(self.unit.weight.name)
        shape = (into, runs, total // runs) if self.order.turned else (runs, total // runs, into)
        start = sum(widths[role] for role in self.before) // runs
        cut = whole.reshape(shape).narrow(1 + self.order.turned, start, widths[self.role] // runs)
        own = [label for label in labels if label != ROLES]
        return cut.reshape([known[label] for label in own]).permute([own.index(label) for label in known])

    @property
    def _stored_bias(self) -> Stored | None:
        return self.role_bias or self.unit.bias

    def _bias_view(self, whole: Tensor, sizes: Sizes) -> Tensor:
        """The role's part of a bias, by the axes of its outputs."""
        known = label_sizes(self.role, sizes, 1 if self.role_bias is not None else self.unit.parts)
        outs = [label for label in known if not label.startswith(INTO)]
        labels = [label for label in self.order.labels if label in outs]
        if self.unit.shared and self.role_bias is None:
            return self._own_share(
                whole, sizes, [label for label in self.order.labels if label in (*outs, ROLES)]
            )
        if self.order.cut == 0 or len(self.role.out) == 1:
            labels = outs  # a bias lies part by part, however its weight is turned
        if whole.numel() != math.prod(known[label] for label in outs):
            raise Misfit(self.unit.name)
        plain = whole.reshape([known[label] for label in labels])
        found = plain.permute([labels.index(label) for label in outs])
        return found.select(0, self.part) if ROLES in known else found

    def _numbered(self, piece: Tensor) -> Tensor:
        """A piece as it lies in storage, in the numbers that the other layers have."""
        places = self._renumbered_axes(piece)
        return piece if self.renumbered is None or not places else self.renumbered.apply(piece, places)

    def _as_stored(self, piece: Tensor) -> Tensor:
        places = self._renumbered_axes(piece)
        return piece if self.renumbered is None or not places else self.renumbered.undo(piece, places)

    def _renumbered_axes(self, piece: Tensor) -> tuple[int, ...]:
        """Where the axes are; a bias has none of the inputs' axes."""
        axes = (*self.role.out, *self.role.into)[: piece.dim()]
        wanted = self.renumbered.axis.split() if self.renumbered is not None else []
        return tuple(axes.index(axis) for axis in wanted if axis in axes)


@dataclass(frozen=True)
class Layout:
    """A hypothesis: the slot of each role. `borrowed` roles have no layer of their own.

    A borrowed role maps to the name of the role whose layer it uses, or to `NO_LAYER`.
    """

    slots: Mapping[str, Slot]
    fused: bool = False
    borrowed: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    lacking: Mapping[str, Role] = field(default_factory=dict)  # the borrowed roles
    convention: Convention | None = None  # of those that the kata leaves open

    @property
    def unusual(self) -> bool:
        """Possible in a right answer, not worth a search in a wrong one: a linear layer used as x @ W, heads
        that two layers cut in two unusual ways, or number in two ways.
        """
        slots = self.slots.values()
        linear = all(slot.unit.orders[slot.role.name][0].turned is False for slot in slots)
        free = [slot for slot in slots if len(slot.unit.orders[slot.role.name]) > 2]
        ways = [slot.order.cut for slot in free if slot.order.cut]
        alike = len(ways) <= 1 or (len(ways) == len(free) and len(set(ways)) == 1)
        renumbered = any(slot.renumbered is not None for slot in slots)
        return renumbered or not alike or (linear and any(slot.is_turned for slot in slots))

    def layers(
        self, values: Mapping[str, Tensor], sizes: Sizes, read: dict[Slot, Affine] | None = None
    ) -> dict[str, Affine]:
        """Each role's layer; raises `Misfit`. `read` keeps by slot what was read from the same values."""
        read = {} if read is None else read
        found: dict[str, Affine] = {}
        for role, slot in self.slots.items():
            if slot not in read:
                read[slot] = slot.affine(values, sizes)
            found[role] = read[slot]
        for role, source in self.borrowed.items():
            found[role] = self._nothing(role, sizes) if source == NO_LAYER else found[source]
        return found

    def _nothing(self, role: str, sizes: Sizes) -> Affine:
        """The raw input in a layer's place."""
        out, into = (
            math.prod(shape_of(axes, sizes)) for axes in (self.lacking[role].out, self.lacking[role].into)
        )
        if out != into:
            raise Misfit(role)
        return Affine(torch.eye(out))


Assigned = Mapping[str, tuple[Unit, int]]


def layouts(found: Sequence[Unit], family: Family) -> tuple[Layout, ...]:
    """Hypotheses about who plays what, and which convention is kept, most plausible first."""
    assigned = _Hypotheses(found, family).all()
    if not family.conventions:
        return assigned
    return tuple(replace(layout, convention=one) for layout in assigned for one in family.conventions)


class _Hypotheses:
    """The ways to give a family's roles to units."""

    def __init__(self, found: Sequence[Unit], family: Family) -> None:
        self._found = found
        self._family = family
        self._required = family.required
        self._whole = [unit for unit in found if unit.roles > 1 and list(self._packings(unit, whole=True))]
        self._partial = [unit for unit in found if unit.roles > 1 and unit not in self._whole]
        self._single = [unit for unit in found if unit.roles == 1]
        self._slots: dict[tuple[object, ...], Slot] = {}  # layouts share them

    def all(self) -> tuple[Layout, ...]:
        results: list[Layout] = []
        if self._whole:
            results += self._expand(self._fused(), fused=True)
        if self._partial and self._single and not self._whole:
            results += self._expand(self._paired(self._partial[0]))
        if len(self._single) >= len(self._required):
            results += self._expand(self._separate())
        if not results:
            results += self._borrowing()
        several = any(len(_cuts(unit)) > 1 for unit in self._found)
        return tuple(results[: MAX_LAYOUTS * (MAX_CUTS if several else 1)])

    def _packings(self, unit: Unit, *, whole: bool) -> Iterator[tuple[str, ...]]:
        """The packings that the unit may be, with every required role or not."""
        for packing in self._family.packings:
            complete = set(self._required) <= set(packing.roles)
            if len(packing.roles) == unit.roles and complete == whole and all(map(unit.plays, packing.roles)):
                yield packing.roles

    def _spare(self, role: str, units: Sequence[Unit]) -> list[Unit | None]:
        """What may play an optional role: the unit that says so, else any that says nothing, else none."""
        fitting = [unit for unit in units if unit.plays(role)]
        stated = [unit for unit in fitting if unit.states == role]
        silent = [unit for unit in fitting if unit.states is None]
        return [*(stated or silent)] or [None]

    def _fused(self) -> list[Assigned]:
        """All required roles in one weight, in any order, or in the one that the kata lays down."""
        found: list[Assigned] = []
        for unit in self._whole:
            for roles in self._packings(unit, whole=True):
                for order in [roles] if self._family.packed else itertools.permutations(roles):
                    own = {role: (unit, part) for part, role in enumerate(order)}
                    open_roles = [role for role in self._family.optional if role not in own]
                    spares = itertools.product(*(self._spare(role, self._single) for role in open_roles))
                    found += [{**own, **_given(open_roles, spare)} for spare in spares]
        return found

    def _paired(self, pair: Unit) -> list[Assigned]:
        """One weight for some of the roles, a layer for each of the others."""
        found: list[Assigned] = []
        for roles in self._packings(pair, whole=False):
            for order in itertools.permutations(roles):
                others = [role for role in self._required if role not in order]
                for chosen in itertools.permutations(self._single, len(others)):
                    if not all(
                        unit.states in (None, role) and unit.plays(role)
                        for role, unit in zip(others, chosen, strict=True)
                    ):
                        continue
                    rest = [unit for unit in self._single if unit not in chosen]
                    spare = [self._spare(role, rest)[0] for role in self._family.optional]
                    own = {role: (pair, part) for part, role in enumerate(order)}
                    found.append({**own, **_given(others, chosen), **_given(self._family.optional, spare)})
        return found

    def _separate(self) -> list[Assigned]:
        """A layer for each role. Names that state one role for several layers (k1, k2, k3) state nothing."""
        units = self._single
        said = Counter(unit.states for unit in units)
        names = [role.name for role in self._family.roles]
        pinned: dict[str, Unit] = {}
        for unit in units:
            if unit.states in names and said[unit.states] == 1 and unit.plays(unit.states):
                pinned[unit.states] = unit
        free = [unit for unit in units if unit not in pinned.values()]
        silent = [unit for unit in free if unit.states is None] or free
        open_roles = [role for role in self._required if role not in pinned]
        for role in self._family.optional:
            if len(silent) > len(open_roles) and role not in pinned:
                open_roles.append(role)
        found: list[Assigned] = []
        for chosen in itertools.permutations(silent, min(len(open_roles), len(silent))):
            own = {**pinned, **dict(zip(open_roles, chosen, strict=False))}
            if set(self._required) <= own.keys() and all(unit.plays(role) for role, unit in own.items()):
                found.append({role: (unit, 0) for role, unit in own.items()})
            if len(found) >= MAX_LAYOUTS:
                break
        return found

    def _borrowing(self) -> list[Layout]:
        """Fewer layers than roles: some role borrows a layer, or has none."""
        results: list[Layout] = []
        roles = self._required
        names = [role.name for role in self._family.roles]
        pinned = {unit.states: unit for unit in self._single if unit.states in names}
        silent = [unit for unit in self._single if unit.states not in names]
        for chosen in itertools.permutations(roles, min(len(silent), len(roles))):
            own = {**pinned, **dict(zip(chosen, silent, strict=False))}
            if not all(unit.plays(str(role)) for role, unit in own.items()):
                continue
            missing = [role for role in roles if role not in own]
            present = [role for role in roles if role in own]
            slots = {
                str(role): Slot(self._family.role(str(role)), unit, 0, unit.orders[str(role)][0])
                for role, unit in own.items()
            }
            lacking = {role: self._family.role(role) for role in missing}
            results += [
                Layout(slots=slots, borrowed=dict(zip(missing, sources, strict=True)), lacking=lacking)
                for sources in itertools.product(*(self._lenders(role, present) for role in missing))
            ]
        return results

    def _lenders(self, role: str, present: Sequence[str]) -> list[str]:
        """What a role without a layer may have in its place: layers that make the same, or none."""
        out = self._family.role(role).out
        return [*(other for other in present if self._family.role(other).out == out), NO_LAYER]

    def _expand(self, assignments: Sequence[Assigned], *, fused: bool = False) -> list[Layout]:
        """All assignments as their layers usually lie, then all turned, then cut otherwise, then numbered
        otherwise, then mixtures.
        """
        ranked: list[list[Layout]] = [[] for _ in range(MIXED + 1)]
        for roles in assignments:
            for rank, pick in _orders(dict(roles)):
                ranked[rank].append(self._layout(roles, pick, fused=fused))
        plain = [layout for layout in (*ranked[0], *ranked[1]) if not layout.unusual]
        ranked[RENUMBERED] += [
            self._renumbered(layout, way, roles) for way, roles in self._numberings() for layout in plain
        ]
        return [layout for rank in ranked for layout in rank]

    def _numberings(self) -> Iterator[tuple[Renumbering, tuple[str, ...]]]:
        """Which layers may have numbers of their own: not the first, since only differences can be seen."""
        for some in range(1, len(self._family.roles) + 1):
            for way in self._family.renumberings:
                axes = set(way.axis.split())
                having = [role.name for role in self._family.roles if axes <= {*role.out, *role.into}]
                free = having[1:] or having  # alone with an axis, it differs from what the plan says
                yield from ((way, chosen) for chosen in itertools.combinations(free, some))

    def _renumbered(self, layout: Layout, way: Renumbering, roles: Sequence[str]) -> Layout:
        """The same with other numbers in some of the layers."""
        slots = {
            role: self._slot(slot.role, slot.unit, slot.part, slot.order, slot.role_bias, slot.before, way)
            if role in roles
            else slot
            for role, slot in layout.slots.items()
        }
        return replace(layout, slots=slots)

    def _layout(self, roles: Assigned, pick: Mapping[str, Way], *, fused: bool) -> Layout:
        used = {unit.name for unit, _ in roles.values()}
        return Layout(
            slots={
                role: self._slot(
                    self._family.role(role),
                    unit,
                    part,
                    pick[unit.name].order(unit, role),
                    unit.role_biases.get(role),
                    self._before(roles, unit, part),
                )
                for role, (unit, part) in roles.items()
            },
            fused=fused,
            unused=tuple(unit.name for unit in self._found if unit.name not in used),
        )

    def _before(self, roles: Assigned, unit: Unit, part: int) -> tuple[Role, ...]:
        """The roles in front of a part of unequal ones."""
        if not unit.shared:
            return ()
        own = [(place, role) for role, (other, place) in roles.items() if other is unit and place < part]
        return tuple(self._family.role(role) for _, role in sorted(own))

    def _slot(
        self,
        role: Role,
        unit: Unit,
        part: int,
        order: Order,
        bias: Stored | None,
        before: tuple[Role, ...],
        way: Renumbering | None = None,
    ) -> Slot:
        key = (role.name, unit.name, part, order, before, way)
        if key not in self._slots:
            self._slots[key] = Slot(role, unit, part, order, bias, way, before)
        return self._slots[key]


def _given(roles: Sequence[str], units: Sequence[Unit | None]) -> dict[str, tuple[Unit, int]]:
    return {role: (unit, 0) for role, unit in zip(roles, units, strict=True) if unit is not None}


@dataclass(frozen=True)
class Way:
    """How a unit is taken to lie in storage."""

    turned: bool
    cut: int = 0

    def order(self, unit: Unit, role: str) -> Order:
        """The nearest of the orders that the unit's shape allows."""

        def distance(order: Order) -> tuple[bool, bool]:
            return order.turned != self.turned, order.cut != self.cut

        return min(unit.orders[role], key=distance)


def _turns(unit: Unit) -> list[bool]:
    """Each way round that the shape allows, the usual one first."""
    return list(dict.fromkeys(order.turned for orders in unit.orders.values() for order in orders))


def _cuts(unit: Unit) -> list[int]:
    """Each way to cut heads that the shape allows, the usual one first."""
    return sorted({order.cut for orders in unit.orders.values() for order in orders})


def _orders(roles: dict[str, tuple[Unit, int]]) -> Iterator[tuple[int, dict[str, Way]]]:
    """How all units may lie in storage, with a rank: as usual, all turned, cut otherwise, mixtures last."""
    units = list({unit.name: unit for unit, _ in roles.values()}.values())
    names = [unit.name for unit in units]
    turns = list(itertools.product(*map(_turns, units)))
    cuts = list(itertools.product(*map(_cuts, units)))
    last = tuple(_turns(unit)[-1] for unit in units)
    for cut in cuts:
        for turn in turns:
            usual = cut == cuts[0]
            if turn == turns[0]:
                rank = 0 if usual else 2
            elif turn == last:
                rank = 1 if usual else MIXED
            elif usual:
                rank = MIXED
            else:
                continue
            yield rank, dict(zip(names, itertools.starmap(Way, zip(turn, cut, strict=True)), strict=True))
