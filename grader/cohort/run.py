"""Grade many answers, several at a time, each result as it comes. One bad file never stops the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from grader.catalog import Catalog, Kata
from grader.cohort.entries import Entry, Result
from grader.errors import ConfinementUnavailable, KataError
from grader.records import Grade, Options, SourceRecord, Submission


class GradeFunction(Protocol):
    """`grader.engine.private.PrivateEngine.grade`, or a stand-in; threads call it at once."""

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade: ...


class Stopped(Exception):
    """Whoever grades cannot go on, by nobody's fault here; what is done stays. It says what happened."""


GradeOne = Callable[[Entry], Result]


def usual_jobs() -> int:
    """Grades at a time: more than processors, so that one that hangs takes a slot and no processor."""
    return 3 * (os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1)


def run(entries: Iterable[Entry], grade_one: GradeOne, jobs: int) -> Iterator[Result]:
    """The results in the order in which they come. Entries are taken as there is room: memory stays flat.

    A caller that stops asking, or an interruption, waits for those under way only.
    """
    left = iter(entries)
    with ThreadPoolExecutor(jobs, thread_name_prefix="grade") as threads:
        under_way: set[Future[Result]] = set()
        for entry in left:
            under_way.add(threads.submit(grade_one, entry))
            if len(under_way) >= jobs:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


def grading(
    grade: GradeFunction, catalog: Catalog, options: Options, keys: Callable[[Entry], str]
) -> GradeOne:
    """A function that makes an entry's result and raises nothing that comes from one entry alone."""

    def grade_one(entry: Entry) -> Result:
        if entry.submission is None or entry.kata is None:
            return skipped(entry)
        kata = catalog.get(entry.kata)
        try:
            result = grade(entry.submission, kata, catalog, options)
        except ConfinementUnavailable:
            raise  # it is the same for all
        except KataError as problem:
            result = fault(kata, problem, options)
        return graded(entry, result, keys(entry))

    return grade_one


def graded(entry: Entry, grade: Grade, key: str) -> Result:
    return Result(
        name=entry.name, file=entry.file, student=entry.student, status="graded", key=key, kata=grade.kata,
        grade=grade, origin=entry.origin,
    )  # fmt: skip


def skipped(entry: Entry, key: str = "") -> Result:
    return Result(
        name=entry.name, file=entry.file, student=entry.student, status="aside" if entry.aside else "skipped",
        key=key, kata=entry.kata, reason=entry.reason, origin=entry.origin,
    )  # fmt: skip


def at_once(entry: Entry, catalog: Catalog, options: Options, key: str) -> Result | None:
    """What needs no grader: the result of what cannot be graded, and of an empty file; None for all else."""
    if entry.submission is None or entry.kata is None:
        return skipped(entry, key)
    if entry.submission.source:
        return None
    kata = catalog.get(entry.kata)
    grade = Grade(
        kata=kata.id,
        verdict="unrunnable",
        seed=options.seed or 0,
        reason="Nothing was handed in: the file is empty.",
        max_points=kata.max_points,
        concepts=kata.untouched,
        source=SourceRecord(name=entry.submission.name, sha256=entry.submission.sha256),
    )
    return graded(entry, grade, key)


def fault(kata: Kata, problem: KataError, options: Options) -> Grade:
    """The grader failed: that says nothing about the answer, and the next run tries again."""
    return Grade(
        kata=kata.id,
        verdict="grader_error",
        seed=options.seed or 0,
        reason=f"{problem.message} {problem.fix}".strip(),
        max_points=kata.max_points,
        concepts=kata.untouched,
    )
