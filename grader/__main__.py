"""`kata`, also as `python -m grader`. Ctrl-C while it still loads is an interruption like any other."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command, and run it."""
    try:
        from grader.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say it
    run()


if __name__ == "__main__":
    main()
