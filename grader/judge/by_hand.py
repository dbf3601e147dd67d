"""A counterexample that fits on paper: whole numbers on which the answer is wrong for the named reason.

Found by the oracle alone: the right steps and the explaining mistakes are run on tiny inputs until they part,
then what is not needed is taken out. Only then is the candidate's code called, once: what it gives must be
what the explanation gives, or nothing is shown.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import torch
from torch import Tensor

from grader.judge.candidate import Candidate
from grader.judge.explain import Explanation
from grader.judge.instruments import Bench
from grader.judge.oracle import (
    CRASHES,
    NOTHING,
    Affine,
    Context,
    Variant,
    compose,
    output_of,
    run,
    same,
)
from grader.judge.pictures import distances
from grader.judge.probes import Drawn, MaskSpec, Probe, draw
from grader.judge.units import Misfit
from grader.records import ByHand, HandMatrix
from grader.signature import Input, Sizes, shape_of

MOST_NUMBERS = 16  # in one input
APART = 0.05  # what the eye sees at three decimals
MOST_KINDS = 4  # of calls, by their axes and numbers
FEW = 4  # of the least sizes, and of the largest with one sample and with two
DRAWS = 6  # of one kind of numbers, for one size and one setting of the layers
MAX_RUNS = 300  # of the oracle: some 150 ms
# Widths whose roots are whole; 2 where heads or pairs need it.
SMALL = {"B": (1, 2), "D": (1, 4, 8), "H": (1, 2), "G": (1, 2), "d": (1, 4, 2)}
OTHERWISE = (2, 3, 4)  # lengths, and what else an axis may count
KINDS = {
    "few": (0, 0, 0, 1, 2),
    "signs": (-1, 0, 0, 1, 2),
    "many": (-2, -1, 0, 1, 2, 3),
    "large": (0, 1, 1000),
}
HALF = 0.5  # of the keys are visible
CHANGES = ("swap", "sign", "turn")


@dataclass(frozen=True)
class _Setting:
    """Every layer the identity, but perhaps one."""

    role: str = ""
    change: str = ""  # "swap": its first two features change places; "sign": it negates; "turn": all move on

    def layer(self, role: str, out: int, into: int) -> Affine:
        weight = torch.eye(out, into)
        if role == self.role and self.change == "swap" and out > 1:
            weight[[0, 1]] = weight[[1, 0]]
        if role == self.role and self.change == "sign":
            weight = -weight
        if role == self.role and self.change == "turn":
            weight = weight.roll(1, 0)
        return Affine(weight, None)


@dataclass(frozen=True)
class _Found:
    drawn: Drawn
    setting: _Setting
    right: Context
    wrong: Context


class _Search:
    """Looks for an input on which the right steps and the mistakes part, within a number of runs."""

    def __init__(self, candidate: Candidate, explanation: Explanation, variant: Variant) -> None:
        self._candidate = candidate
        self._plan = candidate.plan_for(explanation.layout)
        self._roles = [role for role in candidate.family.roles if role.name in explanation.layout.slots]
        self._variant = variant
        self._left = MAX_RUNS

    def found(self) -> Iterator[_Found]:
        """Counterexamples, the simplest kinds first: where nothing else does, one layer is no identity."""
        for probe, setting, kind, number in self._tries():
            if self._left <= 0:
                return
            drawn = _whole(self._candidate, probe, KINDS[kind], f"{kind} {number}")
            hit = self._parts(drawn, setting)
            if hit:
                yield self._shrunk(hit)

    def _tries(self) -> Iterator[tuple[Probe, _Setting, str, int]]:
        probes = list(_probes(self._candidate))
        large = sorted(probes, key=lambda probe: (probe.mask is not None, -math.prod(probe.sizes.values())))
        some = [*large[:2], *[probe for probe in large if probe.mask is not None][:1]]
        others = [_Setting(role.name, change) for change in CHANGES for role in self._roles]
        kinds = list(KINDS) if not self._roles else [kind for kind in KINDS if kind != "large"]
        plain = _Setting()
        for number in range(2):
            yield from ((probe, plain, kind, number) for kind in kinds for probe in probes)
        yield from ((probe, one, "many", number) for one in others for number in (0, 1) for probe in some)
        for number in range(2, DRAWS):
            yield from ((probe, plain, kind, number) for kind in kinds for probe in probes)

    def _parts(self, drawn: Drawn, setting: _Setting) -> _Found | None:
        """Both ways on that input, where their results are apart for the eye."""
        self._left -= 1
        layers = {
            role.name: setting.layer(role.name, *_shape(role.out, role.into, drawn.sizes))
            for role in self._roles
        }
        start = Context(
            self._plan,
            drawn.inputs,
            layers,
            mask=drawn.mask,
            visible=drawn.visible,
            sizes=drawn.sizes,
            names=self._candidate.signature.axes,
            numbers=drawn.probe.numbers,
        )
        try:
            with torch.inference_mode():
                right, wrong = run(self._plan, start), run(self._plan, start, self._variant)
        except CRASHES:
            return None
        one, other = output_of(right), output_of(wrong)
        if one.shape != other.shape or not bool(torch.isfinite(one.float()).all()):
            return None
        return _Found(drawn, setting, right, wrong) if float(distances(one, other).max()) >= APART else None

    def _shrunk(self, found: _Found) -> _Found:
        """The same with numbers taken out, or made smaller, as long as the results stay apart."""
        for name, value in found.drawn.floats.items():
            for place in range(value.numel()):
                now = found.drawn.inputs[name].flatten()[place]
                for smaller in (0.0, math.copysign(1.0, float(now))):
                    if abs(smaller) >= abs(float(now)) or self._left <= -MAX_RUNS:
                        continue
                    fewer = found.drawn.inputs[name].clone()
                    fewer.view(-1)[place] = smaller
                    kept = self._parts(found.drawn.but(**{name: fewer}), found.setting)
                    if kept is not None:
                        found = kept
                        break
        return found


def by_hand(bench: Bench) -> ByHand | None:
    """The smallest example of what is wrong; None where the mistake has no values, or no small ones."""
    candidate, explanation = bench.candidate, bench.steps.explanation
    if explanation is None or not explanation.forms or explanation.layout.borrowed:
        return None
    variant = compose(explanation.forms)
    if variant is None or candidate.family.turned is not None:
        return None
    for found in itertools.islice(_Search(candidate, explanation, variant).found(), 4):
        actual = _called(candidate, explanation, found)
        if actual is not None and same(actual, output_of(found.wrong).to(actual.dtype), atol=1e-3):
            return _told(candidate, found, actual)
    return None


def _probes(candidate: Candidate) -> Iterator[Probe]:
    """The sizes that fit on paper, small ones first: without a mask, then with one."""
    family, mask = candidate.family, candidate.signature.mask
    kinds = {
        (tuple(probe.axes.items()), tuple(probe.numbers.items())): probe
        for probe in reversed(family.standard)
    }
    floats = {one.name for one in _given(candidate) if one.kind == "float"}
    plain = [
        probe for probe in reversed(kinds.values()) if not floats & probe.change.keys() and not probe.turns
    ]
    spec = family.base.mask or (family.masked.mask if family.masked else None)
    masks: list[MaskSpec | None] = [None] if family.base.mask is None else []
    masks += [MaskSpec(spec.axes, torch.int64)] if mask is not None and spec is not None else []
    for shown, probe in itertools.product(masks, plain[:MOST_KINDS]):
        for place, sizes in enumerate(_small(candidate, probe)):
            name = f"by_hand_{probe.name}_{place}_{shown is not None}"
            yield Probe(name, sizes, mask=shown, axes=probe.axes, numbers=probe.numbers, change=probe.change)


def _small(candidate: Candidate, probe: Probe) -> list[Sizes]:
    """Sizes for such a call, the least first; an axis that none of its tensors has is 1."""
    used = {axis for one in _given(candidate) for axis in probe.axes.get(one.name, one.axes).split()}
    built = set(candidate.signature.built(probe.sizes))
    choices = [SMALL.get(axis, OTHERWISE) if axis in used | built else (1,) for axis in probe.sizes]
    every: list[Sizes] = [
        dict(zip(probe.sizes, picked, strict=True)) for picked in itertools.product(*choices)
    ]
    fitting = [sizes for sizes in every if _fits(candidate, probe, sizes)]
    fitting.sort(key=lambda sizes: (math.prod(sizes.values()), sizes.get("B", 1)))
    rest = fitting[FEW:]
    batches = [[sizes for sizes in rest if (sizes.get("B", 1) > 1) is several] for several in (False, True)]
    return fitting[:FEW] + [sizes for of_batch in batches for sizes in of_batch[-FEW:]]


def _given(candidate: Candidate) -> list[Input]:
    return [one for one in candidate.signature.inputs if one.is_tensor]


def _fits(candidate: Candidate, probe: Probe, sizes: Sizes) -> bool:
    """Whether heads divide the width, each in a group, and no input has more numbers than one can follow."""
    if sizes.get("D", 0) % sizes.get("H", 1) or sizes.get("H", 1) % sizes.get("G", 1):
        return False
    whole = candidate.family.sizes(sizes)
    counts = (
        math.prod(shape_of(probe.axes.get(one.name, one.axes), whole))
        for one in _given(candidate)
        if one is not candidate.signature.mask
    )
    return min(whole.values()) > 0 and max(counts, default=0) <= MOST_NUMBERS


def _whole(candidate: Candidate, probe: Probe, numbers: Sequence[int], name: str) -> Drawn:
    """The probe's tensors with whole numbers in them; a mask hides something, and in each row not all."""
    sizes, mask = candidate.family.sizes(probe.sizes), candidate.signature.mask
    drawn = draw(replace(probe, mask=None), candidate.signature, sizes, 1)
    generator = torch.Generator().manual_seed(_number_of(f"{probe.name} {name}"))
    chosen = {
        key: torch.tensor(numbers)[torch.randint(len(numbers), value.shape, generator=generator)].float()
        for key, value in drawn.floats.items()
    }
    drawn = replace(drawn.but(**chosen), probe=probe)
    if probe.mask is None or mask is None:
        return drawn
    visible = torch.rand(shape_of(probe.mask.axes, sizes), generator=generator) < HALF
    visible[..., 0] |= ~visible.any(dim=-1)
    shown = {**drawn.inputs, mask.name: visible.long()}
    return replace(drawn, inputs=shown, mask_name=mask.name, visible=visible)


