"""What other commands do while an interview is on: they show it, and cost it nothing unasked."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from click.testing import CliRunner, Result

from grader.cli import watch
from grader.cli.app import App
from grader.cli.main import cli
from grader.interview.opening import current
from grader.records import Grade
from tests.interview.conftest import Begin, Clocks, Desk, ReadingGrader, answer


class Terminal:
    """A terminal at the desk, with somebody at it or nobody."""

    def __init__(self, app: App) -> None:
        self.app = app

    def __call__(self, *words: str, typed: str | None = None) -> Result:
        """`typed` is what somebody answers; without it nobody is there."""
        self.app.can_ask = lambda: typed is not None
        result = CliRunner().invoke(cli, words, obj=self.app, input=typed)
        assert not isinstance(result.exception, Exception), result.exception
        return result


@pytest.fixture
def kata(desk: Desk, clocks: Clocks, read_grade: ReadingGrader, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(desk.folder)
    return Terminal(App(clock=lambda: clocks().wall, grade=read_grade, moment=clocks))


@pytest.fixture
def on(kata: Terminal, desk: Desk, clocks: Clocks) -> Terminal:
    """An interview on v3, one minute old, with a first save."""
    kata("interview", "start", "v3")
    clocks.pass_time(60)
    desk.save(answer())
    return kata


def verdict(kata: Terminal, clocks: Clocks) -> str:
    clocks.pass_time(1)
    word: str = json.loads(kata("interview", "submit", "--json").stdout)["verdict"]["id"]
    return word


COSTLY = [
    (("grade", "v3"), "the verdict away"),
    (("grade", "--json"), "the verdict away"),
    (("watch", "v3"), "the verdict away"),
    (("hint", "v3"), "costs 1 point"),
    (("hint", "v3", "--all"), "cost 4 points"),
    (("solution", "v3", "--give-up"), "verdict is No"),
    (("reset", "v3"), "begin anew"),
]


@pytest.mark.parametrize(("words", "price"), COSTLY)
def test_where_nobody_can_be_asked_it_is_refused(
    on: Terminal, clocks: Clocks, words: Sequence[str], price: str
) -> None:
    result = on(*words)
    assert result.exit_code == 2
    assert "v3 is on: 24:00 left of 25:00" in result.stderr
    assert price in result.stderr
    assert "--yes" in result.stderr
    assert result.stdout == ""
    assert verdict(on, clocks) == "strong"


@pytest.mark.parametrize(("words", "price"), [row for row in COSTLY if "--json" not in row[0]])
def test_somebody_is_asked_and_enter_is_no(
    on: Terminal, clocks: Clocks, words: Sequence[str], price: str
) -> None:
    result = on(*words, typed="\n")
    assert result.exit_code == 2
    assert price in result.stderr
    assert "the interview goes on" in result.stderr
    assert verdict(on, clocks) == "strong"


def test_a_watch_that_was_there_first_ends_before_it_costs_an_interview(
    kata: Terminal,
    desk: Desk,
    clocks: Clocks,
    begin: Begin,
    read_grade: ReadingGrader,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Done:
        def __init__(self, grade: Grade) -> None:
            self.result = lambda: grade

        def cancel(self) -> None: ...

    def an_interview_begins_elsewhere(*_: object) -> None:
        clocks.pass_time(1)
        begin("v3")
        desk.save(answer("scale"))

    desk.save(answer("mask"))
    kata.app.begin = lambda *asked: Done(read_grade(*asked))
    monkeypatch.setattr(watch.Screen, "show", an_interview_begins_elsewhere)
    result = kata("watch", "v3")
    assert result.exit_code == 2
    assert "the verdict away" in result.stderr
    assert len(read_grade.asked) == 1
    desk.save(answer())
    assert verdict(kata, clocks) == "strong"


def test_who_says_yes_pays(on: Terminal, clocks: Clocks) -> None:
    assert on("grade", "v3", typed="y\n").exit_code == 0
    assert on("grade", "v3").exit_code == 0  # what is lost already is not asked about again
    assert verdict(on, clocks) == "none"


def test_a_hint_that_was_agreed_to_is_counted_and_shown(on: Terminal) -> None:
    assert on("hint", "v3", "--yes").exit_code == 0
    assert "1 hint" in on("interview", "status").stdout


@pytest.mark.parametrize("words", [(), ("list",), ("next",), ("show", "v1"), ("hint", "v1")])
def test_the_running_interview_is_shown_everywhere(on: Terminal, words: Sequence[str]) -> None:
    result = on(*words)
    assert result.exit_code == 0
    assert "v3 is on: 24:00 left of 25:00" in result.stderr
    assert "kata interview --resume" in result.stderr


def test_bare_kata_suggests_nothing_that_costs(on: Terminal) -> None:
    shown = on().stdout
    assert "kata grade" not in shown
    assert "kata hint" not in shown


def test_from_another_folder_the_way_back_is_said_with_the_folder(
    on: Terminal, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = desk.folder.parent / "else where"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert f"cd {desk.folder} && kata interview --resume" in on().stderr
    assert on("reset", "v3").exit_code == 0  # another file than the interview's


def test_programs_get_their_document_alone(on: Terminal) -> None:
    for words in (("list", "--json"), ("next", "--json")):
        result = on(*words)
        assert json.loads(result.stdout)
        assert result.stderr == ""


def test_without_an_interview_nothing_is_said_or_asked(kata: Terminal) -> None:
    kata("start", "v3")
    result = kata("hint", "v3")
    assert (result.exit_code, result.stderr) == (0, "")


def test_practice_has_no_verdict_to_lose(kata: Terminal, desk: Desk, clocks: Clocks) -> None:
    kata("interview", "start", "v3", "--practice")
    clocks.pass_time(60)
    desk.save(answer())
    assert kata("grade", "v3").exit_code == 0
    assert kata("hint", "v3").exit_code == 0


def test_after_the_clock_a_grade_costs_nothing_and_the_way_on_is_shown(on: Terminal, clocks: Clocks) -> None:
    clocks.pass_time(3000)
    result = on("grade", "v3")
    assert result.exit_code == 0
    assert "the clock has stopped" in result.stderr
    assert "kata interview submit" in result.stderr


def test_at_a_terminal_the_brief_is_read_before_the_clock_starts(
    kata: Terminal, desk: Desk, clocks: Clocks
) -> None:
    shown = kata("interview", "start", "v3", typed="\n")
    assert shown.stdout.index("output projection") < shown.stdout.index("25:00 left")
    assert "Enter starts the clock" in shown.stderr
    assert current(desk.folder, kata.app.interviews, clocks).remaining() == 1500


def test_who_leaves_at_the_brief_has_no_interview(kata: Terminal, desk: Desk) -> None:
    assert kata("interview", "start", "v3", typed="").exit_code == 130
    assert list(desk.folder.iterdir()) == []
    assert kata("interview", "status").exit_code == 2
