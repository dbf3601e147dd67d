"""Interviews with candidates: named, listed, read again by id, laid side by side, apart from the own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import App
from grader.cli.main import cli
from tests.interview.conftest import Clocks, Desk, ReadingGrader, answer

Kata = Callable[..., Result]


@pytest.fixture
def kata(desk: Desk, clocks: Clocks, read_grade: ReadingGrader, monkeypatch: pytest.MonkeyPatch) -> Kata:
    """Every command is a program of its own."""
    monkeypatch.chdir(desk.folder)

    def kata(*words: str) -> Result:
        app = App(clock=lambda: clocks().wall, grade=read_grade, moment=clocks)
        result = CliRunner().invoke(cli, words, obj=app)
        assert not isinstance(result.exception, Exception), result.exception
        return result

    return kata


@pytest.fixture
def interviewed(kata: Kata, desk: Desk, clocks: Clocks) -> Callable[..., None]:
    def interviewed(*words: str, missed: str = "") -> None:
        assert kata("interview", "start", "v3", *words).exit_code == 0
        clocks.pass_time(120)
        desk.save(answer(missed))
        assert kata("interview", "submit", "--no-questions").exit_code == (1 if missed else 0)
        clocks.pass_time(60)

    return interviewed


def ids(kata: Kata) -> list[str]:
    return re.findall(r"^([0-9a-f]{8})", kata("interview", "list").stdout, re.MULTILINE)


def test_candidates_are_listed_with_ones_own_and_read_by_id(
    kata: Kata, interviewed: Callable[..., None]
) -> None:
    assert "There was no interview yet" in kata("interview", "list").stdout
    interviewed()
    interviewed("--candidate", "Ada Lovelace", missed="scale mask")
    shown = kata("interview", "list").stdout
    assert re.search(r"v3 +Ada Lovelace +\d+/17", shown)
    assert re.search(r"v3 +you +17/17", shown)
    ada, own = ids(kata)
    told = json.loads(kata("interview", "debrief", ada, "--format", "json").stdout)
    assert (told["candidate"], told["rounds"][0]["verdict"]) == ("Ada Lovelace", "failed")
    assert json.loads(kata("interview", "debrief", own, "--format", "json").stdout)["candidate"] == ""


def test_a_candidates_interview_is_none_of_ones_own_practice(
    kata: Kata, interviewed: Callable[..., None]
) -> None:
    interviewed("--candidate", "Ada")
    assert "17/17" not in kata("history").stdout
    assert "17/17" not in kata("list").stdout
    assert not any(json.loads(kata("export", "-").stdout)["tables"].values())


def test_two_are_laid_side_by_side(kata: Kata, interviewed: Callable[..., None]) -> None:
    interviewed("--candidate", "Ada")
    interviewed("--candidate", "Bob", missed="scale")
    bob, ada = ids(kata)
    result = kata("interview", "compare", ada, bob)
    shown = result.stdout
    assert result.exit_code == 0, result.stderr
    assert re.search(r"Ada +Bob", shown)
    assert re.search(r"v3 points +17/17 +\d+/17", shown)
    assert re.search(r"v3 time +02:00 of \S+ +02:00 of", shown)
    assert re.search(r"v3 missed +scale", shown)


def test_an_interview_is_sent_and_is_none_of_the_receivers_own(
    kata: Kata, interviewed: Callable[..., None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interviewed(missed="scale")
    interviewed()
    _, sent = ids(kata)
    assert kata("interview", "export", sent, "-o", "sent.json").exit_code == 0
    before = json.loads(kata("interview", "debrief", sent, "--format", "json").stdout)
    monkeypatch.setenv("KATA_HOME", str(home / "other"))
    assert kata("interview", "import", "sent.json", "--candidate", "Ada").exit_code == 0
    assert "already" in kata("interview", "import", "sent.json", "--candidate", "Ada").stdout
    assert ids(kata) == [sent]
    after = json.loads(kata("interview", "debrief", sent, "--format", "json").stdout)
    assert after == before | {"candidate": "Ada"}
    assert not any(json.loads(kata("export", "-").stdout)["tables"].values())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tables": {"interview_events": [1]}}', "[" * 100_000])
def test_what_is_no_interview_is_refused(kata: Kata, desk: Desk, text: str) -> None:
    (desk.folder / "sent.json").write_text(text, encoding="utf-8")
    result = kata("interview", "import", "sent.json")
    assert result.exit_code == 2
    assert "is no exported" in result.stderr


@pytest.mark.parametrize(
    ("beginning", "said"), [("zz", "no interview with the id"), ("", "several interviews")]
)
def test_an_id_has_to_mean_one(
    kata: Kata, interviewed: Callable[..., None], beginning: str, said: str
) -> None:
    interviewed()
    interviewed()
    result = kata("interview", "debrief", beginning)
    assert result.exit_code == 2
    assert said in result.stderr


def test_points_that_come_all_at_once_are_told_and_change_no_verdict(
    kata: Kata, interviewed: Callable[..., None], desk: Desk, clocks: Clocks
) -> None:
    interviewed()
    [once] = ids(kata)
    told = json.loads(kata("interview", "debrief", once, "--format", "json").stdout)
    assert any("from no points to all" in note for note in told["rounds"][0]["notes"])
    kata("interview", "start", "v3")
    for missed in ("scale mask", "scale", ""):
        clocks.pass_time(40)
        desk.save(answer(missed))
        kata("interview", "status")
    kata("interview", "submit", "--no-questions")
    again = json.loads(kata("interview", "debrief", "--format", "json").stdout)
    assert not any("from no points to all" in note for note in again["rounds"][0]["notes"])
    assert told["verdict"]["id"] == again["verdict"]["id"]


def test_an_answer_equal_to_the_reference_is_told(kata: Kata, desk: Desk, clocks: Clocks) -> None:
    from grader.catalog import load_catalog

    kata("interview", "start", "v3")
    clocks.pass_time(120)
    desk.save(load_catalog().get("v3").solution.read_text(encoding="utf-8") + "\n\n")
    kata("interview", "submit", "--no-questions")
    told = json.loads(kata("interview", "debrief", "--format", "json").stdout)
    assert any("the reference answer, word for word" in note for note in told["rounds"][0]["notes"])
