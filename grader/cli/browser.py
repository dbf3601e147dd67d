"""Opening a page. What the browser, or the search for one, has to say is not for our terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click

from grader.errors import KataError

_PATIENCE = 3.0  # seconds; an opener that goes on for longer has become the browser


class NoBrowser(KataError):
    """There is nothing here that opens a page."""


def browse(page: Path) -> None:
    """Open the page in the browser; raises `NoBrowser` where there is none."""
    if sys.platform != "linux":
        opened = click.launch(page.as_uri()) == 0
    else:
        opened = _has_screen() and _asked(os.environ.get("BROWSER") or "xdg-open", page.as_uri())
    if not opened:
        raise NoBrowser("there is no browser here that could open the page.", f"Open it yourself: {page}")


def _has_screen() -> bool:
    """A browser of the terminal would draw over ours."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _asked(opener: str, address: str) -> bool:
    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [opener, address], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return False
    try:
        return process.wait(_PATIENCE) == 0
    except subprocess.TimeoutExpired:
        return True
