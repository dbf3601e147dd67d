"""Which parameter plays which role: layers are found by what they do, not by what they are called.

`layouts` lists the hypotheses about the roles of the layers (`grader.judge.units`), most plausible first. A
name that states a role (query/q/wq/to_q …) pins it: playing another one is a mistake. Names that say nothing
leave every assignment open, and the one under which the oracle reproduces the output is taken. A hypothesis
proves nothing by itself, so a worker that lies about names or shapes gains nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.judge.oracle import Affine
from grader.judge.units import Unit, squeezed
from grader.protocol import ParameterInfo

MAX_LAYOUTS = 96


class Misfit(Exception):
    """An instance has no parameter where the layout says that a role has one, or one of another shape."""


@dataclass(frozen=True)
class Slot:
    """Where a role's weight or bias lives: piece `part` of a unit.

    Instances of other widths may be built otherwise: `Misfit`.
    """

    unit: Unit
    part: int
    transposed: bool
    role_bias: ParameterInfo | None = None  # a vector of its own, where the unit has no bias for all parts

    @property
    def has_bias(self) -> bool:
        return self.role_bias is not None or self.unit.bias is not None

    def affine(self, values: Mapping[str, Tensor], hidden_dim: int) -> Affine:
        """The layer as (out, in) weight and bias, read from parameter values."""
        piece = self.weight(values, hidden_dim)
        return Affine(piece.mT if self.transposed else piece, self._bias(values, hidden_dim))

    def write(self, values: dict[str, Tensor], layer: Affine, hidden_dim: int) -> None:
        """Put a layer into parameter values, in place."""
        self.weight(values, hidden_dim).copy_(layer.weight.mT if self.transposed else layer.weight)
        bias = self._bias(values, hidden_dim)
        if bias is not None:
            bias.copy_(torch.zeros_like(bias) if layer.bias is None else layer.bias)

    def weight(self, values: Mapping[str, Tensor], hidden_dim: int) -> Tensor:
        """The role's part of the stored weight, a view."""
        return self.piece(_value(values, self.unit.weight.name), hidden_dim)

    def piece(self, weight: Tensor, hidden_dim: int) -> Tensor:
        """The role's part of a weight (or of its gradient), a view."""
        try:
            plain = weight.reshape(squeezed(weight.shape))
            if self.unit.stacked:
                found = plain.select(self.unit.axis, self.part)
            else:
                found = plain.narrow(self.unit.axis, self.part * hidden_dim, hidden_dim)
        except (IndexError, RuntimeError) as error:
            raise Misfit(self.unit.weight.name) from error
        if found.shape != (hidden_dim, hidden_dim):
            raise Misfit(self.unit.weight.name)
        return found

    def _bias(self, values: Mapping[str, Tensor], hidden_dim: int) -> Tensor | None:
        """The role's part of the bias, a view; None where there is none."""
        if self.role_bias is not None:
            own = _value(values, self.role_bias.name)
            if own.numel() != hidden_dim:
                raise Misfit(self.role_bias.name)
            return own.reshape(hidden_dim)
        if self.unit.bias is None:
            return None
        whole = _value(values, self.unit.bias.name)
        if whole.numel() != self.unit.parts * hidden_dim:
            raise Misfit(self.unit.bias.name)
        return whole.reshape(self.unit.parts, hidden_dim)[self.part]


