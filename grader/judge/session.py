"""One grading, judge's side: load, build, check, diagnose, score. Worker in, `Grade` out."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType

import msgspec
import torch

import grader
from grader.catalog import Catalog, Kata
from grader.errors import ConfinementUnavailable, GraderFault
from grader.handles import WorkerHandle
from grader.judge.by_hand import by_hand
from grader.judge.candidate import Caller, Candidate
from grader.judge.channel import Channel, WorkerLost
from grader.judge.comments import shape_comments
from grader.judge.content import KataContent, load_content
from grader.judge.diagnose import diagnose, diagnose_problem, spoken
from grader.judge.experiment import experiment
from grader.judge.hunt import hunted, nothing_told
from grader.judge.instruments import Bench
from grader.judge.notes import notes
from grader.judge.pictures import pictures
from grader.judge.plugin import Outcome, run_checks
from grader.judge.prefetch import ask_ahead
from grader.judge.sanitize import plain_grade
from grader.judge.scoring import check_records, concept_records, reason, verdict
from grader.judge.unfinished import with_todos
from grader.judge.wording import sentence
from grader.protocol import Failure, TraceEntry
from grader.records import (
    Environment,
    Extra,
    Grade,
    SourceRecord,
    Submission,
    TraceStep,
)

MAX_STEPS = 60
NOTHING_MORE = Extra()


def judge(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    handle: WorkerHandle,
    *,
    seed: int,
    total_seconds: float,
    extra: Extra = NOTHING_MORE,
    loaded: Sequence[KataContent] = (),
    told: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Grade:
    """Grade through a running worker; ends the worker whatever happens. Content that is `loaded` stays so.

    `told` is called after every check, with the number of those done and of all.
    """
    started = clock()
    torch.set_num_threads(1)
    channel = Channel(handle, total_seconds, stretch=max(1.0, total_seconds / kata.deadlines.total))
    try:
        isolation = admitted(channel)
        content = next((known for known in loaded if known.kata == kata), None)
        if content is None:
            content = load_content(kata, catalog)
        graded = judge_caller(submission, content, channel, seed, extra, run=partial(run_checks, told=told))
        channel.settle()
        _had_its_time(channel)
    finally:
        channel.close()
    environment = Environment(
        grader=grader.__version__,
        python=platform.python_version(),
        torch=str(torch.__version__),
        isolation=isolation,
    )
    return msgspec.structs.replace(
        plain_grade(graded),
        printed=channel.printed,
        environment=environment,
        seconds={**graded.seconds, "judge": round(clock() - started, 4)},
    )


def _had_its_time(channel: Channel) -> None:
    """Raises `GraderFault` when the time ran out on a machine that gave the answer too little of it."""
    if channel.lost is not None and channel.lost.why == "crowded":
        raise GraderFault(
            f"This machine was too busy to grade it: {2 * channel.total_seconds:.0f} s went by, and other"
            " programs had the processors for most of them.",
            "That says nothing about the answer. Grade it again when less runs, or with a longer --timeout.",
        )


def admitted(channel: Channel) -> str:
    """What confines the worker, in words; raises `GraderFault` when it is not there or not as asked for."""
    try:
        confined = channel.greeting()
    except WorkerLost as lost:
        said = channel.printed.text.strip()[-500:] or "it printed nothing"
        raise GraderFault(
            f"The worker process did not start ({lost}): {said}",
            "Try again; `kata doctor` shows whether PyTorch and the isolation work here.",
        ) from lost
    if confined.refused or confined.level != channel.handle.isolation:
        raise ConfinementUnavailable(confined.missing or (confined.level,))
    without = f"; not there: {', '.join(confined.missing)}" if confined.missing else ""
    return f"{confined.level}: {', '.join(confined.mechanisms)}{without}"


def judge_caller(
    submission: Submission,
    content: KataContent,
    caller: Caller,
    seed: int,
    extra: Extra = NOTHING_MORE,
    *,
    run: Callable[[ModuleType, Bench], tuple[Outcome, ...]] = run_checks,
) -> Grade:
    """Grade whatever answers the requests: a worker, or the oracle playing a candidate."""
    candidate = Candidate(content, caller, seed, submission.source, submission.name, extra.planted)
    bench = Bench.around(candidate, candidate.text)
    grade = _judged(submission, content, candidate, bench, seed, run)
    if extra.by_hand and grade.verdict == "failed":
        found = by_hand(bench)
        tried = experiment(candidate, grade) if found is None else None
        grade = msgspec.structs.replace(grade, by_hand=found, experiment=tried)
    return with_todos(grade, candidate)


def _judged(
    submission: Submission,
    content: KataContent,
    candidate: Candidate,
    bench: Bench,
    seed: int,
    run: Callable[[ModuleType, Bench], tuple[Outcome, ...]],
) -> Grade:
    source = SourceRecord(name=submission.name, sha256=submission.sha256, text=candidate.text)
    problem = candidate.load_problem or candidate.rig().problem
    if problem is not None:
        known = diagnose_problem(bench, problem, dict(content.labels)) if isinstance(problem, Failure) else ()
        return Grade(
            kata=content.kata.id,
            verdict="unrunnable",
            seed=seed,
            reason=sentence(problem, submission.name),
            max_points=content.kata.max_points,
            concepts=content.kata.untouched,
            diagnosis=known,
            source=source,
            room=nothing_told(candidate.planted),
        )
    ask_ahead(bench)
    return _checked(content, bench, seed, source, run(content.checks, bench))


def _checked(
    content: KataContent, bench: Bench, seed: int, source: SourceRecord, outcomes: tuple[Outcome, ...]
) -> Grade:
    kata = content.kata
    checks = check_records(outcomes, kata, bench)
    concepts = concept_records(kata, checks, outcomes)
    result = verdict(checks)
    clean = all(check.status == "passed" for check in checks if check.concept not in _optional(kata))
    found = () if clean else diagnose(bench, outcomes)
    family = bench.candidate.family
    comments = shape_comments(
        bench.blame.source.lines, bench.blame.unmasked, bench.candidate.sizes, family.words
    )
    return Grade(
        kata=kata.id,
        verdict=result,
        seed=seed,
        reason=None if result == "passed" else reason(checks, spoken(bench, found)),
        points=sum(concept.points for concept in concepts),
        max_points=kata.max_points,
        concepts=concepts,
        checks=checks,
        diagnosis=found,
        notes=notes(bench, comments, passed=result == "passed"),
        trace=trace_steps(bench.blame.trace),
        shape_comments=comments,
        maps=() if result == "passed" else pictures(bench),
        source=source,
        room=hunted(bench, outcomes, passed=result == "passed"),
    )


def _optional(kata: Kata) -> set[str]:
    return {concept.id for concept in kata.concepts if not concept.required}


def trace_steps(trace: Sequence[TraceEntry]) -> tuple[TraceStep, ...]:
    """The first calls of a trace, as a report shows them."""
    return tuple(
        TraceStep(line=entry.line, call=entry.call, inputs=entry.inputs, output=entry.output)
        for entry in trace[:MAX_STEPS]
    )
