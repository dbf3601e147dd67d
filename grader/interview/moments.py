"""The clocks of an interview.

A round is timed by the monotonic clock: it stands still while the computer sleeps, and nobody can set it.
Where two readings come from different boots, only the wall clock can tell how much time lies between them.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal

from grader.records import Record

TOLERANCE = 2.0  # seconds by which the clocks may drift apart before it is worth a note

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(Record):
    """One reading of all clocks. `mono` compares with others of the same `boot` only.

    `slept` is how long this boot was asleep so far, `None` where the system does not say.
    """

    wall: datetime
    mono: float
    boot: str
    slept: float | None = None


Clock = Callable[[], Moment]
GapKind = Literal["slept", "clock_set"]


class Gap(Record):
    """Wall clock and monotonic clock went apart by `seconds` (negative: the wall clock was set back)."""

    kind: GapKind
    seconds: float


def now() -> Moment:
    """The computer's clocks, now."""
    mono = time.monotonic()
    return Moment(wall=datetime.now(UTC), mono=mono, boot=_boot(), slept=_slept(mono))


def step(before: Moment, after: Moment) -> float:
    """Seconds that count between two readings, never negative."""
    if before.boot == after.boot and after.mono >= before.mono:
        return after.mono - before.mono
    return max(0.0, (after.wall - before.wall).total_seconds())


def gap(before: Moment, after: Moment) -> Gap | None:
    """What happened to the clocks between two readings, if anything did."""
    if before.boot != after.boot or after.mono < before.mono:
        return None
    apart = (after.wall - before.wall).total_seconds() - (after.mono - before.mono)
    if abs(apart) < TOLERANCE:
        return None
    if before.slept is None or after.slept is None:
        return Gap(kind="slept" if apart > 0 else "clock_set", seconds=apart)
    asleep = after.slept - before.slept
    set_by = apart - asleep
    if abs(set_by) >= TOLERANCE:
        return Gap(kind="clock_set", seconds=set_by)
    return Gap(kind="slept", seconds=asleep)


@cache
def _boot() -> str:
    """Readings with the same word share a monotonic clock; without a boot id, only those of this process."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return f"process {uuid.uuid4()}"


def _slept(mono: float) -> float | None:
    if sys.platform != "linux":
        return None
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - mono)
