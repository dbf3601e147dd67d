"""The browser that tests drive: Debian's chromium, or another that is installed."""

from __future__ import annotations

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "KATA_TEST_BROWSER"  # set: without a browser the run fails instead of leaving tests out


def find() -> str | None:
    """Where it is."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def leave_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Take the tests that need a browser out of `items` where there is none; returns them."""
    marked = [item for item in items if item.get_closest_marker("browser")]
    if not marked or find() is not None:
        return []
    if os.environ.get(REQUIRED):
        raise pytest.UsageError(f"{REQUIRED} is set, and there is no browser: {how_to_get()}")
    items[:] = [item for item in items if item not in marked]
    return marked


def how_to_get() -> str:
    """What to do about it."""
    return "apt-get install chromium, or have google-chrome on the PATH"
