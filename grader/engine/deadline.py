"""The judge's own deadline: what a judge cannot finish is a fault of the grader, told in bounded time.

The kernel keeps it: a pattern that backtracks holds the interpreter, and no handler and no thread gets its
turn. The timer of processor time ends a judge that computes for ever, the clock one that waits for ever.
Whoever waits for the judge sees by which signal it ended. On Windows only the clock of who waits is there.
"""

from __future__ import annotations

import signal
import sys

from grader.catalog import Deadlines, Kata
from grader.errors import GraderFault

if sys.platform == "win32":
    SIGNALS: frozenset[int] = frozenset()
else:
    SIGNALS = frozenset({signal.SIGPROF, signal.SIGALRM})


def seconds(deadlines: Deadlines, total: float) -> float:
    """How long a judge may be there: the worker's time at its most, and its own on a busy machine."""
    return 2 * total + 4 * deadlines.judge


def begin(kata: Kata, total: float, more: float = 0.0) -> None:
    """This process judges from now on; `more` is for a worker that has to be started first."""
    if sys.platform != "win32":
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, kata.deadlines.judge)
        signal.setitimer(signal.ITIMER_REAL, seconds(kata.deadlines, total) + more)


def end() -> None:
    """It has judged."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def missed() -> GraderFault:
    """What is told about a grade whose judge did not finish."""
    return GraderFault(
        "The grader could not finish: its hidden checks did not end in time and were stopped.",
        "That says nothing about the answer. Please report it, with the file.",
    )
