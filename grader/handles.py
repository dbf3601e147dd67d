"""What a launcher hands to the judge: the worker's channel, what it prints, and the process itself.

Stands apart from judge, worker and engine, because a process that forks workers must not hold the judge's
code.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ExitStatus:
    """How a process ended: by itself with `code`, or by `signal`."""

    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True)
class Times:
    """Seconds of a process: of processor time, all threads together, and ready to run without a processor."""

    processor: float
    starved: float


class WorkerProcess(Protocol):
    """The worker as a process."""

    def kill(self) -> None:
        """End the worker and its whole process group, now; harmless when it has ended."""

    def status(self, seconds: float) -> ExitStatus | None:
        """How it ended; waits at most `seconds`; None while it lives."""

    def times(self) -> Times | None:
        """What it has used so far; None where nobody counts it."""

    def overflows(self) -> bool:
        """Whether it has put more into its scratch folder than it may."""


@dataclass(frozen=True)
class WorkerHandle:
    """A running worker. `isolation` is the level that it was told to confine itself to."""

    channel: socket.socket
    output_fd: int
    process: WorkerProcess
    isolation: str
