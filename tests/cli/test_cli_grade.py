"""`kata grade`: what is graded, what is printed, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.records import Options, decode_grade

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"
V3 = "class SelfAttentionV3: ...\n"


def test_a_pass_ends_with_0(kata: Terminal) -> None:
    kata("start", "v3")
    result = kata("grade")
    assert result.exit_code == 0
    assert "17 of 17 points" in result.stdout
    assert result.stderr == ""


def test_a_failure_ends_with_1_and_is_kept(kata: Terminal, grader: Any) -> None:
    grader.missed = ("scale",)
    kata.write(NAME, V3)
    result = kata("grade", NAME)
    assert result.exit_code == 1
    assert "√hidden_dim" in result.stdout  # the concept that was missed
    assert "scale" in kata("history").stdout


def test_a_file_that_is_not_there_ends_with_2(kata: Terminal) -> None:
    result = kata("grade", "nowhere.py", "v3")
    assert result.exit_code == 2
    assert "There is no file" in result.stderr


@pytest.mark.parametrize("order", [(NAME, "v3"), ("v3", NAME), ("V3", NAME)])
def test_file_and_id_come_in_any_order(kata: Terminal, grader: Any, order: tuple[str, str]) -> None:
    kata.write(NAME, "whatever")
    assert kata("grade", *order).exit_code == 0
    [(submission, asked, _)] = grader.asked
    assert (submission.source, asked.id) == (b"whatever", "v3")


def test_options_reach_the_grader(kata: Terminal, grader: Any) -> None:
    kata.write(NAME, V3)
    kata("grade", NAME, "--seed", "7", "--timeout", "2.5")
    assert grader.asked[0][2] == Options(seed=7, total_seconds=2.5)


def test_an_engine_is_used_unless_it_is_declined(kata: Terminal, grader: Any) -> None:
    kata.write(NAME, V3)
    kata("grade", NAME)
    kata("grade", NAME, "--no-engine")
    assert [options.engine for _, _, options in grader.asked] == [True, False]


def test_json_is_one_document_and_nothing_else(kata: Terminal, grader: Any) -> None:
    grader.missed = ("mask",)
    kata.write(NAME, V3)
    result = kata("grade", "--json", "--report", "page.html")
    assert result.exit_code == 1
    assert decode_grade(result.stdout.encode()).verdict == "failed"
    assert result.stderr == f"Report: {kata.folder / 'page.html'}\n"


@pytest.mark.parametrize(("wanted", "suffix"), [("html", ".html"), ("md", ".md"), ("json", ".json")])
def test_a_report_goes_to_our_own_folder_unless_a_path_is_given(
    kata: Terminal, home: Path, wanted: str, suffix: str
) -> None:
    kata("start", "v3")
    result = kata("grade", "--report", wanted)
    [report] = (home / "kata" / "reports").iterdir()
    assert report.suffix == suffix
    assert f"Report: ~/kata/reports/{report.name}" in result.stdout
    assert [path.name for path in kata.folder.iterdir()] == [NAME]


def test_a_reports_path_tells_its_format(kata: Terminal) -> None:
    kata("start", "v3")
    kata("grade", "--report", "out.md")
    assert (kata.folder / "out.md").read_text(encoding="utf-8").startswith("# ")


def test_a_report_never_takes_the_place_of_an_answer(kata: Terminal, grader: Any) -> None:
    file = kata.write(NAME, V3)
    result = kata("grade", NAME, "--report", NAME)
    assert result.exit_code == 2
    assert "What kind of report" in result.stderr
    assert file.read_text(encoding="utf-8") == V3
    assert grader.asked == []


def test_a_report_that_cannot_be_written_does_not_hide_the_verdict(kata: Terminal) -> None:
    kata("start", "v3")
    result = kata("grade", "--report", "nowhere/page.html")
    assert result.exit_code == 2
    assert "v3" in result.stdout
    assert "could not be written to" in result.stderr


def test_a_file_that_cannot_be_read_is_the_candidates_and_ends_with_1(kata: Terminal, grader: Any) -> None:
    kata("start", "v3")
    kata.write(NAME, "x = '\0'\n")
    result = kata("grade", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["verdict"] == "unrunnable"
    assert (
        document["reason"]
        == f"{NAME} holds a NUL byte on line 1: that is not Python text. Save it again as UTF-8 text."
    )
    assert {concept["status"] for concept in document["concepts"]} == {"not_reached"}
    assert document["points"] == 0
    assert document["max_points"] == 17
    assert grader.asked == []
    assert "could not run" in kata("history").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("v1", "some_folder"), "is a folder"),
        (("v1", "notes.txt"), "neither a .py file nor an .ipynb notebook"),
        (("v1", "empty.py"), "is empty"),
        (("empty.py",), "is empty"),
        (("v1", "nowhere.py"), "There is no file"),
    ],
)
def test_what_is_no_answer_is_wrong_usage_and_no_attempt(
    kata: Terminal, grader: Any, words: tuple[str, ...], said: str
) -> None:
    (kata.folder / "some_folder").mkdir()
    kata.write("notes.txt", "softmax")
    kata.write("empty.py", " \n")
    result = kata("grade", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert grader.asked == []
    assert "No attempts yet" in kata("history").stdout


def test_a_history_that_cannot_be_written_does_not_stop_grading(kata: Terminal, broken_history: Path) -> None:
    kata.write(NAME, V3)
    for words in ([NAME, "v3"], [NAME], ["v3"], []):
        result = kata("grade", *words)
        assert result.exit_code == 0
        assert "v3" in result.stdout
        assert "Note: The history" in result.stderr
        assert "is damaged" in result.stderr
    assert broken_history.read_bytes().startswith(b"a letter")


def test_nothing_is_left_in_the_folder(kata: Terminal) -> None:
    kata("start", "v3")
    kata("grade")
    assert [path.name for path in kata.folder.iterdir()] == [NAME]
