"""How long the tests wait for what must happen: one number for all of them.

A test waits for a condition and never for a time. The bound is for what never comes, and is no part of what
is tested: `KATA_TEST_PATIENCE=600 pytest …` on a machine that is slower still.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TypeVar

SECONDS = float(os.environ.get("KATA_TEST_PATIENCE", "120"))
PAUSE = 0.02  # between two looks; it gives the processor to who makes it come true

T = TypeVar("T")


def until(found: Callable[[], T], what: str = "it did not come true") -> T:
    """Wait for what must come true, and return it."""
    ends_at = time.monotonic() + SECONDS
    pause = threading.Event()
    while not (value := found()):
        assert time.monotonic() < ends_at, what
        pause.wait(PAUSE)
    return value
