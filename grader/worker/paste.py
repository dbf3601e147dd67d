"""Lines that the judge pastes behind the candidate's module, as one would at a prompt."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence

import torch

from grader.protocol import MAX_TEXT
from grader.worker.failures import short
from grader.worker.loader import MODULE_NAME


def pasted(lines: Sequence[str]) -> str:
    """What they print; what they raise is the last line of it."""
    names = {**vars(sys.modules[MODULE_NAME]), "torch": torch}
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile("\n".join(lines), "<pasted>", "exec", dont_inherit=True), names)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
        said.write(f"{type(error).__name__}: {short(str(error))}")
    return said.getvalue()[:MAX_TEXT]