def _number_of(name: str) -> int:
    """A number that a name stands for, on every machine the same."""
    return sum(ord(sign) * (place + 1) for place, sign in enumerate(name))


def _shape(out: Sequence[str], into: Sequence[str], sizes: Sizes) -> tuple[int, int]:
    return math.prod(sizes[axis] for axis in out), math.prod(sizes[axis] for axis in into)


def _called(candidate: Candidate, explanation: Explanation, found: _Found) -> Tensor | None:
    """What the candidate's code gives on it, with the layers set so."""
    drawn = found.drawn
    rig = candidate.rig(drawn.probe.sizes, 0.0)
    if rig.problem is not None:
        return None
    values = {name: torch.zeros_like(value) for name, value in rig.values.items()}
    try:
        for name, slot in explanation.layout.slots.items():
            shape = _shape(slot.role.out, slot.role.into, drawn.sizes)
            slot.write(values, found.setting.layer(name, *shape), drawn.sizes)
    except Misfit:
        return None
    return candidate.ask(rig, drawn, values=values).seen.output


def _told(candidate: Candidate, found: _Found, actual: Tensor) -> ByHand:
    right, wrong = (_working(context) for context in (found.right, found.wrong))
    inputs = tuple(_matrix(name, value) for name, value in found.drawn.inputs.items())
    given = {one.rows for one in inputs}  # what an identity hands on
    expected = output_of(found.right)
    worst = divmod(int(distances(actual, expected).argmax()), actual.shape[-1])
    drawn = found.drawn
    return ByHand(
        arguments=tuple(
            f"{name}={value}"
            for name, value in _arguments(candidate, drawn.probe.sizes, drawn.probe.numbers).items()
        ),
        inputs=inputs,
        layer=found.setting.role,
        change=found.setting.change,
        has_layers=bool(candidate.family.roles),
        right=_merged(one for one in right if one.rows not in given and one.name != "output"),
        wrong=_merged(one for one in wrong if one not in right and one.name != "output"),
        expected=_matrix("output", expected),
        actual=_matrix("output", actual),
        worst=worst,
    )


