"""Practice through the page does what the commands do, with the same functions and the same history."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.history import History
from grader.interview.store import InterviewStore
from grader.practice.attempts import grade_target
from grader.practice.reports import document
from grader.practice.targets import Target
from grader.records import Diagnosis, Options
from grader.snapshot import read_submission
from grader.web.gradings import MOST_KEPT
from tests import patience
from tests.web.conftest import Browser, Grader

STEPS = [
    ("waiting", "", 0, 0),
    ("running", "loading", 0, 0),
    ("running", "checking", 1, 2),
    ("running", "diagnosing", 2, 2),
    ("done", "diagnosing", 2, 2),
]
ID = "00000000-0000-4000-8000-00000000000a"
RIGHT = "class SelfAttentionV1: ...  # missed:\n"
WRONG = "class SelfAttentionV1: ...  # missed: scale\n"
HOSTILE = (
    "# missed: scale\n'''</code><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    "\u202e\x1b[31m'''\n"
)


def test_a_wrong_answer_is_graded_and_kept(browser: Browser, remembered: History) -> None:
    start = browser.begin("v1")
    browser.write(start, WRONG)
    result = browser.grade(start)
    assert result["verdict"] == "failed"
    assert "Not passed yet" in result["html"]
    [attempt] = remembered.attempts()
    assert (attempt.kata, attempt.missed, attempt.origin) == ("v1", ("scale",), "grade")
    assert "Not passed yet" in browser.get("/katas/v1").text
    assert f"/history/{attempt.uuid}" in browser.get("/history").text


def test_a_pass_opens_the_solution(browser: Browser, catalog: Catalog, remembered: History) -> None:
    start = browser.begin("v1")
    assert browser.post("/katas/v1/solution").status_code == 400
    assert remembered.solutions_seen() == {}
    browser.write(start, RIGHT)
    assert browser.grade(start)["verdict"] == "passed"
    answer = browser.post("/katas/v1/solution")
    assert "softmax" in answer.json()["html"]
    assert f"1 of {len(catalog.katas)} passed" in browser.get("/").text
    assert catalog.get("v1").solution.is_file()


def test_who_gives_up_sees_the_solution_and_that_is_remembered(browser: Browser, remembered: History) -> None:
    assert browser.post("/katas/v1/solution", give_up=True).status_code == 200
    assert "v1" in remembered.solutions_seen()


def test_hints_come_one_at_a_time_and_are_counted(browser: Browser, remembered: History) -> None:
    browser.begin("v1")
    first, second = (browser.post("/katas/v1/hint").json() for _ in range(2))
    assert "Hint 1 of" in first["html"]
    assert "Hint 2 of" in second["html"]
    assert remembered.hints_taken("v1") == 2
    page = browser.get("/katas/v1").text
    assert "Hint 2 of" in page
    assert "Hint 3 of" not in page


def test_the_first_help_is_how_to_mend_what_was_found(
    browser: Browser, remembered: History, grader: Grader
) -> None:
    start = browser.begin("v1")
    grader.found = (
        Diagnosis(concept="scale", mistakes=("a",), sentence="It is <b>so</b>.", fix="Divide.", why="So."),
    )
    browser.write(start, WRONG)
    browser.grade(start)
    first, second = (browser.post("/katas/v1/hint").json()["html"] for _ in range(2))
    assert "How to mend it" in first
    assert "It is &lt;b&gt;so&lt;/b&gt;." in first
    assert "Divide." in first
    assert "Hint 1 of" in second
    assert (remembered.hints_taken("v1"), remembered.fixes_seen("v1")) == (1, ("a",))


def test_a_run_costs_nothing_and_is_kept_nowhere(browser: Browser, remembered: History, folder: Path) -> None:
    assert browser.post("/interview/begin", kata="v1", seed=7).status_code == 200
    start = remembered.starts(kata="v1")[0].uuid
    browser.write(start, HOSTILE)
    shown = browser.post(f"/answers/{start}/run").json()["html"]
    assert "It returned" in shown
    assert "a Tensor (1, 3, 4)" in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>" not in shown
    assert remembered.attempts() == []
    (folder / "self_attention_v1.py").write_bytes(b"x = '\0'\n")
    refused = browser.post(f"/answers/{start}/run")
    assert refused.status_code == 400
    assert "NUL byte" in refused.json()["message"]


def test_what_was_graded_is_shown_by_hand_and_kept_nowhere(
    browser: Browser, remembered: History, grader: Grader
) -> None:
    start = browser.begin("v1")
    browser.write(start, WRONG)
    assert 'id="by-hand"' in browser.grade(start)["html"]
    shown = browser.post("/gradings/00000000-0000-4000-8000-000000000001/paper").json()["html"]
    assert "There is no small example" in shown  # the stand-in has none
    assert [options.by_hand for _, options in grader.asked] == [False, True]
    assert len(remembered.attempts()) == 1
    missing = browser.post("/gradings/00000000-0000-4000-8000-000000000009/paper")
    assert missing.status_code in (400, 404)


def test_the_json_is_that_of_the_terminal(
    browser: Browser, folder: Path, catalog: Catalog, remembered: History, grader: Grader
) -> None:
    start = browser.begin("v1")
    browser.write(start, WRONG)
    browser.grade(start, seed=7)
    [attempt] = remembered.attempts()
    kata = catalog.get("v1")
    path = folder / kata.file_name
    options = Options(seed=7)
    assert grader.asked[0] == (read_submission(path), options)
    graded = grade_target(
        Target(path=path, kata=kata),
        options,
        catalog,
        remembered,
        lambda s, k, c, o=None: grader(s, k, c, o or options).result(),
        folder=folder,
    )
    assert browser.get(f"/history/{attempt.uuid}?format=json").text == document(graded, "json")


def test_a_grade_that_hangs_can_be_cancelled(browser: Browser, grader: Grader, remembered: History) -> None:
    grader.may_end.clear()
    start = browser.begin("v1")
    assert browser.post("/gradings", id=ID, work=start).status_code == 202
    patience.until(lambda: grader.asked)
    assert browser.post(f"/gradings/{ID}/cancel").status_code == 200
    assert '"state":"cancelled"' in browser.told()
    assert remembered.attempts() == []
    assert browser.grade(start, 2)["verdict"] == "failed"


def test_a_grade_is_told_from_its_start_to_its_end(browser: Browser, grader: Grader) -> None:
    start = browser.begin("v1")
    grader.may_end.clear()
    browser.post("/gradings", id=ID, work=start)
    threading.Timer(0.2, grader.may_end.set).start()
    events = browser.told().strip().split("\n\n")
    assert events[-1] == "event: end\ndata:"
    told = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
    assert {one["id"] for one in told} == {ID}
    steps = [(one["state"], one["stage"], one["checks"], one["all_checks"]) for one in told]
    assert steps == STEPS[-len(steps) :]  # from where it stood when somebody listened


def test_twenty_tabs_lose_no_grade_and_old_ones_make_room(browser: Browser, remembered: History) -> None:
    start = browser.begin("v1")
    names = [f"00000000-0000-4000-8000-{number:012}" for number in range(20)]
    assert [browser.post("/gradings", id=name, work=start).status_code for name in names] == [202] * 20
    browser.told()
    assert [browser.get(f"/gradings/{name}").json()["verdict"] for name in names] == ["failed"] * 20
    assert len(remembered.attempts()) == 20
    for number in range(100, 100 + MOST_KEPT):
        browser.grade(start, number)
    assert browser.get(f"/gradings/{names[0]}").status_code == 400


@pytest.mark.parametrize("body", [{}, {"id": "x", "work": "y"}, {"id": ID}, {"id": ID, "work": 7}])
def test_a_request_that_is_none_is_refused(browser: Browser, body: dict[str, object]) -> None:
    answer = browser.post("/gradings", **body)
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_a_file_that_is_no_python_text_is_told_as_in_the_terminal(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    (folder / "self_attention_v1.py").write_bytes(b"x = '\0'\n")
    result = browser.grade(start)
    assert result["verdict"] == "unrunnable"
    assert "NUL byte" in result["html"]


def test_nothing_of_the_candidates_is_html(browser: Browser, remembered: History) -> None:
    start = browser.begin("v1")
    browser.write(start, HOSTILE)
    result = browser.grade(start)
    [attempt] = remembered.attempts()
    pages = [result["html"], browser.get("/katas/v1").text, browser.get(f"/history/{attempt.uuid}").text]
    for page in pages:
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "49" not in page.partition("alert(1)")[2][:60]
        assert "\u202e" not in page
        assert "\x1b" not in page


def test_what_costs_an_interview_is_asked_first(
    browser: Browser, remembered: History, home: Path, grader: Grader
) -> None:
    assert browser.post("/interview/begin", kata="v1", seed=7).status_code == 200
    start = remembered.starts(kata="v1")[0].uuid
    for path, body in (
        ("/gradings", {"id": ID, "work": start}),
        ("/katas/v1/hint", {}),
        ("/katas/v1/solution", {"give_up": True}),
        ("/katas/v1/reset", {}),
    ):
        answer = browser.post(path, **body)
        assert answer.status_code == 409, path
        assert answer.json()["cost"]
    assert (grader.asked, remembered.hints_taken("v1"), remembered.solutions_seen()) == ([], 0, {})
    assert browser.post("/katas/v1/hint", agreed=True).status_code == 200
    with InterviewStore(home / "kata" / "history.db") as store:
        assert store.readable()[0].round.hints == 1


def test_home_says_what_to_practise_and_why(browser: Browser) -> None:
    start = browser.begin("v1")
    browser.write(start, WRONG)
    browser.grade(start)
    page = browser.get("/").text
    assert "What to practise next" in page
    assert "You lost scale last time" in page
