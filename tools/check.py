"""All checks of the project, stopping at the first that fails.

    python tools/check.py                 everything
    python tools/check.py types imports   only these steps

The steps before the tests run beside one another, and say in turn what they found; then the tests have the
machine to themselves. Only the standard library is imported here; the tools are those installed beside this
Python.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CONTENT_LINK = ROOT / ".mypy_cache" / "content" / "kata_content"  # a folder that the builders pass over


class Step(NamedTuple):
    """One tool: `command` is looked up beside the running Python."""

    name: str
    title: str
    command: tuple[str, ...]


# Cheap ones first. The tests come last, so that the last line of a good run is pytest's own summary.
STEPS = (
    Step("lint", "ruff: lint", ("ruff", "check", ".")),
    Step("format", "ruff: format", ("ruff", "format", "--check", ".")),
    Step("imports", "import-linter: who may import whom", ("lint-imports", "--no-cache")),
    Step(
        "types",
        "mypy: strict types of the program, the katas and the tools",
        ("mypy", "-p", "grader", "-p", "kata_content", "-p", "tools", "-m", "packaging_hook"),
    ),
    Step("katas", "kata lint: the katas are whole and their checks bite", ("kata", "lint", "--quick")),
    Step(
        "tests",
        "pytest: all but the slow tests",
        ("pytest", "-m", "not slow", "-n", "3", "--dist", "worksteal"),
    ),
)


def main(arguments: Sequence[str] | None = None, steps: Sequence[Step] = STEPS) -> int:
    """Run the steps that were asked for; 0 if all are green, else the exit code of the one that is not."""
    names = [step.name for step in steps]
    parser = argparse.ArgumentParser(description="Run the project's checks.")
    parser.add_argument("steps", nargs="*", metavar="step", help=f"one of: {', '.join(names)} (default: all)")
    wanted = parser.parse_args(arguments).steps
    unknown = [name for name in wanted if name not in names]
    if unknown:
        parser.error(f"no step '{unknown[0]}'; the steps are {', '.join(names)}")
    link_content()
    with tempfile.TemporaryDirectory(prefix="attention-kata-check-") as home:
        environment = {**os.environ, "KATA_HOME": home, "KATA_ENGINE": "off"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile all again
        asked = [step for step in steps if not wanted or step.name in wanted]
        return run(asked[:-1], environment, beside=True) or run(asked[-1:], environment, beside=False)


def run(steps: Sequence[Step], environment: dict[str, str], *, beside: bool) -> int:
    """Run the steps at once; the code of the first that fails, which ends the others.

    What they print goes straight to the terminal, or, `beside` one another, is kept and shown in turn.
    """
    with contextlib.ExitStack() as stack:
        began = time.monotonic()
        running = [(step, stack.enter_context(started(step, environment, beside=beside))) for step in steps]
        for step, process in running:
            print(f"\n=== {step.title}", flush=True)
            if process is None:
                print(
                    f"{step.command[0]} is not installed beside {sys.executable}: "
                    "pip install -e '.[dev]' brings it."
                )
                return 2
            if process.stdout is not None:
                print(process.stdout.read(), end="", flush=True)
            if code := process.wait():
                print(f"\n=== FAILED after {time.monotonic() - began:.0f} s: {step.title}")
                print(f"Again, this step only: {sys.executable} tools/check.py {step.name}", flush=True)
                return code
    return 0


@contextlib.contextmanager
def started(
    step: Step, environment: dict[str, str], *, beside: bool
) -> Iterator[subprocess.Popen[str] | None]:
    """The step under way, ended with the block; None where its tool is not installed."""
    program = shutil.which(step.command[0], path=str(Path(sys.executable).parent))
    if program is None:
        yield None
        return
    with subprocess.Popen(
        [program, *step.command[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE if beside else None,
        stderr=subprocess.STDOUT if beside else None,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def link_content() -> None:
    """Show `katas/` to mypy under the package name it is loaded by, as configured in `mypy_path`."""
    if not CONTENT_LINK.is_symlink():
        CONTENT_LINK.parent.mkdir(parents=True, exist_ok=True)
        CONTENT_LINK.symlink_to(ROOT / "katas", target_is_directory=True)


if __name__ == "__main__":
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # and end the steps on the way out
    sys.exit(main())
