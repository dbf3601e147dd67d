"""Grade a file and keep the attempt; recall an attempt that was kept."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.errors import UsageError
from grader.history import Attempt, History
from grader.practice.clock import active
from grader.practice.hints import hint_texts
from grader.practice.overview import next_kata
from grader.practice.questions import some_questions
from grader.practice.targets import Target
from grader.records import Grade, Record, Submission
from grader.report.context import ReportContext
from grader.snapshot import NotAnAnswer, UnreadableSubmission, read_submission
from grader.stored import Origin

if TYPE_CHECKING:
    from grader.grading import Options


class GradeFunction(Protocol):
    """`grader.grading.grade`, or a stand-in for it."""

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade: ...


class Graded(Record):
    """A grade with all that a report needs. Without an `attempt` it was not kept: `warning` says why, unless
    the verdict is `grader_error`."""

    kata: Kata
    grade: Grade
    context: ReportContext
    attempt: Attempt | None = None
    warning: HistoryUnavailable | None = None


def grade_target(
    target: Target,
    options: Options,
    catalog: Catalog,
    history: History,
    grade: GradeFunction,
    *,
    folder: Path,
    verbose: bool = False,
    origin: Origin = "grade",
) -> Graded:
    """Grade the target and keep the attempt. `folder` is where the caller stands: paths are shown from there.

    A file that is no Python text gets the verdict `unrunnable`; one that is not there, or is no file with
    something in it, raises `UsageError`.
    """
    submission = None
    try:
        submission = _read(target)
        result = grade(submission, target.kata, catalog, options)
    except NotAnAnswer as problem:
        raise UsageError(problem.message, problem.fix) from problem
    except UnreadableSubmission as problem:
        result = _unreadable(problem, target.kata, options)
    return _kept(result, submission, target, catalog, history, folder=folder, verbose=verbose, origin=origin)


def _read(target: Target) -> Submission:
    if isinstance(target.submission, UnreadableSubmission):
        raise target.submission
    return target.submission or read_submission(target.path)


def recall(
    kata: Kata | None, catalog: Catalog, history: History, *, folder: Path, verbose: bool = False
) -> Graded:
    """The last attempt at `kata`, or at any; raises `UsageError` when there was none."""
    known = {kata.id for kata in catalog.katas}  # another machine may have others
    attempts = [a for a in history.attempts(None if kata is None else kata.id) if a.kata in known]
    if not attempts:
        example = (kata or catalog.katas[0]).id
        raise UsageError(
            f"No answer to {kata.id} was graded yet." if kata else "Nothing was graded yet.",
            f"Begin with `kata start {example}`, then `kata grade {example}`.",
        )
    attempt = attempts[0]
    grade = history.grade(attempt)
    found = catalog.get(attempt.kata)
    context = _context(grade, found, attempt.path, folder, verbose)
    return Graded(
        kata=found,
        grade=grade,
        context=_with_past(context, attempt, found, catalog, history),
        attempt=attempt,
    )


def _kept(
    grade: Grade,
    submission: Submission | None,
    target: Target,
    catalog: Catalog,
    history: History,
    *,
    folder: Path,
    verbose: bool,
    origin: Origin,
) -> Graded:
    context = _context(grade, target.kata, target.path, folder, verbose)
    if grade.verdict == "grader_error":  # it says nothing about the answer: no attempt
        return Graded(kata=target.kata, grade=grade, context=context)
    try:
        attempt = history.record_attempt(grade, submission, target.path, origin)
        context = _with_past(context, attempt, target.kata, catalog, history)
    except HistoryUnavailable as warning:
        return Graded(kata=target.kata, grade=grade, context=context, warning=warning)
    return Graded(kata=target.kata, grade=grade, context=context, attempt=attempt)


def _unreadable(problem: UnreadableSubmission, kata: Kata, options: Options) -> Grade:
    from grader.grading import untouched

    return Grade(
        kata=kata.id,
        verdict="unrunnable",
        seed=options.seed or 0,
        reason=f"{problem.message} {problem.fix}",
        max_points=kata.max_points,
        concepts=untouched(kata),
    )


def _context(grade: Grade, kata: Kata, path: Path | None, folder: Path, verbose: bool) -> ReportContext:
    file = "" if path is None else _seen_from(folder, path)
    explains = grade.verdict != "passed" and grade.reason is not None
    return ReportContext(
        file=file,
        command=f"kata grade {shlex.quote(file)} {kata.id} --seed {grade.seed}" if file else "",
        show_printed=verbose or explains,
        verbose=verbose,
        questions=some_questions(kata) if grade.verdict == "passed" else (),
    )


def _with_past(
    context: ReportContext, attempt: Attempt, kata: Kata, catalog: Catalog, history: History
) -> ReportContext:
    """What the history knows about an attempt: its number, the one before, the time and the hints it took."""
    past = [
        other for other in history.attempts(kata.id) if other.at <= attempt.at and other.uuid != attempt.uuid
    ]
    taken = active(attempt, kata, history)
    onward = next_kata(catalog, history, after=kata) if attempt.verdict == "passed" else None
    return msgspec.structs.replace(
        context,
        attempt=len(past) + 1,
        previous_points=past[0].points if past else None,
        seconds_taken=None if taken is None else taken.seconds,
        paused=taken is not None and taken.paused,
        hints=hint_texts(kata)[: attempt.hints],
        when=attempt.at.isoformat(),
        next_kata=None if onward is None else onward.id,
    )


def _seen_from(folder: Path, path: Path) -> str:
    """The path as one would type it in `folder`, when that is shorter."""
    near = os.path.relpath(path, folder.resolve())
    return min(near, str(path), key=len)
