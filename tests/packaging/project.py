"""This checkout, and how to build it with its own build backend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def try_build(source: Path, target: str, out: Path) -> subprocess.CompletedProcess[str]:
    """Build `target` ("wheel", "wheel:editable" or "sdist") of the project in `source` into `out`."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    return subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)


def build(source: Path, target: str, out: Path) -> Path:
    """The file that a build which must succeed leaves in the empty folder `out`."""
    done = try_build(source, target, out)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.iterdir()
    return built


def readme_command(name: str) -> str:
    """The command in the README's fenced block that follows `<!-- command: NAME -->`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, after = text.partition(f"<!-- command: {name} -->\n")
    return after.split("```sh\n", 1)[1].split("```", 1)[0].strip()
