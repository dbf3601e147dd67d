"""The tour: a typical mistake is graded and explained, then the mended answer passes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from grader.catalog import Catalog, Kata
from grader.engine.launch import make_named_folder
from grader.errors import GraderFault
from grader.history import Clock, History
from grader.paths import database
from grader.practice.attempts import Graded, GradeFunction, grade_target
from grader.practice.reports import write_report
from grader.practice.targets import Target
from grader.records import Record, Verdict

if TYPE_CHECKING:
    from grader.records import Options

FOLDER_PREFIX = "kata-demo-"
_KATA = "v3"
_ROOT = re.compile(r"math\.sqrt\(([^()]*)\)")


class Answer(Record):
    """A stop of the tour: the file that is graded next, and the line of it that matters."""

    path: Path
    kata: Kata
    number: int
    line: str
    right: bool


class Result(Record):
    """A stop of the tour: what came of the file, and where its page is."""

    graded: Graded
    report: Path
    right: bool


def tour(catalog: Catalog, grade: GradeFunction, clock: Clock, options: Options) -> Iterator[Answer | Result]:
    """Every stop in turn, each graded when it is asked for.

    All files lie in a new temporary folder, the history too, and stay there to be looked at until the next
    tour. Raises `GraderFault` when the grader does not say what it should.
    """
    kata = catalog.get(_KATA)
    right = kata.solution.read_text(encoding="utf-8")
    wrong = without_the_root(right)
    number, _ = next(_differences(right, wrong))
    folder = make_named_folder(FOLDER_PREFIX).resolve()
    target = Target(path=folder / kata.file_name, kata=kata)
    stops: tuple[tuple[str, Verdict], ...] = ((wrong, "failed"), (right, "passed"))
    with History(database(folder / "home"), clock) as history:
        for text, expected in stops:
            target.path.write_text(text, encoding="utf-8")
            line = text.splitlines()[number - 1]
            yield Answer(path=target.path, kata=kata, number=number, line=line, right=text == right)
            graded = grade_target(target, options, catalog, history, grade, folder=folder)
            report = write_report(graded, "html", folder / f"{expected}.html", folder)
            _expect(expected, graded, report)
            yield Result(graded=graded, report=report, right=text == right)


def without_the_root(solution: str) -> str:
    """The solution as many write it: the scores are divided by the width, not by its square root."""
    wrong, changes = _ROOT.subn(r"\1", solution)
    if changes != 1:
        raise GraderFault(f"The solution of {_KATA} has no single math.sqrt(...).", "Run `kata lint`.")
    return wrong


def _differences(one: str, other: str) -> Iterator[tuple[int, str]]:
    pairs = zip(one.splitlines(), other.splitlines(), strict=True)
    return ((number, line) for number, (line, changed) in enumerate(pairs, start=1) if line != changed)


def _expect(verdict: Verdict, graded: Graded, report: Path) -> None:
    if graded.grade.verdict != verdict:
        raise GraderFault(
            f"The tour's answer should be '{verdict}', but it is '{graded.grade.verdict}'"
            f" ({graded.grade.reason or 'no reason given'}).",
            f"The page is {report}. `kata doctor` may show what is missing.",
        )
