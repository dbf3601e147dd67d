"""`kata interview` without a room, as scripts and any editor use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.catalog import Catalog
from grader.cli.app import App
from grader.cli.main import cli
from grader.interview.opening import current
from grader.interview.round_grading import settle
from tests.interview.conftest import Clocks, Desk, ReadingGrader, answer
from tests.twenty import twenty_katas


class Terminal:
    def __init__(self, app: App, browsed: list[Path]) -> None:
        self.app = app
        self.browsed = browsed

    def __call__(self, *words: str | Path, typed: str = "") -> Result:
        result = CliRunner().invoke(cli, ["interview", *map(str, words)], obj=self.app, input=typed)
        assert not isinstance(result.exception, Exception), result.exception
        return result


@pytest.fixture
def kata(desk: Desk, clocks: Clocks, read_grade: ReadingGrader, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(desk.folder)
    browsed: list[Path] = []
    app = App(clock=lambda: clocks().wall, grade=read_grade, browse=browsed.append, moment=clocks)
    return Terminal(app, browsed)


def test_start_gives_the_brief_the_file_and_the_way_on(kata: Terminal) -> None:
    result = kata("start", "v3", "--minutes", "10")
    assert result.exit_code == 0
    for words in ("output projection", "v3: 10:00 left of 10:00", "self_attention_v3.py", "interview submit"):
        assert words in result.stdout


def test_no_room_does_the_same(kata: Terminal) -> None:
    assert "25:00 left" in kata("v3", "--no-room").stdout


def test_without_a_terminal_the_room_says_how_to_do_without_it(kata: Terminal, desk: Desk) -> None:
    result = kata("v3")
    assert result.exit_code == 2
    assert "kata interview v3 --no-room" in result.stderr
    assert list(desk.folder.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("v3", "--ladder"), ("--random", "--ladder"), ("start",)])
def test_one_interview_has_to_be_named(kata: Terminal, words: tuple[str, ...]) -> None:
    result = kata(*words, "--no-room") if words != ("start",) else kata("start")
    assert result.exit_code == 2
    assert "Which interview shall it be?" in result.stderr


def test_random_and_seed_give_the_same_again(kata: Terminal) -> None:
    first = kata("start", "--random", "--seed", "3").stdout
    kata("abort")
    assert kata("start", "--random", "--seed", "3").stdout.splitlines()[0] == first.splitlines()[0]


def test_help_shows_options_and_steps(kata: Terminal) -> None:
    shown = kata("--help").stdout
    for words in ("--ladder", "--resume", "--no-room", "status", "submit", "debrief"):
        assert words in shown


def test_a_second_interview_is_refused(kata: Terminal) -> None:
    kata("start", "v3")
    result = kata("start", "v1")
    assert result.exit_code == 2
    assert "--resume" in result.stderr
    assert "abort" in result.stderr


def test_status_in_three_forms(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(65)
    desk.save(answer("mask"))
    assert "23:55 left" in kata("status").stdout
    assert kata("status", "--short").stdout == "v3 23:55\n"
    document = json.loads(kata("status", "--json").stdout)["interview"]
    assert (document["phase"], document["remaining"], document["saves"]) == ("writing", 1435.0, 1)
    assert document["path"].endswith("self_attention_v3.py")


def test_status_of_no_interview(kata: Terminal) -> None:
    assert kata("status").exit_code == 2
    assert kata("status", "--short").stdout == ""
    assert json.loads(kata("status", "--json").stdout) == {"version": 1, "interview": None}


def test_status_after_the_deadline(kata: Terminal, clocks: Clocks) -> None:
    kata("start", "v3", "--minutes", "10")
    clocks.pass_time(601)
    assert "the clock stopped at 10:00" in kata("status").stdout
    assert kata("status", "--short").stdout == "v3 over\n"


def test_status_tells_of_a_file_that_cannot_be_read(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(5)
    desk.save("")
    assert "cannot be read now" in kata("status").stdout


@pytest.mark.parametrize(("missed", "code", "word"), [("", 0, "STRONG YES"), ("mask", 1, "LEAN NO")])
def test_submit_grades_and_gives_the_debrief(
    kata: Terminal, desk: Desk, clocks: Clocks, missed: str, code: int, word: str
) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer(missed))
    result = kata("submit")
    assert result.exit_code == code
    assert word in result.stdout
    assert "Follow-up questions" in result.stdout
    assert kata("status", "--short").stdout == ""


def test_submit_as_json_is_one_document(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer())
    document = json.loads(kata("submit", "--json").stdout)
    assert document["verdict"]["id"] == "strong"
    assert len(document["follow_ups"]) == 3


def test_the_follow_up_questions_can_be_answered_on_the_way(
    kata: Terminal, desk: Desk, clocks: Clocks
) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer())
    result = kata(
        "submit", "--questions", typed="because\n" + "y\n" * 6 + "\n" + "n\n" * 6 + "\n" + "n\n" * 6
    )
    assert "A good answer:" in result.stdout
    assert "By your own marks:" in result.stdout
    assert "because" in result.stdout


def test_a_clarifying_question_is_answered_and_noted(kata: Terminal) -> None:
    kata("start", "v3")
    assert "1  Does 1 in the mask mean visible" in kata("ask").stdout
    assert "1 or True is visible" in kata("ask", "1").stdout
    assert kata("ask", "99").exit_code == 2
    assert "1 question asked" in kata("status").stdout


def test_abort_ends_it_without_a_grade(kata: Terminal, desk: Desk) -> None:
    kata("start", "v3")
    result = kata("abort")
    assert "without a grade" in result.stdout
    assert (desk.folder / "self_attention_v3.py").exists()
    assert kata("abort").exit_code == 2


def test_abort_after_the_grade_keeps_it(
    kata: Terminal, desk: Desk, clocks: Clocks, read_grade: ReadingGrader
) -> None:
    kata("start", "v3")
    clocks.pass_time(60)
    desk.save(answer())
    app = kata.app
    session = current(desk.folder, app.interviews, clocks)
    session.submit()
    settle(session, app.history, app.interviews, app.catalog, read_grade)
    assert "its grade is kept" in kata("abort").stdout
    assert "STRONG YES" in kata("debrief").stdout


def test_resume_without_a_room_says_how_it_stands(kata: Terminal, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(60)
    assert "24:00 left" in kata("--resume", "--no-room").stdout
    kata("abort")
    assert kata("--resume", "--no-room").exit_code == 2


def test_the_ladder_goes_on_when_the_candidate_says_so(
    kata: Terminal, desk: Desk, clocks: Clocks, catalog: Catalog
) -> None:
    kata("start", "--ladder", "--minutes", "10")
    ladder = catalog.in_track(catalog.first.track)
    for level, following in zip(ladder, (*ladder[1:], None), strict=True):
        clocks.pass_time(60)
        desk.save(answer(), level.file_name)
        result = kata("submit")
        if following is not None:
            assert f"The next level is {following.id}" in result.stdout
            assert "kata interview next" in kata("status").stdout
            clocks.pass_time(100)
            assert f"{following.id}: 10:00 left" in kata("next").stdout
    assert "STRONG YES" in result.stdout
    assert kata("next").exit_code == 2


def test_a_ladder_runs_along_the_track_that_is_named(kata: Terminal, catalog: Catalog) -> None:
    kata.app.__dict__["catalog"] = twenty_katas(catalog)
    assert "window: 10:00 left" in kata("start", "--ladder", "inference", "--minutes", "10").stdout
    assert kata.app.interviews.plans()[0].katas == ("window", "online", "cache", "rope")
    kata("abort")
    assert (
        "alibi: 10:00 left" in kata("--ladder", "positions-of-tokens", "--no-room", "--minutes", "10").stdout
    )
    kata("abort")
    kata("--no-room", "--ladder", "--minutes", "10")
    assert kata.app.interviews.plans()[0].katas == ("v6", "v5", "v4", "v3", "v2", "v1")
    kata("abort")
    assert "There is no track 'v3'" in kata("start", "--ladder", "v3").stderr
    assert "kata interview --ladder heads --no-room" in kata("--ladder", "heads").stderr


@pytest.mark.parametrize(
    ("form", "sign"), [("html", "<!doctype html>"), ("md", "# Strong yes"), ("json", "{")]
)
def test_the_debrief_again_in_any_format(
    kata: Terminal, desk: Desk, clocks: Clocks, form: str, sign: str
) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer())
    kata("submit")
    assert kata("debrief", "--format", form).stdout.lstrip().startswith(sign)
    written = desk.folder / f"debrief.{form}"
    assert "Debrief:" in kata("debrief", "--format", form, "--output", written).stdout
    assert written.read_text(encoding="utf-8").lstrip().startswith(sign)


def test_the_debrief_opens_in_the_browser(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer())
    kata("submit")
    kata("debrief", "--open")
    [page] = kata.browsed
    assert page.suffix == ".html"


def test_a_debrief_that_cannot_be_written_says_so(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("start", "v3")
    clocks.pass_time(300)
    desk.save(answer())
    kata("submit")
    blocked = desk.folder / "file"
    blocked.write_text("")
    result = kata("debrief", "-o", blocked / "x.html")
    assert result.exit_code == 2
    assert "could not be written" in result.stderr


def test_there_is_no_debrief_of_an_interview_that_runs(kata: Terminal) -> None:
    assert kata("debrief").exit_code == 2
    kata("start", "v3")
    assert "still running" in kata("debrief").stderr