def _value(values: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in values:
        raise Misfit(name)
    return values[name]


@dataclass(frozen=True)
class Layout:
    """A hypothesis: the slot of each role. `borrowed` roles have no layer of their own.

    A borrowed role maps to the name of the role whose layer it uses, or to "x" for no layer at all.
    """

    slots: Mapping[str, Slot]
    fused: bool = False
    borrowed: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    @property
    def unusual(self) -> bool:
        """A linear layer used as x @ W: possible in a right answer, not worth a search in a wrong one."""
        return any(slot.transposed != slot.unit.orientations[0] for slot in self.slots.values()) and all(
            slot.unit.orientations[0] is False for slot in self.slots.values()
        )

    def layers(self, values: Mapping[str, Tensor], hidden_dim: int) -> dict[str, Affine]:
        """Each role's layer; raises `Misfit`."""
        found = {role: slot.affine(values, hidden_dim) for role, slot in self.slots.items()}
        for role, source in self.borrowed.items():
            found[role] = Affine(torch.eye(hidden_dim)) if source == "x" else found[source]
        return found

    def parameters_of(self, role: str) -> tuple[str, ...]:
        slot = self.slots.get(role)
        if slot is None:
            return ()
        biases = (slot.unit.bias, slot.role_bias)
        return (slot.unit.weight.name, *(bias.name for bias in biases if bias is not None))


def layouts(found: Sequence[Unit], *, order_is_fixed: bool) -> tuple[Layout, ...]:
    """Hypotheses about who plays what, most plausible first.

    `order_is_fixed`: a fused projection must hold Q, K, V in that order (the kata says so).
    """
    results: list[Layout] = []
    fused = [unit for unit in found if unit.parts >= 3]
    pairs = [unit for unit in found if unit.parts == 2]
    squares = [unit for unit in found if unit.parts == 1]
    if fused:
        results += _fused_layouts(fused, squares, order_is_fixed)
    if pairs and squares and not fused:
        results += _paired_layouts(pairs[0], squares)
    if len(squares) >= 3:
        results += _separate_layouts(squares)
    if not results:
        results += _borrowing_layouts(squares)
    return tuple(results[:MAX_LAYOUTS])


def _orientations(slots: Mapping[str, Unit]) -> list[dict[str, bool]]:
    """Every orientation of the weights: each unit's own first, all turned, then mixtures."""
    unique = list(dict.fromkeys(unit.name for unit in slots.values()))
    choices = {unit.name: unit.orientations for unit in slots.values()}
    combined = [
        dict(zip(unique, picks, strict=True))
        for picks in itertools.product(*(choices[name] for name in unique))
    ]
    turned = [entry for entry in combined if all(entry[name] == choices[name][-1] for name in unique)]
    rest = [entry for entry in combined[1:] if entry not in turned]
    return list({tuple(entry.items()): entry for entry in (combined[0], *turned, *rest)}.values())


def _layout(
    roles: Mapping[str, tuple[Unit, int]], found: Sequence[Unit], turn: Mapping[str, bool], **more: object
) -> Layout:
    used = {unit.name for unit, _ in roles.values()}
    return Layout(
        slots={
            role: Slot(unit, part, turn[unit.name], unit.role_biases.get(role))
            for role, (unit, part) in roles.items()
        },
        unused=tuple(unit.name for unit in found if unit.name not in used),
        **more,  # type: ignore[arg-type]
    )


def _expand(
    assignments: Sequence[Mapping[str, tuple[Unit, int]]], found: Sequence[Unit], *, fused: bool
) -> list[Layout]:
    """All assignments in their own orientation first, then all turned, then every mixture."""
    made = [
        [
            _layout(roles, found, turn, fused=fused)
            for turn in _orientations({role: unit for role, (unit, _) in roles.items()})
        ]
        for roles in assignments
    ]
    own = [turns[0] for turns in made]
    turned = [layout for turns in made for layout in turns[1:2]]
    return [*own, *turned, *(layout for turns in made for layout in turns[2:])]


def _outputs(squares: Sequence[Unit]) -> list[Unit | None]:
    """What may be the output layer beside a fused projection: the one that says so, else any, else none."""
    stated = [unit for unit in squares if unit.states == "output"]
    silent = [unit for unit in squares if unit.states is None]
    return [*(stated or silent)] or [None]


def _fused_layouts(fused: Sequence[Unit], squares: Sequence[Unit], order_is_fixed: bool) -> list[Layout]:
    """Query, key and value in any order, or in this one; of four parts one is the output."""
    assignments = []
    for unit in fused:
        right = ("query", "key", "value", "output")[: unit.parts]
        for order in [right] if order_is_fixed else itertools.permutations(right):
            own = {role: (unit, part) for part, role in enumerate(order)}
            outputs = [None] if "output" in own else _outputs(squares)
            assignments += [{**own, **({"output": (output, 0)} if output else {})} for output in outputs]
    return _expand(assignments, [*fused, *squares], fused=True)


def _paired_layouts(pair: Unit, squares: Sequence[Unit]) -> list[Layout]:
    """One layer for two of the three roles, another for the third."""
    assignments = []
    twos = [("key", "value"), ("value", "key"), ("query", "key"), ("key", "query")]
    twos += [("query", "value"), ("value", "query")]
    for two in twos:
        third = next(role for role in ("query", "key", "value") if role not in two)
        for single in squares:
            if single.states in (None, third):
                rest = [unit for unit in squares if unit is not single]
                output = _outputs(rest)[0]
                roles = {two[0]: (pair, 0), two[1]: (pair, 1), third: (single, 0)}
                assignments.append({**roles, **({"output": (output, 0)} if output else {})})
    return _expand(assignments, [pair, *squares], fused=False)


def _separate_layouts(squares: Sequence[Unit]) -> list[Layout]:
    said = Counter(unit.states for unit in squares)
    pinned: dict[str, Unit] = {}
    for unit in squares:
        # Names that state one role for several layers (k1, k2, k3) state nothing.
        if unit.states in ("query", "key", "value", "output") and said[unit.states] == 1:
            pinned[unit.states] = unit
    free = [unit for unit in squares if unit not in pinned.values()]
    silent = [unit for unit in free if unit.states is None] or free
    open_roles = [role for role in ("query", "key", "value") if role not in pinned]
    if len(silent) > len(open_roles) and "output" not in pinned:
        open_roles.append("output")
    assignments = []
    for chosen in itertools.permutations(silent, min(len(open_roles), len(silent))):
        roles = {**pinned, **dict(zip(open_roles, chosen, strict=False))}
        if {"query", "key", "value"} <= roles.keys():
            assignments.append({role: (unit, 0) for role, unit in roles.items()})
        if len(assignments) >= MAX_LAYOUTS:
            break
    return _expand(assignments, squares, fused=False)


def _borrowing_layouts(squares: Sequence[Unit]) -> list[Layout]:
    """Fewer layers than roles: some role borrows a layer, or has none."""
    results: list[Layout] = []
    roles = ("query", "key", "value")
    pinned = {unit.states: unit for unit in squares if unit.states in (*roles, "output")}
    silent = [unit for unit in squares if unit.states not in (*roles, "output")]
    for chosen in itertools.permutations(roles, min(len(silent), 3)):
        own = {**pinned, **dict(zip(chosen, silent, strict=False))}
        missing = [role for role in roles if role not in own]
        present = [role for role in roles if role in own]
        slots = {str(role): Slot(unit, 0, unit.orientations[0]) for role, unit in own.items()}
        results += [
            Layout(slots=slots, borrowed=dict(zip(missing, sources, strict=True)))
            for sources in itertools.product((*present, "x"), repeat=len(missing))
        ]
    return results
