"""How long the judge waits for a worker: for one reply, and for all replies of a grade.

A busy machine is not the answer's fault, so the clock on the wall decides nothing by itself. One call may use
so much processor time, and may wait so long for something else than a processor. All calls together have
`total` seconds, which move by the time that others had the processors, and by the processor time of first
calls of a kind, where parts of torch are imported; at most to the double. Where nobody counts (no /proc) the
clock decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from grader.handles import Times, WorkerProcess

LOOK_SECONDS = 0.2  # between looks at what the worker uses; a call that is over by then costs no look
ENOUGH = 0.4  # of the total: imports alone can need as much, so who had less cannot be called slow

OutOf = Literal["spins", "waits", "hang", "total", "crowded"]


class OutOfTime(Exception):
    """Which limit was reached, and how many seconds it allowed.

    "hang" is one call where nobody counts, "crowded" the double of the total, for want of processors.
    """

    def __init__(self, why: OutOf, seconds: float) -> None:
        super().__init__(why)
        self.why = why
        self.seconds = seconds


@dataclass
class _Stretch:
    """A time that runs: since when, how long it may last, and what had been used at its first look."""

    began: float
    seconds: float
    before: Times | None = None


class Patience:
    """The limits of one worker. `start`, then for each reply `next`, `check` until it is there, `heard`."""

    def __init__(self, process: WorkerProcess, clock: Callable[[], float]) -> None:
        self._process = process
        self._clock = clock

    def start(self, seconds: float) -> None:
        """The time for all calls together begins."""
        self._total = _Stretch(self._clock(), seconds, self._process.times())
        self._imported = 0.0
        self.next(seconds)

    def next(self, seconds: float, *, first: bool = False) -> None:
        """The time of one call begins; `first`: it may import what no call before it needed."""
        self._call = _Stretch(self._clock(), seconds)
        self._first = first

    def heard(self) -> None:
        """The call is over."""
        if self._first and self._call.before is not None:
            now = self._process.times() or self._call.before
            self._imported += now.processor - self._call.before.processor

    def look_in(self) -> float:
        """Seconds until it is worth while to check again."""
        left = self._soonest() - self._clock()
        return min(left, LOOK_SECONDS) if left > 0 else LOOK_SECONDS

    def check(self) -> None:
        """Raises `OutOfTime` when a limit is reached."""
        now = self._clock()
        near = now >= self._soonest()
        if self._call.before is None and (near or now - self._call.began >= LOOK_SECONDS):
            self._call.before = self._process.times()
        if not near:
            return
        times = self._process.times()
        if times is None or self._call.before is None or self._total.before is None:
            self._check_by_the_clock(now)
        else:
            self._check_the_call(now, times, self._call.before)
            self._check_the_total(now, times, self._total.before)

    def _soonest(self) -> float:
        """No limit is reached before, whatever was used."""
        return min(stretch.began + stretch.seconds for stretch in (self._call, self._total))

    def _check_by_the_clock(self, now: float) -> None:
        if now - self._call.began >= self._call.seconds:
            raise OutOfTime("hang", self._call.seconds)
        if now - self._total.began >= self._total.seconds:
            raise OutOfTime("total", self._total.seconds)

    def _check_the_call(self, now: float, times: Times, before: Times) -> None:
        used = times.processor - before.processor
        waited = now - self._call.began - used - (times.starved - before.starved)
        if used >= self._call.seconds:
            raise OutOfTime("spins", self._call.seconds)
        if waited >= self._call.seconds:
            raise OutOfTime("waits", self._call.seconds)

    def _check_the_total(self, now: float, times: Times, before: Times) -> None:
        passed = now - self._total.began
        mine = passed - (times.starved - before.starved)
        imported = self._imported
        if self._first and self._call.before is not None:
            imported += times.processor - self._call.before.processor
        if mine - imported >= self._total.seconds:
            raise OutOfTime("total", self._total.seconds)
        if passed >= 2 * self._total.seconds:
            had = max(mine, times.processor - before.processor)
            raise OutOfTime("crowded" if had < ENOUGH * self._total.seconds else "total", self._total.seconds)
