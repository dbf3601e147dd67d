"""Files that people read while they are written anew: whole at every moment, or not there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from grader.errors import UsageError

BESIDE = ".new"  # what is being written; a killed run leaves it, and the next writes over it


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write the file beside its place, and put it there when it is whole."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    beside = path.with_name(f".{path.name}{BESIDE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(data)
            os.replace(beside, path)  # noqa: PTH105 - the name says that the old one goes
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.",
            "Make room there and run the same again: what is done stays.",
        ) from error
    return path
