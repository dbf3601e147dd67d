"""An interview through the page: the same session, the same clock, the same debrief as in the room."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from grader.catalog import Catalog
from grader.history import History
from grader.interview.clarify import clarifications
from grader.interview.records import Interview
from grader.interview.store import InterviewStore
from grader.web.app import make_app
from grader.web.desk import World
from grader.web.gate import Keys
from tests import patience
from tests.interview.conftest import Clocks
from tests.web.conftest import Browser

V1 = "self_attention_v1.py"
RIGHT = "class SelfAttentionV1: ...  # missed:\n"
WRONG = "class SelfAttentionV1: ...  # missed: scale\n"


def interview(home: Path) -> Interview:
    with InterviewStore(home / "kata" / "history.db") as store:
        return store.readable()[0]


def begin(browser: Browser, kata: str = "v1", **wish: object) -> str:
    """Start the clock; returns the id of the file's start."""
    answer = browser.post("/interview/begin", kata=kata, seed=7, **wish)
    assert answer.status_code == 200, answer.text
    return start_of(browser)


def start_of(browser: Browser) -> str:
    found = re.search(r'data-work="([\w-]+)"', browser.get("/interview").text)
    assert found is not None
    return found[1]


def questions(browser: Browser) -> int:
    """Answer and mark every follow-up question; returns how many there were."""
    patience.until(lambda: browser.get("/interview/state").json()["phase"] == "questions")
    asked = 0
    while (page := browser.get("/interview")).status_code == 200:
        asked += 1
        [name] = re.findall(r'name="id" value="(\w+)"', page.text)
        assert browser.post("/interview/answer", id=name, text="because", took=3.0).status_code == 200
        page = browser.get("/interview")
        assert "because" in page.text
        points = page.text.count('name="points"')
        assert browser.post("/interview/mark", id=name, points=[True] * points).status_code == 200
    assert page.status_code == 303
    return asked


def debrief(browser: Browser, home: Path) -> str:
    return browser.get(f"/interviews/{interview(home).plan.uuid}").text


def test_from_the_brief_to_the_debrief(
    browser: Browser, home: Path, folder: Path, clocks: Clocks, catalog: Catalog, remembered: History
) -> None:
    assert "Start the clock" in browser.get("/interview?kata=v1").text
    start = begin(browser, minutes=10)
    assert (folder / V1).read_text() == catalog.get("v1").text("blank.py")
    assert "10:00" in browser.get("/interview").text
    entry = clarifications(catalog.get("v1"))[0]
    assert browser.post("/interview/ask", id=entry.id).json()["answer"] == entry.answer
    clocks.pass_time(60)
    browser.write(start, WRONG)
    clocks.pass_time(60)
    browser.write(start, RIGHT)
    state = browser.get("/interview/state").json()
    assert (state["phase"], state["remaining"], state["saves"]) == ("writing", 480.0, 2)
    assert browser.post("/interview/submit").status_code == 200
    assert questions(browser) == 3
    patience.until(lambda: "still being graded" not in debrief(browser, home))
    page = debrief(browser, home)
    assert "Strong yes" in page
    assert 'type="range" min="0" max="2"' in page
    where = f"/interviews/{interview(home).plan.uuid}/saves/0"
    saves = [browser.get(f"{where}/{number}").json() for number in range(3)]
    assert [save["text"] for save in saves] == [catalog.get("v1").text("blank.py"), WRONG, RIGHT]
    assert saves[2]["points"] == saves[2]["max_points"]
    assert browser.get(f"{where}/3").status_code == 400
    [attempt] = remembered.attempts()
    assert (attempt.origin, attempt.verdict) == ("interview", "passed")


def test_nothing_of_the_checks_is_shown_before_the_end(browser: Browser, home: Path) -> None:
    start = begin(browser)
    browser.write(start, WRONG)
    page = browser.get("/interview").text
    assert 'id="grade"' not in page
    assert 'id="result"' not in page
    assert browser.get(f"/interviews/{interview(home).plan.uuid}").status_code == 400


