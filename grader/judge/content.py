"""A kata's own code (checks, mistakes, plan) and the words for its mistakes, loaded in the judge only.

Whether it comes from a checkout, a wheel or somebody's folder, it is always the package `kata_content`:
`kata_content.common`, `kata_content.v3.checks` …
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from grader.catalog import Catalog, Kata, content_root
from grader.errors import GraderFault
from grader.judge.oracle import Form, Plan
from grader.records import Record

PACKAGE = "kata_content"


class Label(Record):
    """What is said about a mistake. `shows` completes "your output is exactly what you get when …" where the
    mistake is seen in the output, and "we saw that …" where it is seen in behaviour.
    """

    concept: str
    seen: Literal["output", "behaviour"]
    shows: str
    sentence: str
    fix: str
    why: str


Labels = Mapping[str, Label]


class Example(Record):
    """An answer made from the kata's solution by replacing text, every `old` by its `new`.

    A wrong one carries the label of its mistake and proves that a detector bites; a right one says what is
    unusual about it.
    """

    label: str
    edits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class KataContent:
    """Everything of a kata that the judge needs."""

    kata: Kata
    plan: Plan
    values: tuple[Form, ...]  # mistakes that show in values
    neutral: tuple[Form, ...]  # other right ways
    training: tuple[Form, ...]  # mistakes that show in training mode only
    labels: Labels
    checks: types.ModuleType
    examples: tuple[Example, ...]  # wrong answers
    rights: tuple[Example, ...]
    gates: tuple[Example, ...] | None = None  # what each gate rejects; None: what all levels have in common

    @property
    def features(self) -> frozenset[str]:
        """What the forms of this kata may rely on."""
        step = "output_step" if "output" in self.kata.layers.roles else "no_output_step"
        return frozenset({step, "fixed_order"} if self.kata.layers.fused == "required" else {step})


def load_content(kata: Kata, catalog: Catalog) -> KataContent:
    """Import the kata's code; what is broken in it is a fault of the content, not of the candidate."""
    _install_package(catalog.root / "katas")
    try:
        mistakes = importlib.import_module(f"{PACKAGE}.{kata.folder.name}.mistakes")
        checks = importlib.import_module(f"{PACKAGE}.{kata.folder.name}.checks")
        return KataContent(
            kata=kata,
            plan=mistakes.PLAN,
            values=tuple(mistakes.VALUES),
            neutral=tuple(mistakes.NEUTRAL),
            training=tuple(mistakes.TRAINING),
            examples=tuple(mistakes.EXAMPLES),
            rights=tuple(mistakes.RIGHT),
            gates=getattr(mistakes, "GATES", None),
            labels=load_labels(catalog),
            checks=checks,
        )
    except (ImportError, AttributeError, SyntaxError) as error:
        raise GraderFault(f"kata {kata.id}: its code does not load ({error})", "Run `kata lint`.") from error


def load_labels(catalog: Catalog) -> dict[str, Label]:
    """The words for every mistake, from `katas/common/mistakes.toml`."""
    path = _common(catalog) / "mistakes.toml"
    try:
        return msgspec.toml.decode(path.read_bytes(), type=dict[str, Label])
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error


def _common(catalog: Catalog) -> Path:
    own = catalog.root / "katas" / "common"
    return own if own.is_dir() else content_root() / "katas" / "common"


def _install_package(katas: Path) -> None:
    """The package whose subpackages are the kata folders; a folder without `common` gets ours."""
    paths = [str(katas), str(content_root() / "katas")]
    present = sys.modules.get(PACKAGE)
    if present is not None and list(present.__path__) == paths:
        return
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    package = types.ModuleType(PACKAGE)
    package.__path__ = paths
    sys.modules[PACKAGE] = package
