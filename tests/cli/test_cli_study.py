"""`kata questions`, `kata plan`, `kata edit`, `kata watch --next`, `kata solution`: what keeps one going."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog
from grader.history import History
from grader.memory.plan import Plan, plan
from grader.memory.schedule import memories
from grader.memory.sittings import sittings
from grader.practice.questions import questions

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"
TODAY = date(2026, 11, 30)  # of the stepping clock


def test_questions_are_listed_and_each_has_its_answer(kata: Terminal, catalog: Catalog) -> None:
    known = questions(catalog.get("v3"))
    listed = " ".join(kata("questions", "v3").stdout.split())
    assert all(entry.question in listed for entry in known)
    assert known[0].answer not in listed
    one = " ".join(kata("questions", "v3", "2").stdout.split())
    assert known[1].answer in one
    assert known[0].question not in one
    every = " ".join(kata("questions", "v3", "--all").stdout.split())
    assert all(entry.answer in every for entry in known)
    assert kata("questions", "v3", "99").exit_code == 2


def test_an_answer_is_opened_in_the_editor(kata: Terminal) -> None:
    kata("start", "v3")
    assert kata("edit").exit_code == 0
    assert kata("edit", "v3").exit_code == 0
    assert [path.name for path in kata.edited] == [NAME, NAME]
    assert kata("edit", "v1").exit_code == 2


def test_an_untouched_stub_is_not_yours(kata: Terminal, grader: Any) -> None:
    kata("start", "v3")
    shown = kata("solution", "v3", "--give-up").stdout
    assert "Yours" not in shown
    kata("reset", "v3", "--blank")
    assert "Yours" not in kata("solution", "v3", "--give-up").stdout
    grader.missed = ("scale",)
    kata("grade", "v3")  # the blank page itself was graded
    assert "Yours" not in kata("solution", "v3", "--give-up").stdout
    (kata.folder / NAME).write_text("class SelfAttentionV3: ...  # mine\n", encoding="utf-8")
    assert "# mine" in kata("solution", "v3", "--give-up").stdout


def test_the_solution_stands_beside_from_a_hundred_columns(
    kata: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kata.folder / NAME).write_text("class SelfAttentionV3: ...  # mine\n", encoding="utf-8")
    for columns, beside in ((100, True), (99, False)):
        monkeypatch.setenv("COLUMNS", str(columns))
        first = kata("solution", "v3", "--give-up").stdout.splitlines()[0]
        assert ("Yours" in first and "Solution" in first) is beside


@pytest.fixture
def planned(catalog: Catalog, history: History, kata: Terminal) -> Any:
    def planned(days: int, minutes: int = 45) -> Plan:
        found = sittings(catalog, history, kata.app.interviews)
        now = kata.app.clock()
        return plan(catalog, found, memories(found, now), now, TODAY + timedelta(days=days), minutes)

    return planned


def firsts(made: Plan) -> dict[str, date]:
    return {item.kata: day.day for day in reversed(made.days) for item in day.items if item.why == "new"}


@pytest.mark.parametrize("days", [1, 3, 14, 60])
@pytest.mark.parametrize("minutes", [10, 45, 200])
def test_a_plan_keeps_the_order_the_minutes_and_the_date(
    planned: Any, catalog: Catalog, days: int, minutes: int
) -> None:
    made = planned(days, minutes)
    on = firsts(made)
    assert {*on, *made.left_out} == {kata.id for kata in catalog.katas}
    for kata in catalog.katas:
        if kata.id in on:
            assert all(other in on and on[other] <= on[kata.id] for other in kata.prerequisites)
    for day in made.days:
        assert TODAY <= day.day < TODAY + timedelta(days=days)
        assert len(day.items) == 1 or sum(item.minutes for item in day.items) <= minutes
        assert len({item.kata for item in day.items}) == len(day.items)
    assert made.days[-1].items[0].why == "interview"


def test_what_was_passed_comes_back_when_it_is_due(planned: Any, kata: Terminal) -> None:
    kata("start", "v1")
    kata("grade", "v1")
    made = planned(20)
    assert "v1" not in firsts(made)
    assert any(item.kata == "v1" and item.why == "due" for day in made.days for item in day.items)


def test_a_plan_is_shown_and_is_a_document(kata: Terminal, catalog: Catalog) -> None:
    shown = kata("plan", "2026-12-14").stdout
    assert "Until Mon 2026-12-14" in shown
    assert f"kata start {catalog.katas[0].id}" in shown
    document = json.loads(kata("plan", "2026-12-14", "--minutes", "30", "--json").stdout)
    assert (document["version"], document["until"], document["minutes_a_day"]) == (1, "2026-12-14", 30)
    assert "No room for" in kata("plan", "2026-12-01").stdout
    for wrong in ("2026-11-30", "2020-01-01", "2099-01-01", "tomorrow"):
        assert kata("plan", wrong).exit_code == 2


def test_statistics_say_what_counts_and_how_much_was_done(kata: Terminal, grader: Any) -> None:
    grader.missed = ("scale",)
    kata("start", "v3")
    kata("grade")
    grader.missed = ()
    (kata.folder / NAME).write_text("mended", encoding="utf-8")
    kata("grade")
    shown = " ".join(kata("stats").stdout.split())
    assert "Attempts a week, this one last: 0 0 0 0 0 0 0 2" in shown
    assert "the first answer of a sitting" in shown
    assert "missed" in shown
    assert "lost" not in shown
    weeks = json.loads(kata("stats", "--json").stdout)["weeks"]
    assert (len(weeks), weeks[-1]["attempts"]) == (8, 2)
    assert "Attempts a week" in Path(kata("stats", "-o", "page.html").stdout.split()[-1]).read_text("utf-8")
