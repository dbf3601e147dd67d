"""`kata report` and `kata history`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.cli import browser

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


@pytest.fixture
def graded(kata: Terminal, grader: Any) -> Terminal:
    """v3 was failed, then v1 passed."""
    grader.missed = ("scale", "mask")
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    kata("grade", NAME)
    grader.missed = ()
    kata.write("one.py", "class SelfAttentionV1: ...\n")
    kata("grade", "one.py")
    return kata


def test_the_history_says_when_how_many_points_and_what_was_missed(graded: Terminal) -> None:
    lines = graded("history").stdout.splitlines()
    assert lines[0].split() == ["when", "kata", "verdict", "points", "hints", "missed"]
    assert [line.split()[2] for line in lines[1:]] == ["v1", "v3"]
    assert "scale, mask" in lines[2]
    assert "2026-11-30" in lines[2]


def test_the_history_can_be_narrowed(graded: Terminal) -> None:
    assert len(graded("history", "v3").stdout.splitlines()) == 2
    assert len(graded("history", "-n", "1").stdout.splitlines()) == 2


def test_the_history_for_programs(graded: Terminal) -> None:
    document = json.loads(graded("history", "v3", "--json").stdout)
    [attempt] = document["attempts"]
    assert document["version"] == 1
    assert attempt["verdict"] == "failed"
    assert attempt["missed"] == ["scale", "mask"]
    assert attempt["path"] == str(graded.folder / NAME)
    assert attempt["when"].startswith("2026-11-30T10:")


def test_a_browser_that_is_not_there_is_one_line(kata: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    kata("start", "v3")
    kata("grade")
    monkeypatch.setattr(kata.app, "browse", browser.browse)
    monkeypatch.setenv("BROWSER", "/nowhere/browser")
    result = kata("report", "--open")
    assert result.exit_code == 0
    assert "no browser" in result.stderr
    assert len(result.stderr.splitlines()) == 2  # what is so, and what to do


def test_an_empty_history_shows_the_way(kata: Terminal) -> None:
    assert "No attempts yet. Begin with: kata start v1" in kata("history").stdout
    assert json.loads(kata("history", "--json").stdout) == {"version": 1, "attempts": []}


def test_the_last_report_is_of_the_last_attempt_or_of_the_kata_named(graded: Terminal) -> None:
    assert json.loads(graded("report", "--format", "json").stdout)["kata"] == "v1"
    assert json.loads(graded("report", "v3", "--format", "json").stdout)["kata"] == "v3"


@pytest.mark.parametrize("words", [("--full",), ("-v",), ("--verbose",)])
def test_a_report_shows_what_grading_showed(kata: Terminal, grader: Any, words: tuple[str, ...]) -> None:
    grader.missed = ("scale",)
    kata("start", "v3")
    shown = kata("grade", *words).stdout
    assert kata("report", *words).stdout == shown
    assert len(kata("grade").stdout.splitlines()) < len(shown.splitlines())


def test_a_report_comes_in_every_format(graded: Terminal) -> None:
    assert graded("report", "--format", "html").stdout.lower().startswith("<!doctype html>")
    assert graded("report", "--format", "md").stdout.startswith("# ")
    assert graded("report", "--format", "text").stdout == graded("report").stdout


def test_a_report_can_be_written_to_a_file(graded: Terminal) -> None:
    result = graded("report", "--format", "html", "--output", "page.html")
    assert result.stdout == f"Report: {graded.folder / 'page.html'}\n"
    assert "<html" in (graded.folder / "page.html").read_text(encoding="utf-8")


def test_a_report_never_takes_the_place_of_an_answer(graded: Terminal) -> None:
    result = graded("report", "--output", NAME)
    assert result.exit_code == 2
    assert (graded.folder / NAME).read_text(encoding="utf-8") == "class SelfAttentionV3: ...\n"


def test_open_shows_the_page_in_the_browser(graded: Terminal) -> None:
    assert graded("report", "--open").exit_code == 0
    [page] = graded.browsed
    assert page.suffix == ".html"
    assert page.is_file()


def test_a_report_before_the_first_grade_says_how_to_begin(kata: Terminal) -> None:
    for words, happened in ([], "Nothing was graded yet."), (["v3"], "No answer to v3 was graded yet."):
        result = kata("report", *words)
        assert result.exit_code == 2
        assert happened in result.stderr
        assert "kata start v" in result.stderr
