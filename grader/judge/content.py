"""A kata's own code (checks, mistakes, plan) and the words for its mistakes, loaded in the judge only.

Whether it comes from a checkout, a wheel or somebody's folder, it is always the package `kata_content`:
`kata_content.common`, `kata_content.v3.checks` …
"""

from __future__ import annotations

import importlib
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Catalog, Kata, Label, Labels, content_root, load_labels
from grader.errors import GraderFault
from grader.judge.fitting import Fitted
from grader.judge.oracle import Form, Plan
from grader.records import Record

PACKAGE = "kata_content"

__all__ = ["PACKAGE", "Example", "KataContent", "Label", "Labels", "load_content", "load_labels"]


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
    fitted: tuple[Fitted, ...]  # steps with a number in them, which may be any wrong one
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
            fitted=tuple(getattr(mistakes, "FITTED", ())),
            examples=tuple(mistakes.EXAMPLES),
            rights=tuple(mistakes.RIGHT),
            gates=getattr(mistakes, "GATES", None),
            labels=load_labels(catalog),
            checks=checks,
        )
    except (ImportError, AttributeError, SyntaxError) as error:
        raise GraderFault(f"kata {kata.id}: its code does not load ({error})", "Run `kata lint`.") from error


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
