"""One grading, judge's side: load, build, check, diagnose, score. Worker in, `Grade` out."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from types import ModuleType

import msgspec
import torch

import grader
from grader.catalog import Catalog, Kata
from grader.errors import ConfinementUnavailable, GraderFault
from grader.handles import WorkerHandle
from grader.judge.ahead import ask_ahead
from grader.judge.bench import Bench
from grader.judge.candidate import Caller, Candidate
from grader.judge.channel import Channel, WorkerLost
from grader.judge.checks import NotReached
from grader.judge.comments import shape_comments
from grader.judge.content import KataContent, load_content
from grader.judge.diagnose import diagnose, diagnose_problem, spoken
from grader.judge.notes import notes
from grader.judge.plain import plain_grade
from grader.judge.plugin import Outcome, run_checks
from grader.judge.probes import WIDTH
from grader.judge.scoring import check_records, concept_records, reason, verdict
from grader.judge.wording import sentence
from grader.judge.xray import Map
from grader.protocol import Failure
from grader.records import (
    AttentionMap,
    ConceptRecord,
    Environment,
    Grade,
    SourceRecord,
    Submission,
    TraceStep,
)

MAX_STEPS = 60
MAKING_WEIGHTS = frozenset({"mask", "normalise", "drop"})
AFTER_THE_WEIGHTS = frozenset({"mix", "output"})


def judge(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    handle: WorkerHandle,
    *,
    seed: int,
    total_seconds: float,
    loaded: Sequence[KataContent] = (),
    clock: Callable[[], float] = time.perf_counter,
) -> Grade:
    """Grade through a running worker; ends the worker whatever happens. Content that is `loaded` stays so."""
    started = clock()
    torch.set_num_threads(1)
    channel = Channel(handle, total_seconds, stretch=max(1.0, total_seconds / kata.deadlines.total))
    try:
        isolation = _isolation(channel)
        content = next((known for known in loaded if known.kata == kata), None)
        if content is None:
            content = load_content(kata, catalog)
        graded = judge_caller(submission, content, channel, seed)
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


def _isolation(channel: Channel) -> str:
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
    *,
    run: Callable[[ModuleType, Bench], tuple[Outcome, ...]] = run_checks,
) -> Grade:
    """Grade whatever answers the requests: a worker, or the oracle playing a candidate."""
    candidate = Candidate(content, caller, seed, submission.source, submission.name)
    text = candidate.text
    bench = Bench.around(candidate, text)
    source = SourceRecord(name=submission.name, sha256=submission.sha256, text=text)
    problem = candidate.load_problem or candidate.rig().problem
    if problem is not None:
        known = diagnose_problem(bench, problem, dict(content.labels)) if isinstance(problem, Failure) else ()
        return Grade(
            kata=content.kata.id,
            verdict="unrunnable",
            seed=seed,
            reason=sentence(problem, submission.name),
            max_points=content.kata.max_points,
            concepts=_untouched(content.kata),
            diagnosis=known,
            source=source,
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
    comments = shape_comments(
        bench.blame.source.lines, bench.blame.unmasked, {"batch": 3, "seq_len": 5, "hidden_dim": WIDTH}
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
        trace=_steps(bench),
        shape_comments=comments,
        maps=() if result == "passed" else _maps(bench),
        source=source,
    )


def _optional(kata: Kata) -> set[str]:
    return {concept.id for concept in kata.concepts if not concept.required}


def _untouched(kata: Kata) -> tuple[ConceptRecord, ...]:
    return tuple(
        ConceptRecord(
            id=concept.id,
            title=concept.title,
            points=0,
            max_points=concept.points,
            status="not_reached",
            required=concept.required,
        )
        for concept in kata.concepts
    )


def _steps(bench: Bench) -> tuple[TraceStep, ...]:
    return tuple(
        TraceStep(line=entry.line, call=entry.call, inputs=entry.inputs, output=entry.output)
        for entry in bench.blame.trace[:MAX_STEPS]
    )


def _maps(bench: Bench) -> tuple[AttentionMap, ...]:
    """The first sample's attention map beside the expected one, under a mask where the kata has one.

    None where what was measured is no picture of the weights: where a step after them is wrong, and where its
    rows are none that softmax gives though nothing says that softmax is wrong.
    """
    try:
        masked = bench.candidate.kata.takes_mask
        found = bench.xray.masked if masked else bench.xray.plain
    except NotReached:
        return ()
    explanation = bench.steps.explanation
    wrong = {step for form in explanation.forms for step in form.steps} if explanation is not None else set()
    if wrong & AFTER_THE_WEIGHTS or not (found.rows_are_weights or wrong & MAKING_WEIGHTS):
        return ()
    title = "Attention weights under a mask" if masked else "Attention weights"
    return (_map(title, found),)


def _map(title: str, found: Map) -> AttentionMap:
    def rows(weights: torch.Tensor) -> tuple[tuple[float | None, ...], ...]:
        return tuple(
            tuple(round(float(value), 4) if bool(torch.isfinite(value)) else None for value in row)
            for row in weights[0]
        )

    hidden = () if found.visible is None else tuple(tuple(bool(v) for v in row) for row in ~found.visible[0])
    return AttentionMap(title=title, expected=rows(found.expected), actual=rows(found.actual), hidden=hidden)
