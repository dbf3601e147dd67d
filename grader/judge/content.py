"""A kata's own code (checks, mistakes, plan) and the words for its mistakes, loaded in the judge only.

`grader.judge.packages` says where its modules are found.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from grader.catalog import (
    Catalog,
    Experiment,
    Kata,
    Label,
    Labels,
    load_experiments,
    load_labels,
    load_labels_of,
)
from grader.errors import GraderFault
from grader.judge.checks import ATTRIBUTE
from grader.judge.family import Family
from grader.judge.fitting import Fitted
from grader.judge.knowledge import Knowledge
from grader.judge.oracle import Form, Plan
from grader.judge.packages import PACKAGE, install, load
from grader.records import Record

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
    family: Family
    values: tuple[Form, ...]  # mistakes that show in values
    neutral: tuple[Form, ...]  # other right ways
    training: tuple[Form, ...]  # mistakes that show in training mode only
    fitted: tuple[Fitted, ...]  # steps with a number in them, which may be any wrong one
    known: Knowledge  # what is known of mistakes besides
    labels: Labels
    checks: types.ModuleType
    examples: tuple[Example, ...]  # wrong answers
    rights: tuple[Example, ...]
    experiments: Callable[[], Mapping[str, Experiment]] = dict  # by concept; read for who asks
    gates: tuple[Example, ...] | None = None  # what each gate rejects; None: what all levels have in common

    @property
    def plan(self) -> Plan:
        return self.family.plan

    @property
    def is_plain(self) -> bool:
        """Whether tokens go in, perhaps with a mask, and each layer is a square: it can be the identity."""
        signature = self.kata.signature
        others = [one for one in signature.inputs if one not in (signature.first, signature.mask)]
        squares = all(role.out == role.into == ("D",) for role in self.family.roles)
        return signature.is_module and signature.first.axes == "B S D" and not others and squares

    @property
    def features(self) -> frozenset[str]:
        """What the forms of this kata may rely on."""
        return self.family.features


def load_content(kata: Kata, catalog: Catalog) -> KataContent:
    """Import the kata's code; what is broken in it is a fault of the content, not of the candidate."""
    install(catalog)
    family, mistakes, checks = (load(kata, part) for part in ("family", "mistakes", "checks"))
    if not any(hasattr(check, ATTRIBUTE) for check in vars(checks).values()):
        raise GraderFault(f"kata {kata.id}: its checks.py holds no check", "An answer cannot pass nothing.")
    try:
        return KataContent(
            kata=kata,
            family=family.FAMILY,
            values=tuple(mistakes.VALUES),
            neutral=tuple(mistakes.NEUTRAL),
            training=tuple(mistakes.TRAINING),
            fitted=tuple(getattr(mistakes, "FITTED", ())),
            examples=tuple(mistakes.EXAMPLES),
            rights=tuple(mistakes.RIGHT),
            experiments=partial(load_experiments, catalog),
            gates=getattr(mistakes, "GATES", None),
            known=getattr(mistakes, "KNOWN", None) or common_known(),
            labels=load_labels_of(kata, catalog),
            checks=checks,
        )
    except (AttributeError, TypeError) as error:
        raise GraderFault(f"kata {kata.id}: its code does not load ({error})", "Run `kata lint`.") from error


def common_known() -> Knowledge:
    """What all katas know of mistakes, unless they say otherwise."""
    known: Knowledge = importlib.import_module(f"{PACKAGE}.common.known").KNOWN
    return known
