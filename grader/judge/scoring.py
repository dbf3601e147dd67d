"""Outcomes of checks become records, points and a verdict. All or nothing per concept."""

from __future__ import annotations

from collections.abc import Sequence

from grader.catalog import Concept, Kata
from grader.judge.checks import END_TO_END, CheckFailed, NotReached
from grader.judge.instruments import Bench
from grader.judge.lines import line_for
from grader.judge.plugin import Outcome
from grader.records import CheckRecord, ConceptRecord, Status, Verdict


def check_records(outcomes: Sequence[Outcome], kata: Kata, bench: Bench) -> tuple[CheckRecord, ...]:
    """One record a check, in the order of the kata's concepts; the end-to-end gates come last."""
    order = {concept.id: place for place, concept in enumerate(kata.concepts)}
    ordered = sorted(outcomes, key=lambda outcome: order.get(outcome.info.concept, len(order)))
    return tuple(_record(outcome, kata, bench) for outcome in ordered)


def _record(outcome: Outcome, kata: Kata, bench: Bench) -> CheckRecord:
    required = outcome.is_required(kata)
    raised = outcome.raised
    if raised is None:
        return CheckRecord(
            id=outcome.id,
            concept=outcome.info.concept,
            title=outcome.info.title,
            status="passed",
            required=required,
        )
    if isinstance(raised, NotReached):
        return CheckRecord(
            id=outcome.id,
            concept=outcome.info.concept,
            title=outcome.info.title,
            status="not_reached",
            required=required,
            message=str(raised),
        )
    assert isinstance(raised, CheckFailed)
    line = raised.line
    if outcome.info.concept != END_TO_END and required:
        line = line_for(bench.blame, raised.mistake, outcome.info.concept, raised.line)
    return CheckRecord(
        id=outcome.id,
        concept=outcome.info.concept,
        title=outcome.info.title,
        status="failed",
        required=required,
        message=raised.message,
        expected=raised.expected,
        actual=raised.actual,
        line=line,
        why=outcome.info.why or None,
    )


def concept_records(
    kata: Kata, checks: Sequence[CheckRecord], outcomes: Sequence[Outcome]
) -> tuple[ConceptRecord, ...]:
    """The points of every concept: all of them when each of its checks passed, else none.

    What only a gate found costs the concept that the gate charges.
    """
    own = [[check for check in checks if check.concept == concept.id] for concept in kata.concepts]
    statuses = [_status(group) for group in own]
    clean = all(
        status == "passed"
        for status, concept in zip(statuses, kata.concepts, strict=True)
        if concept.required
    )
    charged = _charged(outcomes) if clean else None
    return tuple(
        _concept(concept, "failed" if concept.id == charged else status)
        for concept, status in zip(kata.concepts, statuses, strict=True)
    )


def _charged(outcomes: Sequence[Outcome]) -> str | None:
    """The concept that the first failed gate charges."""
    raised = (outcome.raised for outcome in outcomes)
    return next((one.charges for one in raised if isinstance(one, CheckFailed) and one.charges), None)


def _concept(concept: Concept, status: Status) -> ConceptRecord:
    return ConceptRecord(
        id=concept.id,
        title=concept.title,
        points=concept.points if status == "passed" else 0,
        max_points=concept.points,
        status=status,
        required=concept.required,
    )


def _status(checks: Sequence[CheckRecord]) -> Status:
    if any(check.status == "failed" for check in checks):
        return "failed"
    if not checks or any(check.status == "not_reached" for check in checks):
        return "not_reached"
    return "passed"


def verdict(checks: Sequence[CheckRecord]) -> Verdict:
    """Passed when there are checks and every required one passed."""
    required = [check for check in checks if check.required]
    return "passed" if required and all(check.status == "passed" for check in required) else "failed"


def reason(checks: Sequence[CheckRecord], diagnosis_sentence: str | None) -> str | None:
    """One sentence on why it did not pass."""
    if diagnosis_sentence is not None:
        return diagnosis_sentence
    missed = [check for check in checks if check.required and check.status != "passed"]
    failed = [check for check in missed if check.status == "failed"]
    return next((check.message for check in (*failed, *missed)), None)
