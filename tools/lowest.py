"""The oldest versions that `pyproject.toml` promises to work with, one `name==version` a line.

    pip install $(python tools/lowest.py)

`.ci/run` installs them and runs every command, so that a lower bound which lies, or which no set of versions
can fulfil, is found before a user finds it.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
# Any other build of PyTorch than the one in constraints.txt is a download of several gigabytes on Linux.
EXEMPT = {"torch": "several gigabytes; tested at the version of constraints.txt only"}


def lowest(pyproject: Path) -> Iterator[str]:
    """Each direct requirement of a user, extras too, at its lower bound; what is exempt is left out."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(text for name in extras if name != "dev" for text in extras[name])]
    for requirement in map(Requirement, asked):
        if requirement.name not in EXEMPT:
            yield f"{requirement.name}=={bound(requirement)}"


def bound(requirement: Requirement) -> str:
    """The version after `>=`; without one there is no promise to test, and `ValueError` says so."""
    bounds = [one.version for one in requirement.specifier if one.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} has no lower bound: say from which version on it works, with >=")
    return bounds[0]


if __name__ == "__main__":
    for name, why in EXEMPT.items():
        print(f"{name} is left out: {why}.", file=sys.stderr)
    print(*lowest(ROOT / "pyproject.toml"), sep="\n")
