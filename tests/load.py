"""`python -m tests.load -- COMMAND…`: run a command beside busy loops, one for each processor.

    python -m tests.load -- .venv/bin/pytest -m 'not slow' -n 2
    python -m tests.load --loops 4 --times 3 -- .venv/bin/pytest tests/trust

Nothing that the tests say may depend on who else uses the machine. The loops are bounded by the command, and
end with this process. The exit code is the command's; of several runs, the first that fails is the last.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

LOOP = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True: pass
"""


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many processes that compute for nothing; each ends when its standard input does, with us."""
    with contextlib.ExitStack() as stack:
        for _ in range(loops):
            process = subprocess.Popen([sys.executable, "-I", "-S", "-c", LOOP], stdin=subprocess.PIPE)
            stack.enter_context(process)
            stack.callback(process.kill)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description="Run a command under load.")
    parser.add_argument("--loops", type=int, default=os.cpu_count(), help="default: one for each processor")
    parser.add_argument("--times", type=int, default=1, help="how often to run the command")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    with busy(asked.loops):
        for _ in range(asked.times):
            if code := subprocess.run(asked.command, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
