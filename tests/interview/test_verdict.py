"""The rule of the final verdict, as docs/interview.md states it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog
from grader.interview.verdict import Facts, judge, rule
from grader.interview.wording import load_wording

PERFECT = Facts(
    passed=True, points=16, required=16, hint_cost=0, hints=0, used=600, limit=1500, ending="submitted"
)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "strong"),
        ({"used": 1200}, "strong"),
        ({"used": 1201}, "lean_yes"),
        ({"ending": "deadline", "used": 1500}, "lean_yes"),
        ({"hints": 1, "hint_cost": 1}, "lean_yes"),
        ({"hints": 4, "hint_cost": 4}, "lean_yes"),
        ({"hints": 5, "hint_cost": 5}, "lean_no"),
        ({"passed": False, "points": 15}, "lean_no"),
        ({"passed": False, "points": 10}, "lean_no"),
        ({"passed": False, "points": 9}, "no"),
        ({"passed": False, "points": 10, "hints": 1, "hint_cost": 1}, "no"),
        ({"passed": False, "points": 0, "required": 0}, "no"),
        ({"solution_seen": True}, "no"),
        ({"ending": "gave_up"}, "no"),
    ],
)
def test_the_verdict_follows_from_points_time_and_hints(change: dict[str, Any], verdict: str) -> None:
    assert rule([msgspec.structs.replace(PERFECT, **change)]) == verdict


def test_levels_count_together() -> None:
    slow = msgspec.structs.replace(PERFECT, used=1500)
    failed = msgspec.structs.replace(PERFECT, passed=False, points=4)
    assert rule([PERFECT, PERFECT]) == "strong"
    assert rule([PERFECT, slow]) == "strong"
    assert rule([slow, slow]) == "lean_yes"
    assert rule([PERFECT, failed]) == "lean_no"


def test_practice_has_no_verdict(catalog: Catalog) -> None:
    assert judge([PERFECT], practice=True, wording=load_wording(catalog)).id == "none"


def test_the_reasons_are_what_the_rule_looked_at(catalog: Catalog) -> None:
    facts = msgspec.structs.replace(PERFECT, hints=2, hint_cost=2, solution_seen=True)
    judgement = judge([facts], practice=False, wording=load_wording(catalog))
    assert judgement.reasons == (
        "passed with 16 of 16 required points",
        "2 hints cost 2 of them for this verdict: 14 are left",
        "handed in after 10:00 of 25:00",
        "the solution was looked at while the clock ran",
    )
