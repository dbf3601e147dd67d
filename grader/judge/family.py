"""What a family of katas is, as content says it: steps, layers, probes, and what must hold of any answer.

Nothing here is about one kata. A kata's `family.py` holds one `Family`, and the judge reads everything from
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from grader.judge.oracle import Context, Plan, Step
from grader.judge.probes import Drawn, Probe
from grader.signature import Sizes


@dataclass(frozen=True)
class Role:
    """A layer by what it does: from the axes `into` to the axes `out`, in this order where it is applied.

    `words` are names that state it; `conventional` is what the solution calls it. An answer may do without an
    optional one.
    """

    name: str
    out: tuple[str, ...] = ("D",)
    into: tuple[str, ...] = ("D",)
    words: frozenset[str] = frozenset()
    optional: bool = False
    conventional: str = ""


@dataclass(frozen=True)
class Packing:
    """Roles that may share one weight, in any order unless the kata lays it down; `words` are names for
    it.
    """

    roles: tuple[str, ...]
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Renumbering:
    """Another numbering of an axis that some layers may have and others not: backward, or rolled. Of several
    axes, which are one in the layers that are not renumbered, all at once.

    Layers that number the heads otherwise are the same function with other parameters, as long as each of
    them keeps to its numbers.
    """

    axis: str
    by: int = 0  # rolled by so many places; 0: backward

    def apply(self, piece: Tensor, places: tuple[int, ...]) -> Tensor:
        return piece.roll([self.by] * len(places), places) if self.by else piece.flip(places)

    def undo(self, piece: Tensor, places: tuple[int, ...]) -> Tensor:
        return piece.roll([-self.by] * len(places), places) if self.by else piece.flip(places)


@dataclass(frozen=True)
class Reveal:
    """How an answer is set so that its output is the weights of its mix.

    The rows of input `tokens` become one-hot, the layer `value` hands each head the same first features, and
    the layer `last` is the identity: so feature r of a head is the weight on the token whose place is r.
    That takes as many features a head as there are tokens. Without a layer `value` the tokens are the values
    themselves.
    """

    tokens: str = "x"
    value: str = ""  # a role
    last: str = ""  # a role
    stronger: str = ""  # a role whose layer is made stronger, so that people can read the map
    weights: str = "weights"  # the tensor of the plan that the output shows
    logits: str = "scores"  # the tensor of the plan that weights are made of, as it is first made
    deciding: frozenset[str] = frozenset()  # the steps that decide what a row sums to
    after: frozenset[str] = frozenset()  # the steps between the weights and the output
    heads: str = ""  # the axis of the heads
    width: str = "D"  # the axis of a head's features
    dropout: Probe | None = None
    dropout_masked: Probe | None = None


@dataclass(frozen=True)
class Convention:
    """One of several ways that a kata leaves open: what is otherwise in its plan. An answer keeps to one.

    `says` is the note that tells which it was.
    """

    name: str
    steps: Mapping[str, Step] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True)
class Table:
    """A table that can be read off an output, for a report: (…, rows, columns), of which the worst is shown.

    `read` takes the oracle's context of the call and an output; `rows` gives the names of the rows,
    (…, rows) of them, and `columns` those of the columns.
    """

    title: str
    read: Callable[[Context, Tensor], Tensor]
    rows: Callable[[Context], Sequence[Sequence[str]]]
    columns: Callable[[Context], Sequence[str]]


@dataclass(frozen=True)
class Relation:
    """What a change of the input must do to the output, whatever the answer computes.

    `parts` are what must be equal: of the output before the change and of the one after it.
    """

    name: str
    change: Callable[[Drawn], Drawn]
    parts: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Remark:
    """What a kata has to say of one right way among several; it costs nothing."""

    id: str
    text: str
    line: int | None = None


@dataclass(frozen=True)
class Family:
    """The structure of a kata.

    `orders` are the ways in which the outputs of a weight may be laid out, `R` for the roles of a packed
    one, the usual one first; `renumberings`, each beside its inverse and likely ones first, are how some of
    the layers may number what others number as usual; `derived` are the sizes that follow from others;
    `conventions` are the right ways that the kata leaves open, the usual one first; `remarks` tell of an
    answer that passes what else it leaves open; `words` are how candidates call an axis in their comments.
    """

    plan: Plan
    standard: tuple[Probe, ...]
    further: tuple[Probe, ...] = ()
    roles: tuple[Role, ...] = ()
    packings: tuple[Packing, ...] = ()
    packed: bool = False  # the kata asks for one weight, with the roles of the first packing in this order
    orders: tuple[str, ...] = ()
    renumberings: tuple[Renumbering, ...] = ()
    derived: Mapping[str, Callable[[Sizes], int]] = field(default_factory=dict)
    conventions: tuple[Convention, ...] = ()
    reveal: Reveal | None = None
    table: Table | None = None  # where there are no weights to be revealed
    relations: tuple[Relation, ...] = ()
    remarks: tuple[Callable[..., Remark | None], ...] = ()  # each looks at a `Candidate`
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    formula: str = "the formula"  # as a check names it

    def sizes(self, some: Sizes) -> Sizes:
        """With those that follow from them."""
        sizes = dict(some)
        for axis, rule in self.derived.items():
            sizes.setdefault(axis, rule(sizes))
        return sizes

    def role(self, name: str) -> Role:
        return next(role for role in self.roles if role.name == name)

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that no answer does without."""
        return tuple(role.name for role in self.roles if not role.optional)

    @property
    def optional(self) -> tuple[str, ...]:
        return tuple(role.name for role in self.roles if role.optional)

    @property
    def features(self) -> frozenset[str]:
        """What forms may rely on: which optional roles have a step, and whether the order is laid down."""
        stepped = {step.role for step in self.plan.values()}
        names = {f"{role}_step" if role in stepped else f"no_{role}_step" for role in self.optional}
        return frozenset(names | {"fixed_order"} if self.packed else names)

    def plan_of(self, lacking: frozenset[str], convention: Convention | None) -> Plan:
        """The plan of an answer that has no layer for these roles and keeps to this convention."""
        plan = self.plan if convention is None else {**self.plan, **convention.steps}
        if not any(step.role in lacking for step in plan.values()):
            return plan
        return {
            name: replace(step, run=step.without) if step.role in lacking and step.without else step
            for name, step in plan.items()
        }

    @property
    def by_stage(self) -> dict[int, Probe]:
        """The first standard probe of each stage."""
        first: dict[int, Probe] = {}
        for probe in self.standard:
            first.setdefault(probe.stage, probe)
        return first

    @property
    def base(self) -> Probe:
        return self.standard[0]

    @property
    def masked(self) -> Probe | None:
        """The first probe with a mask, where a call may also come without."""
        return next(
            (probe for probe in self.standard if probe.mask is not None and probe is not self.base), None
        )

    @property
    def turned(self) -> Probe | None:
        """The first probe that is put in several calls."""
        return next((probe for probe in self.standard if probe.turns), None)

    def like_base(self, name: str, *, masked: bool = False) -> Probe:
        """Other numbers in the shapes of the first probe, or of the first one with a mask."""
        probe = self.masked if masked and self.masked is not None else self.base
        return probe.named(name, traced=False)
