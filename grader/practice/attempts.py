"""Grade a file and keep the attempt; recall an attempt that was kept."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.answer_text import answer_text, cell_starts
from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.debugging.desk import entered_at, judged, record_hunt
from grader.debugging.store import Entered
from grader.debugging.withheld import withheld
from grader.errors import UsageError
from grader.history import Attempt, History
from grader.practice.clock import active
from grader.practice.hints import hint_texts, show_fixes
from grader.practice.overview import next_kata
from grader.practice.questions import some_questions
from grader.practice.targets import Target
from grader.records import Grade, Record, RoomRecord, Submission
from grader.report.context import ReportContext
from grader.snapshot import NotAnAnswer, UnreadableSubmission, read_submission
from grader.stored import Origin

if TYPE_CHECKING:
    from grader.records import Options


class Shown(Record):
    """How much of a report a terminal gets. Without `fixes` only those that were asked for are in it."""

    brief: bool = False
    verbose: bool = False
    fixes: bool = False


SHORT, LONG = Shown(brief=True), Shown()


class GradeFunction(Protocol):
    """`grader.grading.grade`, or a stand-in for it."""

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade: ...


class Graded(Record):
    """A grade with all that a report needs. Without an `attempt` it was not kept: `warning` says why, unless
    the verdict is `grader_error` or TODOs are open."""

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
    shown: Shown = SHORT,
    origin: Origin = "grade",
    timed: bool = False,
) -> Graded:
    """Grade the target and keep the attempt. `folder` is where the caller stands: paths are shown from there.

    `timed`: the clock of an interview runs, and of a bug hunt only numbers are told.

    A file that is no Python text gets the verdict `unrunnable`; one that is not there, or is no file with
    something in it, raises `UsageError`.
    """
    entered = entered_at(target.path, history)
    if entered is not None:
        return _hunted(
            entered, target, options, catalog, history, grade, folder=folder, shown=shown, timed=timed
        )
    submission = None
    try:
        submission = _read(target)
        result = grade(submission, target.kata, catalog, options)
    except NotAnAnswer as problem:
        raise UsageError(problem.message, problem.fix) from problem
    except UnreadableSubmission as problem:
        result = _unreadable(problem, target.kata, options)
    return _kept(
        result,
        submission,
        target.kata,
        target.path,
        catalog,
        history,
        folder=folder,
        shown=shown,
        origin=origin,
    )


def options_for(path: Path, options: Options, history: History) -> Options:
    """How the file there is to be graded: in a bug hunt, by what was planted."""
    entered = entered_at(path, history)
    return options if entered is None else _planted(entered, options)


def _planted(entered: Entered, options: Options) -> Options:
    return msgspec.structs.replace(options, planted=entered.room.planted)


def _hunted(
    entered: Entered,
    target: Target,
    options: Options,
    catalog: Catalog,
    history: History,
    grade: GradeFunction,
    *,
    folder: Path,
    shown: Shown,
    timed: bool,
) -> Graded:
    """Grade the file of a bug hunt, which is no attempt at the kata, and keep the grade with its room.

    While it is `timed` what would give bugs away is neither shown nor kept.
    """
    kata, submission, warning = catalog.get(entered.room.kata), None, None
    try:
        submission = _read(target)
        graded = grade(submission, kata, catalog, _planted(entered, options))
        result = judged(entered.room, graded, answer_text(submission.source, submission.name))
    except NotAnAnswer as problem:
        raise UsageError(problem.message, problem.fix) from problem
    except UnreadableSubmission as problem:
        labels = entered.room.labels
        room = RoomRecord(planted=labels, unknown=labels)
        result = msgspec.structs.replace(_unreadable(problem, kata, options), room=room)
    if timed:
        result = withheld(result)
    if result.verdict != "grader_error":
        try:
            record_hunt(entered, result, submission, history)
        except HistoryUnavailable as error:
            warning = error
    source = None if submission is None else submission.source
    context = _context(result, kata, target.path, folder, shown, source)
    return Graded(kata=kata, grade=result, context=context, warning=warning)


def grade_text(
    submission: Submission,
    kata: Kata,
    options: Options,
    catalog: Catalog,
    history: History,
    grade: GradeFunction,
    *,
    folder: Path,
) -> Graded:
    """Grade an answer that is in no file, and keep the attempt."""
    result = grade(submission, kata, catalog, options)
    return _kept(result, submission, kata, None, catalog, history, folder=folder, shown=LONG, origin="grade")


def _read(target: Target) -> Submission:
    if isinstance(target.submission, UnreadableSubmission):
        raise target.submission
    return target.submission or read_submission(target.path)


def recall(
    kata: Kata | None, catalog: Catalog, history: History, *, folder: Path, shown: Shown = LONG
) -> Graded:
    """The last attempt at `kata`, or at any; raises `UsageError` when there was none."""
    known = {kata.id for kata in catalog.katas}  # another machine may have others
    attempts = [a for a in history.attempts(None if kata is None else kata.id) if a.kata in known]
    if not attempts:
        example = (kata or catalog.first).id
        raise UsageError(
            f"No answer to {kata.id} was graded yet." if kata else "Nothing was graded yet.",
            f"Begin with `kata start {example}`, then `kata grade {example}`.",
        )
    return recall_attempt(attempts[0], catalog, history, folder=folder, shown=shown)


def recall_attempt(
    attempt: Attempt, catalog: Catalog, history: History, *, folder: Path, shown: Shown = LONG
) -> Graded:
    """An attempt that was kept, with all that a report needs."""
    grade = history.grade(attempt)
    found = catalog.get(attempt.kata)
    context = _context(grade, found, attempt.path, folder, shown, history.source(attempt))
    return Graded(
        kata=found,
        grade=grade,
        context=_with_past(context, attempt, found, catalog, history, shown),
        attempt=attempt,
    )


def _kept(
    grade: Grade,
    submission: Submission | None,
    kata: Kata,
    path: Path | None,
    catalog: Catalog,
    history: History,
    *,
    folder: Path,
    shown: Shown,
    origin: Origin,
) -> Graded:
    source = None if submission is None else submission.source
    context = _context(grade, kata, path, folder, shown, source)
    if grade.verdict == "grader_error" or grade.todos:  # no answer yet, or nothing said about it: no attempt
        return Graded(kata=kata, grade=grade, context=context)
    try:
        attempt = history.record_attempt(grade, submission, path, origin)
        context = _with_past(context, attempt, kata, catalog, history, shown)
    except HistoryUnavailable as warning:
        return Graded(kata=kata, grade=grade, context=context, warning=warning)
    return Graded(kata=kata, grade=grade, context=context, attempt=attempt)


def _unreadable(problem: UnreadableSubmission, kata: Kata, options: Options) -> Grade:
    return Grade(
        kata=kata.id,
        verdict="unrunnable",
        seed=options.seed or 0,
        reason=f"{problem.message} {problem.fix}",
        max_points=kata.max_points,
        concepts=kata.untouched,
    )


def _context(
    grade: Grade, kata: Kata, path: Path | None, folder: Path, shown: Shown, source: bytes | None
) -> ReportContext:
    file = "" if path is None else _seen_from(folder, path)
    explains = grade.verdict != "passed" and grade.reason is not None
    return ReportContext(
        file=file,
        command=f"kata grade {shlex.quote(file)} {kata.id} --seed {grade.seed}" if file else "",
        show_printed=shown.verbose or explains,
        verbose=shown.verbose,
        brief=shown.brief,
        fixes_on_request=not shown.fixes,
        cells=() if source is None or path is None else cell_starts(source, path.name),
        questions=some_questions(kata) if grade.verdict == "passed" else (),
    )


def _with_past(
    context: ReportContext, attempt: Attempt, kata: Kata, catalog: Catalog, history: History, shown: Shown
) -> ReportContext:
    """What the history knows about an attempt: its number, the one before, the time and the help it took.

    A fix that was asked for since is shown as well.
    """
    if shown.fixes:
        show_fixes(kata, attempt, history)
    before = history.fixes_of(attempt)
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
        hints=hint_texts(kata)[: max(0, attempt.hints - len(before))],
        fixes=tuple(dict.fromkeys((*before, *history.fixes_seen(kata.id)))),
        when=attempt.at.isoformat(),
        next_kata=None if onward is None else onward.id,
    )


def _seen_from(folder: Path, path: Path) -> str:
    """The path as one would type it in `folder`, when that is shorter."""
    near = os.path.relpath(path, folder.resolve())
    return min(near, str(path), key=len)
