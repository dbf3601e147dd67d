"""The practice clock: it runs from one sign of life to the next, and stands still in a pause.

Signs of life are the start, hints, and answers that were graded, watched saves among them.
"""

from __future__ import annotations

from itertools import pairwise

from grader.catalog import Kata
from grader.history import Attempt, History
from grader.records import Record

LONG = 3  # a stretch without a sign of life that is longer than so many times the kata's minutes is a pause


class Active(Record):
    """Seconds of work until an attempt; `paused` says that there was a pause, which does not count."""

    seconds: float
    paused: bool


def active(attempt: Attempt, kata: Kata, history: History) -> Active | None:
    """The time that an attempt took; `None` where it is not known: it has no start, or was all one pause."""
    signs = history.signs_of_life(attempt)
    stretches = [(later - earlier).total_seconds() for earlier, later in pairwise(signs)]
    worked = [seconds for seconds in stretches if seconds <= LONG * 60 * kata.minutes]
    return Active(seconds=sum(worked), paused=len(worked) < len(stretches)) if worked else None
