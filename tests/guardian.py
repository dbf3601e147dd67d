"""Ends what a process of the tests has started and removes its folder, however that process ends.

    python -m tests.guardian PID FOLDER

Ctrl-C, SIGTERM and SIGKILL leave no time for fixtures. So every process that runs tests keeps its temporary
files in a folder of its own, and has a guardian in a session of its own, which no signal to the run reaches.
When the process has gone, all that names the folder is killed, and the folder removed.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.patience import until
from tests.processes import naming

ROOT = Path(__file__).resolve().parents[1]
MODULE = "tests.guardian"
PREFIX = "kt-"  # short, as the address of a socket in it must be


class Guard:
    """This process's folder for temporary files, and its guardian."""

    def __init__(self, parent: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)).resolve()
        self.folder.chmod(0o711)  # an ordinary user whom root lets try an attack must pass through
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(os.getpid()), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
            env={},
            start_new_session=True,
        )

    def close(self) -> None:
        """Returns when nothing is left."""
        self._guardian.communicate()


def wait_for_the_end_of(process: int) -> None:
    """Until it closes our standard input, or has gone; its forks may hold the other end for longer."""
    ends = [0]
    if sys.platform == "linux":
        try:
            ends.append(os.pidfd_open(process))
        except ProcessLookupError:
            return
    select.select(ends, [], [])


def clear(folder: Path) -> None:
    """Kill what names the folder, and what that started while we were looking, then remove the folder."""
    until(lambda: not kill_all(folder))
    shutil.rmtree(folder, ignore_errors=True)


def kill_all(folder: Path) -> list[int]:
    """What was there to be killed; guardians see to themselves."""
    found = [pid for pid, command in naming(folder).items() if MODULE not in command]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


if __name__ == "__main__":
    wait_for_the_end_of(int(sys.argv[1]))
    clear(Path(sys.argv[2]))
