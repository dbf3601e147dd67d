"""Inputs changed in one way, to ask one question: another sample, another order, half precision …"""

from __future__ import annotations

from functools import cached_property

import torch

from grader.judge import probes
from grader.judge.candidate import Candidate
from grader.judge.observations import Asked, Rig
from grader.judge.oracle import same
from grader.judge.probes import WIDTH, Drawn, Probe

HALF_PROBE = Probe("half", 3, 5)
HALF_MASKED_PROBE = Probe("half_masked", 3, 5, mask="bss")
HIDDEN_PROBE = Probe("all_hidden", 3, 5, mask="bss")
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
    def changed_sample(self) -> Asked:
        """The base probe with other tokens in every sample but the first."""
        base = self._base
        x = base.x.clone()
        x[1:] = x[1:].flip(-1) + 1.0
        return self._candidate.ask(self._rig, Drawn(base.probe, x, None, None))

    @cached_property
    def order(self) -> torch.Tensor:
        """A permutation of the base probe's tokens without a fixed point."""
        return torch.arange(self._base.probe.seq_len).roll(2)

    @cached_property
    def permuted_tokens(self) -> Asked:
        base = self._base
        return self._candidate.ask(self._rig, Drawn(base.probe, base.x[:, self.order], None, None))

    @cached_property
    def all_hidden(self) -> Asked:
        """The first query of the first sample sees nothing."""
        drawn = self._candidate.draw(HIDDEN_PROBE)
        assert drawn.visible is not None
        visible = drawn.visible.clone()
        visible[0, 0] = False
        return self._candidate.ask(self._rig, Drawn(drawn.probe, drawn.x, visible, visible))

    @cached_property
    def in_half(self) -> Asked:
        """float16 parameters and input, under a mask where the kata has one."""
        candidate = self._candidate
        probe = HALF_MASKED_PROBE if candidate.kata.takes_mask else HALF_PROBE
        drawn = candidate.draw(probe)
        rig = candidate.rig(WIDTH, half=True)
        return candidate.ask(rig, Drawn(probe, drawn.x.half(), drawn.mask, drawn.visible))

    @cached_property
    def large_input(self) -> Asked:
        """Inputs sixty times as large: logits far beyond what exp can hold."""
        base = self._base
        return self._candidate.ask(self._rig, Drawn(base.probe, base.x * LARGE, None, None))

    @cached_property
    def strong_input(self) -> Asked:
        """Inputs five times as large: logits of some twenty to sixty, which exp in float32 still holds."""
        base = self._base
        return self._candidate.ask(self._rig, Drawn(base.probe, base.x * STRONG, None, None))

    def runs_at_written_sizes(self) -> tuple[int, int, int] | None:
        """The shape of x on which forward does run, when it only fits sizes that the code spells out."""
        candidate = self._candidate
        default = int(candidate.kata.constructor["hidden_dim"])
        written = [n for n in candidate.written_numbers if 1 < n <= MAX_WRITTEN and n != WIDTH]
        tries = [(2, 5, width) for width in (default, *written[:3])]
        tries += [(2, seq_len, WIDTH) for seq_len in written[:3]] + [(size, 5, WIDTH) for size in written[:2]]
        for batch, seq_len, width in tries:
            drawn = probes.draw(Probe("written", batch, seq_len, width), candidate.seed)
            if candidate.ask(candidate.rig(width), drawn, values={}).seen.output is not None:
                return batch, seq_len, width
        return None

    @cached_property
    def after_other_tokens(self) -> Asked:
        """The base probe once forward has seen other tokens, under a mask, with nothing set in between."""
        base, mask = self._base, None
        if self._candidate.kata.takes_mask:
            mask = self._candidate.draw(HALF_MASKED_PROBE).visible
        self._candidate.ask(self._rig, Drawn(base.probe, base.x.flip(-1) + 1.0, mask, mask))
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
        strong = Drawn(self._base.probe, self._base.x * STRONG, None, None)
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
