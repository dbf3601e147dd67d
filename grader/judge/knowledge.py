"""What content knows of mistakes besides their forms and words: where they stand, what speaks for them, how
they crash.

The judge measures and searches; which label stands for what it found is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.judge.roles import Layout
from grader.protocol import Failure, Loaded, TraceEntry
from grader.signature import Sizes

if TYPE_CHECKING:
    from grader.judge.blame import Blame

LineFinder = Callable[["Blame"], "int | None"]
Rule = Callable[[Failure, "Loaded | None"], "str | None"]  # the label behind a failure


@dataclass(frozen=True)
class Mistake:
    """One label, as the judge needs it.

    `line` finds where it stands; `elsewhere` says that it raises, or shows, on another line than that. A
    check's label that is `covered_by` one that was found adds nothing. `speaks`: 1 where the calls speak for
    it, -1 where they speak against it, 0 where they are silent. `hints` are calls that the formula does not
    have and that mean it where nothing explains the outputs. `adds` is said after what it shows, with the
    sizes of the probe.
    """

    label: str
    line: LineFinder | None = None
    elsewhere: bool = False
    covered_by: tuple[str, ...] = ()
    speaks: Callable[[Sequence[TraceEntry], Layout], int] | None = None
    hints: frozenset[str] = frozenset()
    adds: Callable[[Sizes], str] | None = None


@dataclass(frozen=True)
class Borrowing:
    """What is said where roles have no layer of their own: the concept, the sentence, the labels."""

    concept: str = ""
    sentence: str = ""
    raw: str = ""  # the label where the raw input stands for all of them
    shared: str = ""  # the label where one layer does for several


@dataclass(frozen=True)
class Knowledge:
    """All that content knows.

    `crashes` are asked in order. `of_concept` finds the line of a concept, `unnamed` that of a failed check
    whose mistake has no label. `dropout` gives the label of what is wrong with a reading. A mistake of a
    concept among `roaming` costs the step's own concept where that is one of the given: it can stand
    anywhere.
    """

    mistakes: tuple[Mistake, ...] = ()
    crashes: tuple[Rule, ...] = ()
    of_concept: Mapping[str, LineFinder] = field(default_factory=dict)
    unnamed: Mapping[str, LineFinder] = field(default_factory=dict)
    dropout: Mapping[str, str] = field(default_factory=dict)
    roaming: Mapping[str, frozenset[str]] = field(default_factory=dict)
    borrowing: Borrowing = Borrowing()

    def with_more(
        self,
        *mistakes: Mistake,
        crashes: tuple[Rule, ...] = (),
        of_concept: Mapping[str, LineFinder] | None = None,
    ) -> Knowledge:
        """The same and what a kata knows besides, which comes first."""
        return replace(
            self,
            mistakes=(*mistakes, *self.mistakes),
            crashes=(*crashes, *self.crashes),
            of_concept={**self.of_concept, **(of_concept or {})},
        )

    def of(self, label: str | None) -> Mistake:
        """What is known of a label; nothing, of one that is not there."""
        return next((known for known in self.mistakes if known.label == label), Mistake(label or ""))

    def hinted(self, call: str) -> str | None:
        """The label that a call hints at."""
        return next((known.label for known in self.mistakes if call in known.hints), None)

    def behind(self, failure: Failure, loaded: Loaded | None) -> str | None:
        """The label of the mistake that made the code raise, where a rule knows it."""
        labels = (rule(failure, loaded) for rule in self.crashes)
        return next((label for label in labels if label is not None), None)
