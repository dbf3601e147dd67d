"""A counterexample on paper for a grade that is there: what was graded is graded once more, by its seed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec.structs import replace

from grader.catalog import Catalog
from grader.errors import UsageError
from grader.practice.attempts import Graded, GradeFunction
from grader.records import Isolation, Options, Submission


def on_paper(
    graded: Graded,
    catalog: Catalog,
    grade: GradeFunction,
    *,
    isolation: Isolation = "standard",
    engine: bool = True,
) -> Graded:
    """The same with an example in its grade, where there is one; nothing is kept of it.

    Raises `UsageError` where there is nothing to be shown: after a pass, and in a bug hunt.
    """
    told = graded.grade
    if told.room is not None:
        raise UsageError(
            "In a bug hunt there is no example by hand: it would say which bug it is.",
            "kata run shows what your code gives.",
        )
    if told.verdict != "failed" or told.source is None:
        wrong = "it passed" if told.verdict == "passed" else "it did not run"
        raise UsageError(
            f"There is no example by hand: {wrong}.", "It shows an answer that gives wrong numbers."
        )
    source = told.source.text.encode()
    # A notebook's cells are one text by now, and that is Python.
    name = Path(told.source.name).with_suffix(".py").name
    submission = Submission(name=name, source=source, sha256=hashlib.sha256(source).hexdigest())
    options = Options(seed=told.seed, isolation=isolation, engine=engine, by_hand=True)
    again = grade(submission, graded.kata, catalog, options)
    return replace(graded, grade=replace(told, by_hand=again.by_hand, experiment=again.experiment))


def paper(graded: Graded, *, width: int = 80, color: bool = False, unicode: bool = True) -> str:
    """The example for a terminal."""
    from grader.report.hand import hand_of
    from grader.report.terminal import render_text
    from grader.report.view import View

    view = View(title=graded.kata.title, tone="bad", sections=(hand_of(graded.grade),))
    return render_text(view, width, color, unicode=unicode)
