"""The one folder a worker may write to: made, measured and removed by the trusted side, never followed.

The kernel bounds each file (RLIMIT_FSIZE) but not how many there are: whoever waits for a worker asks
`is_over` now and then, and ends the worker when it is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

BYTES = 64 << 20
ENTRIES = 4096


def make_scratch(parent: Path) -> Path:
    """A new empty folder below `parent`, for this user alone."""
    return Path(tempfile.mkdtemp(prefix="worker-", dir=parent))


def is_over(scratch: Path, max_bytes: int = BYTES, max_entries: int = ENTRIES) -> bool:
    """Whether the folder holds more than it may. Stops at the first excess, so its cost is bounded too."""
    used = entries = 0
    folders = [str(scratch)]
    while folders:
        try:
            found = os.scandir(folders.pop())
        except FileNotFoundError:
            continue  # the worker is still at work
        with found:
            for entry in found:
                entries += 1
                try:
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                except FileNotFoundError:
                    continue
                if used > max_bytes or entries > max_entries:
                    return True
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return False


def remove_scratch(scratch: Path) -> None:
    """Remove the folder with all that is in it. Links in it are removed, not followed."""
    shutil.rmtree(scratch, ignore_errors=True)