def _merged(matrices: Iterable[HandMatrix]) -> tuple[HandMatrix, ...]:
    """What is the same under several names, in a row, once: "query = key"."""
    merged: list[HandMatrix] = []
    for one in matrices:
        if merged and (merged[-1].shape, merged[-1].rows) == (one.shape, one.rows):
            merged[-1] = msgspec.structs.replace(one, name=f"{merged[-1].name} = {one.name}")
        else:
            merged.append(one)
    return tuple(merged)


def _arguments(candidate: Candidate, sizes: Sizes, numbers: Mapping[str, float]) -> dict[str, int | float]:
    """What the constructor, or the function, was given besides tensors."""
    args, kwargs = candidate.constructor_arguments(candidate.signature.built(sizes), 0.0)
    named = candidate.loaded.constructor if candidate.loaded is not None else ()
    given = {argument.name: value for argument, value in zip(named, args, strict=False)}
    return {
        **given,
        **kwargs,
        **{name: int(value) if float(value).is_integer() else value for name, value in numbers.items()},
    }


def _working(context: Context) -> tuple[HandMatrix, ...]:
    """Every tensor that a step made, as it stands at the end."""
    made = [(name, getattr(context, name)) for name in context.makes]
    return tuple(
        _matrix(name, value) for name, value in made if isinstance(value, Tensor) and value is not NOTHING
    )


def _matrix(name: str, value: Tensor) -> HandMatrix:
    """A tensor as rows of its last axis; what stands before that is in the shape."""
    table = torch.atleast_2d(value.detach().float())
    rows = table.reshape(-1, table.shape[-1]).tolist()
    return HandMatrix(
        name=name, shape=tuple(value.shape), rows=tuple(tuple(map(_number, row)) for row in rows)
    )


def _number(value: float) -> float | str:
    return round(value, 6) if math.isfinite(value) else str(value)