def test_after_the_deadline_the_last_save_before_it_counts(
    browser: Browser, home: Path, clocks: Clocks
) -> None:
    start = begin(browser, minutes=10)
    clocks.pass_time(60)
    browser.write(start, WRONG)
    browser.get("/interview/state")
    clocks.pass_time(600)
    assert browser.get("/interview/state").json()["phase"] != "writing"
    browser.write(start, RIGHT)
    questions(browser)
    one = interview(home).round
    assert one.ending is not None
    assert one.ending.kind == "deadline"
    assert one.graded is not None
    assert one.graded.data["missed"] == ["scale"]


def test_a_server_that_dies_loses_nothing(
    browser: Browser, world: World, home: Path, clocks: Clocks, keys: Keys
) -> None:
    start = begin(browser, minutes=10)
    browser.write(start, WRONG)
    clocks.pass_time(120)
    other = Keys.fresh(keys.port)  # another run: it was never told the first one's end
    with TestClient(make_app(world, other, threading.Event()), base_url=other.origin) as client:
        client.get(f"/?token={other.token}", follow_redirects=False)
        again = Browser(client, other)
        assert "An interview on v1 is on" in again.get("/").text
        assert start_of(again) == start
        assert again.text(start)[0] == WRONG
        assert again.get("/interview/state").json()["remaining"] == 480.0
        assert again.post("/interview/submit").status_code == 200
        assert questions(again) == 3
    assert [event.kind for event in interview(home).events].count("resumed") == 1


def test_a_ladder_goes_on_level_by_level(browser: Browser, home: Path, catalog: Catalog) -> None:
    assert "ladder:self-attention" in browser.get("/interview").text
    assert "class SelfAttentionV1" in browser.get("/interview?kata=ladder:self-attention").text
    start = begin(browser, "ladder:self-attention")
    browser.write(start, RIGHT)
    browser.post("/interview/submit")
    assert "v1 is handed in" in browser.get("/interview").text
    assert browser.post("/interview/next").status_code == 200
    assert f"level 2 of {len(catalog.in_track('self-attention'))}" in browser.get("/interview").text
    assert browser.post("/interview/give-up").status_code == 200
    questions(browser)
    assert "v2" in debrief(browser, home)


def test_practice_grades_every_save_at_once(browser: Browser, home: Path) -> None:
    start = begin(browser, practice=True)
    browser.write(start, WRONG)
    patience.until(lambda: browser.get("/interview/state").json()["tested"])
    assert interview(home).round.of("tested")[0].data["verdict"] == "failed"


def test_it_can_be_ended_without_a_grade(browser: Browser, remembered: History) -> None:
    begin(browser)
    assert browser.post("/interview/abort").status_code == 200
    assert "A mock interview" in browser.get("/interview").text
    assert remembered.attempts() == []


def test_there_is_one_at_a_time(browser: Browser) -> None:
    begin(browser)
    answer = browser.post("/interview/begin", kata="v2")
    assert answer.status_code == 400
    assert "is on in this folder" in answer.json()["message"]


@pytest.mark.parametrize("deed", ["submit", "give-up", "abort", "next", "ask", "answer", "mark"])
def test_without_an_interview_there_is_nothing_to_do(browser: Browser, deed: str) -> None:
    answer = browser.post(f"/interview/{deed}", id="x", text="x", took=1, points=[])
    assert answer.status_code == 400
    assert answer.json()["fix"]


def test_a_hint_costs_what_is_said(browser: Browser, home: Path, remembered: History) -> None:
    begin(browser)
    assert "costs 1 point" in browser.get("/interview").text
    assert browser.post("/katas/v1/hint").status_code == 409
    assert browser.post("/katas/v1/hint", agreed=True).status_code == 200
    assert interview(home).round.hints == remembered.hints_taken("v1") == 1
