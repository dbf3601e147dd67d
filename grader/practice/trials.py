"""An answer on an example: what it returned, shapes line by line. No attempt, no verdict, nothing kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from grader.answer_text import cell_starts
from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.practice.targets import Target
from grader.records import Record, Submission, Trial
from grader.snapshot import UnreadableSubmission, read_submission

if TYPE_CHECKING:
    from grader.records import Options


class TryFunction(Protocol):
    """`grader.grading.try_out`, or a stand-in for it."""

    def __call__(
        self,
        submission: Submission,
        kata: Kata,
        catalog: Catalog,
        options: Options | None = None,
        *,
        measure: bool = False,
    ) -> Trial: ...


class Tried(Record):
    """A trial with what its page needs. `file` is as the caller would type it; `cells` are a notebook's."""

    kata: Kata
    trial: Trial
    file: str
    cells: tuple[int, ...] = ()


def try_target(
    target: Target, options: Options, catalog: Catalog, try_out: TryFunction, *, folder: Path
) -> Tried:
    """Try the target; raises `UsageError` where there is nothing that can be read."""
    try:
        submission = target.submission or read_submission(target.path)
        if isinstance(submission, UnreadableSubmission):
            raise submission
    except UnreadableSubmission as problem:
        raise UsageError(problem.message, problem.fix) from problem
    return Tried(
        kata=target.kata,
        trial=try_out(submission, target.kata, catalog, options),
        file=min(os.path.relpath(target.path, folder.resolve()), str(target.path), key=len),
        cells=cell_starts(submission.source, submission.name),
    )


def page(tried: Tried, *, width: int = 80, color: bool = False, unicode: bool = True) -> str:
    """The trial as text for a terminal."""
    from grader.report.terminal import render_text
    from grader.report.trial import trial_view

    view = trial_view(tried.trial, tried.kata, file=tried.file, cells=tried.cells)
    return render_text(view, width, color, unicode=unicode)
