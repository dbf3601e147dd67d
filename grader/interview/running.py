"""Run the candidate's file as they would themselves: its own `__main__`, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from grader.records import Record
from grader.report.neutral import for_terminal

RUN_SECONDS = 20.0
_MOST_BYTES = 64 * 1024
_DRAIN_SECONDS = 2.0


class Running:
    """A file that is being run, so that a room that is left does not wait for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def began(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        if self._stopped:
            _kill(process)

    def stop(self) -> None:
        """End it, now; harmless when it has ended or not begun."""
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            _kill(self._process)


class Run(Record):
    """What came of it. `output` is harmless text; `code` is `None` when it had to be stopped."""

    outcome: str
    output: str
    code: int | None


def run_file(path: Path, seconds: float = RUN_SECONDS, running: Running | None = None) -> Run:
    """Run `path` with this Python and wait at most `seconds`; it has no standard input.

    `running` can stop it from another thread.
    """
    process = subprocess.Popen(
        [sys.executable, path.name],
        cwd=path.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    if running is not None:
        running.began(process)
    kept = bytearray()
    reader = threading.Thread(target=_keep_start, args=(process.stdout, kept), daemon=True)
    reader.start()
    try:
        process.wait(seconds)
        stopped = False
    except subprocess.TimeoutExpired:
        stopped = True
    _kill(process)  # also what the file started and left behind: it would hold the output open
    process.wait()
    reader.join(_DRAIN_SECONDS)
    text = for_terminal(bytes(kept).decode("utf-8", "replace"), limit=_MOST_BYTES, multiline=True).rstrip()
    if stopped:
        return Run(outcome=f"was stopped after {seconds:.0f} s", output=text, code=None)
    if process.returncode < 0:
        return Run(outcome=f"ended by signal {-process.returncode}", output=text, code=process.returncode)
    outcome = "ran to its end" if process.returncode == 0 else f"ended with code {process.returncode}"
    return Run(outcome=outcome, output=text, code=process.returncode)


def _keep_start(stream: IO[bytes], kept: bytearray) -> None:
    """Read to the end, so that the writer never waits, and keep the first bytes."""
    with stream:
        while part := stream.read1(8192):  # type: ignore[attr-defined]
            kept.extend(part[: _MOST_BYTES - len(kept)])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started; harmless when nothing is left."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
