"""A fix, done as it says on the line that is blamed, mends the answer: its label is gone.

`tests/corpus/fixes.jsonl`: answers with one label, and the smallest edit that the words of its fix describe,
at the line that was shown or next to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.engine.private import PrivateEngine
from grader.records import Grade
from tests.judge.corpus import spread
from tests.judge.stage import graded, labels
from tests.judge.test_lines import CORPORA, OWN

FIXES_MEND = 0.95


@dataclass(frozen=True)
class Fix:
    """`new` in the place of the line `old`: several lines, or none."""

    path: Path
    label: str
    line: int
    old: str
    new: str

    @property
    def text(self) -> str:
        lines = self.path.read_text("utf-8").split("\n")
        assert lines[self.line - 1] == self.old, self.path
        lines[self.line - 1 : self.line] = self.new.split("\n") if self.new else []
        return "\n".join(lines)

    def mends(self, grade: Grade) -> bool:
        return grade.verdict != "unrunnable" and self.label not in labels(grade)


def fixes() -> tuple[Fix, ...]:
    """Those of the answers whose corpus is there."""
    rows = map(json.loads, (OWN / "fixes.jsonl").read_text("utf-8").splitlines())
    placed = ((*row.pop("file").rpartition(":")[::2], row) for row in rows)
    return tuple(
        Fix(CORPORA[corpus] / file, **row) for corpus, file, row in placed if CORPORA[corpus].is_dir()
    )


def assert_mended(engine: PrivateEngine, chosen: tuple[Fix, ...]) -> None:
    left = []
    for fix in chosen:
        grade = graded(engine, fix.path.parent.name, fix.text)
        if not fix.mends(grade):
            left.append(
                f"{fix.path.parent.name}/{fix.path.name}:{fix.line} {fix.new.strip()}:"
                f" {labels(grade)}, {grade.reason}"
            )
    share = 1 - len(left) / len(chosen)
    print(f"{share:.1%} of {len(chosen)} fixes mend", *left, sep="\n")
    assert share >= FIXES_MEND, f"{share:.1%} of the fixes mend; not those of:\n" + "\n".join(left)


def test_the_fixes_of_a_sample_mend(engine: PrivateEngine) -> None:
    assert_mended(engine, spread(fixes(), 8))


@pytest.mark.slow
def test_every_fix_mends(engine: PrivateEngine) -> None:
    assert_mended(engine, fixes())
