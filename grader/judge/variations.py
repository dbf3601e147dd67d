"""Inputs changed in one way, to ask one question: another sample, another order, half precision …"""

from __future__ import annotations

from functools import cached_property

import torch

from grader.judge.candidate import Candidate
from grader.judge.family import Relation
from grader.judge.observations import Asked, Rig
from grader.judge.oracle import same
from grader.judge.probes import Drawn
from grader.signature import Sizes

LARGE = 60.0
STRONG = 5.0
MAX_WRITTEN = 1024


class Variations:
    """Special calls of one candidate; each is asked once, what it gave is in its `seen`."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    @property
    def _base(self) -> Drawn:
        return self._candidate.draw(self._candidate.standard_probes[0])

    @property
    def _rig(self) -> Rig:
        return self._candidate.quiet_rig

    @cached_property
    def related(self) -> dict[str, Asked]:
        """The base probe after the change of each of the family's relations."""
        return {
            relation.name: self._candidate.ask(self._rig, relation.change(self._base))
            for relation in self._candidate.family.relations
        }

    def relation(self, name: str) -> Relation:
        """A relation of the family, by its name."""
        return next(one for one in self._candidate.family.relations if one.name == name)

    @cached_property
    def all_hidden(self) -> Asked:
        """The first query of the first sample sees nothing."""
        drawn = self._candidate.draw(self._candidate.family.like_base("all_hidden", masked=True))
        assert drawn.visible is not None
        visible = drawn.visible.clone()
        visible.flatten(0, -2)[0] = False
        return self._candidate.ask(self._rig, drawn.but(visible=visible))

    @property
    def _half(self) -> Drawn:
        family = self._candidate.family
        masked = self._candidate.kata.takes_mask
        probe = family.like_base("half_masked", masked=True) if masked else family.like_base("half")
        return self._candidate.draw(probe)

    @cached_property
    def in_half(self) -> Asked:
        """float16 parameters and inputs, under a mask where the kata has one."""
        half = {name: value.half() for name, value in self._half.floats.items()}
        return self._candidate.ask(self._candidate.rig(half=True), self._half.but(**half))

    @cached_property
    def large_input(self) -> Asked:
        """Inputs sixty times as large: logits far beyond what exp can hold."""
        return self._candidate.ask(self._rig, self._grown(LARGE))

    @cached_property
    def strong_input(self) -> Asked:
        """Inputs five times as large: logits of some twenty to sixty, which exp in float32 still holds."""
        return self._candidate.ask(self._rig, self._grown(STRONG))

    def _grown(self, factor: float) -> Drawn:
        return self._base.but(**{name: value * factor for name, value in self._base.floats.items()})

    def runs_at_written_sizes(self) -> tuple[int, ...] | None:
        """The shape of the input on which it does run, when it only fits sizes that the code spells out."""
        candidate, family = self._candidate, self._candidate.family
        base = family.base.sizes
        usual = candidate.signature.built(base)
        written = [n for n in candidate.written_numbers if 1 < n <= MAX_WRITTEN and n not in usual.values()]
        axes = candidate.signature.first.axes.split()
        tries = [dict(candidate.signature.defaults)]
        for axis, most in zip(reversed(axes), (3, 3, 2), strict=False):
            tries += [{axis: size} for size in written[:most]]
        for sizes in tries:
            # Axes of the input differ: where they are the same, shapes that do not belong together fit by
            # chance.
            others = _apart({axis: base[axis] for axis in axes}, sizes)
            whole = {**base, **others, **sizes}
            if min(family.sizes(whole).values()) < 1:
                continue  # a width that leaves nothing to each head
            drawn = candidate.draw(family.base.named("written", sizes=whole))
            if candidate.ask(candidate.rig(drawn.probe.sizes), drawn, values={}).seen.output is not None:
                return tuple(drawn.x.shape)
        return None

    @cached_property
    def after_other_tokens(self) -> Asked:
        """The base probe once it has seen other tokens, under a mask, with nothing set in between."""
        base, mask = self._base, None
        other = {name: value.flip(-1) + 1.0 for name, value in base.floats.items()}
        if self._candidate.kata.takes_mask:
            mask = self._half.visible
        self._candidate.ask(self._rig, base.but(visible=mask, **other))
        return self._candidate.ask(self._rig, base, values={})

    @property
    def keeps_something(self) -> bool:
        """A call gives another output once forward has seen other tokens, though nothing was set since."""
        one, again = self._candidate.observe(self._base.probe), self.after_other_tokens.seen
        return one.output is not None and again.output is not None and not same(again.output, one.output)

    @cached_property
    def trained_at_rate_zero(self) -> tuple[Asked, Asked]:
        """Strong inputs in training at dropout rate 0, under two seeds."""
        rig = self._candidate.rig(rate=0.0)
        strong = self._grown(STRONG)
        one, other = (self._candidate.ask(rig, strong, training=True, seed=seed) for seed in (21, 22))
        return one, other

    @property
    def drops_at_rate_zero(self) -> bool:
        """Training at dropout rate 0 is still random."""
        one, other = (call.seen.output for call in self.trained_at_rate_zero)
        return (
            one is not None
            and other is not None
            and not torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
        )


def _apart(usual: Sizes, fixed: Sizes) -> dict[str, int]:
    """The sizes of the other axes, none of them one that is fixed."""
    first, *_ = usual
    others = {**usual, first: 2}
    taken = set(fixed.values())
    return {axis: size + 1 if size in taken else size for axis, size in others.items() if axis not in fixed}
