"""All or nothing per concept; only required checks decide a verdict."""

from __future__ import annotations

import pytest

from grader.judge.checks import CheckFailed, CheckInfo
from grader.judge.plugin import Outcome
from grader.judge.scoring import check_records, concept_records, reason, verdict
from grader.records import CheckRecord, Status
from tests.judge.stage import bench, content

KATA = content("v1").kata
SCALE = next(concept.points for concept in KATA.concepts if concept.id == "scale")


def record(concept: str, status: Status, *, required: bool = True, message: str | None = None) -> CheckRecord:
    return CheckRecord(
        id=f"{concept}_{status}", concept=concept, title="", status=status, required=required, message=message
    )


def status(*checks: CheckRecord) -> dict[str, tuple[str, int]]:
    return {concept.id: (concept.status, concept.points) for concept in concept_records(KATA, checks, ())}


def test_every_check_of_a_concept_earns_its_points() -> None:
    assert status(record("scale", "passed"), record("scale", "passed"))["scale"] == ("passed", SCALE)


def test_one_failed_check_loses_them_all() -> None:
    assert status(record("scale", "passed"), record("scale", "failed"))["scale"] == ("failed", 0)


def test_a_check_that_was_not_reached_earns_nothing_and_blames_nothing() -> None:
    assert status(record("scale", "passed"), record("scale", "not_reached"))["scale"] == ("not_reached", 0)
    assert status(record("scale", "failed"), record("scale", "not_reached"))["scale"] == ("failed", 0)


def test_a_concept_without_a_check_is_not_reached() -> None:
    assert status()["scale"] == ("not_reached", 0)


def test_only_required_checks_decide() -> None:
    passed, optional = record("scale", "passed"), record("robustness", "failed", required=False)
    assert verdict((passed, optional)) == "passed"
    assert verdict((passed, record("end_to_end", "failed"))) == "failed"
    assert verdict((passed, record("end_to_end", "not_reached"))) == "failed"
    assert verdict((optional,)) == "failed"
    assert verdict(()) == "failed"


def test_the_reason_is_the_diagnosis_or_else_the_first_failed_check() -> None:
    failed = record("scale", "failed", message="no scale")
    assert reason((failed,), "You never scaled.") == "You never scaled."
    assert reason((record("mix", "failed", required=False, message="x"), failed), None) == "no scale"
    assert reason((), None) is None


@pytest.mark.parametrize("required", [True, False])
def test_a_check_may_fail_for_something_that_costs_points_and_decides_nothing(required: bool) -> None:
    found = Outcome("one", CheckInfo("output", "", "One"), CheckFailed("none", required=required))
    other = Outcome("two", CheckInfo("mix", "", "Two"), None)
    kata = content("v3").kata
    checks = check_records((found, other), kata, bench("v3"))
    (output,) = (concept for concept in concept_records(kata, checks, ()) if concept.id == "output")
    assert (output.status, output.points) == ("failed", 0)
    assert verdict(checks) == ("failed" if required else "passed")
    assert reason(checks, None) == ("none" if required else None)
