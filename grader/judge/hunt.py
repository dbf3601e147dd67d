"""What became of the planted mistakes of a bug hunt: mended, still there, or not to be told; and what is new.

A mistake that shows in values is judged by the explanations of the outputs: it is mended if none of them has
it, or does its step in another wrong way. Any other is judged by the checks of its concept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.judge.checks import CheckFailed
from grader.judge.explain import Explanation
from grader.judge.instruments import Bench
from grader.judge.oracle import Form
from grader.judge.planted import forms_of
from grader.judge.plugin import Outcome
from grader.records import Planted, RoomRecord

MENDED, STILL, UNKNOWN = "mended", "still", "unknown"


def nothing_told(planted: Sequence[Planted]) -> RoomRecord | None:
    """Of an answer that did not run; None where there is no hunt."""
    labels = tuple(one.label for one in planted)
    return RoomRecord(planted=labels, unknown=labels) if planted else None


def hunted(bench: Bench, outcomes: Sequence[Outcome], *, passed: bool) -> RoomRecord | None:
    """What can be said of each planted mistake; None where there is no hunt."""
    planted = bench.candidate.planted
    labels = tuple(one.label for one in planted)
    if not planted:
        return None
    if passed:
        return RoomRecord(planted=labels, mended=labels)
    told = {one.label: _of(one, bench, outcomes) for one in planted}
    of = {
        state: tuple(label for label in labels if told[label] == state) for state in (MENDED, STILL, UNKNOWN)
    }
    return RoomRecord(
        planted=labels,
        mended=of[MENDED],
        still=of[STILL],
        unknown=of[UNKNOWN],
        new=_new(bench, outcomes, told),
    )


def _of(planted: Planted, bench: Bench, outcomes: Sequence[Outcome]) -> str:
    own = forms_of(planted, bench.candidate.content.values)
    return _by_values(own, _explanations(bench)) if own else _by_checks(planted.label, bench, outcomes)


def _explanations(bench: Bench) -> tuple[Explanation, ...]:
    """All that are known; one that leaves masks out tells nothing of what only a mask shows."""
    found = bench.steps.explanation
    whole = found is not None and (found.masked or not bench.candidate.kata.takes_mask)
    return bench.steps.planted or ((found,) if found is not None and whole else ())


def _by_values(own: Sequence[Form], explanations: Sequence[Explanation]) -> str:
    steps = {step for form in own for step in form.steps}
    there = [
        any(form.label == own[0].label or steps & form.steps.keys() for form in found.forms)
        for found in explanations
    ]
    if not there or any(there) != all(there):
        return UNKNOWN
    return STILL if there[0] else MENDED


def _by_checks(label: str, bench: Bench, outcomes: Sequence[Outcome]) -> str:
    if label not in bench.labels:  # another version of the content knew it
        return UNKNOWN
    if label in _named(outcomes):
        return STILL
    concept = bench.labels[label].concept
    raised = [outcome.raised for outcome in outcomes if outcome.info.concept == concept]
    if any(isinstance(one, CheckFailed) for one in raised):
        return STILL
    return MENDED if all(one is None for one in raised) else UNKNOWN


def _named(outcomes: Iterable[Outcome]) -> dict[str, Outcome]:
    """The labels that failed checks say."""
    return {
        outcome.raised.mistake: outcome
        for outcome in outcomes
        if isinstance(outcome.raised, CheckFailed) and outcome.raised.mistake
    }


def _new(bench: Bench, outcomes: Sequence[Outcome], told: dict[str, str]) -> tuple[str, ...]:
    """Labels of what was not planted; the checks that failed, where nothing else says why."""
    kata = bench.candidate.kata
    required = [outcome for outcome in outcomes if outcome.raised is not None and outcome.is_required(kata)]
    explained = [form.label for found in _explanations(bench)[:1] for form in found.forms]
    open_labels = [label for label, state in told.items() if state != MENDED]
    theirs = {bench.labels[label].concept for label in open_labels if label in bench.labels}
    named = [
        label
        for label, outcome in _named(required).items()
        if outcome.info.concept not in theirs
        and not {*explained, *told} & set(bench.known.of(label).covered_by)
    ]
    new = tuple(label for label in dict.fromkeys((*explained, *named)) if label not in told)
    if new or any(state != MENDED for state in told.values()):
        return new
    return tuple(outcome.id for outcome in required if isinstance(outcome.raised, CheckFailed))
