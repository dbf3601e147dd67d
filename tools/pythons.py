"""The other Pythons of this machine that the project supports: `python tools/pythons.py [--all]`.

One interpreter a line, each version once. Without `--all` only those that can use the packages of the running
one, which costs nothing; the rest need a PyTorch of their own, of several gigabytes on Linux.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MINORS = range(11, 15)  # as pyproject.toml says
ASK = "import sys; print(sys.implementation.name, *sys.version_info[:3], sys.executable)"

Version = tuple[int, ...]


def pythons(folders: Sequence[Path]) -> dict[Version, Path]:
    """The first CPython of each version in these folders that starts; a shim of none does not."""
    found: dict[Version, Path] = {}
    for folder in folders:
        for minor in MINORS:
            path = folder / f"python3.{minor}"
            if path.is_file():
                for version, real in answer(path):
                    found.setdefault(version, real)
    return dict(sorted(found.items()))


def answer(python: Path) -> Iterator[tuple[Version, Path]]:
    """What an interpreter says it is, if it is a CPython and starts at all."""
    done = subprocess.run([python, "-I", "-c", ASK], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        name, major, minor, micro, real = done.stdout.strip().split(" ", 4)
        if name == "cpython":
            yield (int(major), int(minor), int(micro)), Path(real)


def folders() -> list[Path]:
    """Where Pythons lie: the search path, and what pyenv keeps."""
    places = [Path(name) for name in os.get_exec_path()]
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True).stdout.strip()
        places += sorted(Path(root).glob("versions/*/bin"))
    return places


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the interpreters; say on standard error which were left out."""
    parser = argparse.ArgumentParser(description="List the machine's other Pythons.")
    parser.add_argument("--all", action="store_true", help="those that need packages of their own, too")
    everything = parser.parse_args(arguments).all
    for version, path in pythons(folders()).items():
        if version == sys.version_info[:3]:
            continue
        if everything or version[:2] == sys.version_info[:2]:
            print(path)
        else:
            print(f"Python {'.'.join(map(str, version))} is left to --all.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
