"""Help in steps: what is wrong, how to mend it, the written hints; and half-done work, which is free."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from grader.answer_text import answer_text
from grader.history import History
from grader.practice.hints import hint_texts
from grader.records import Diagnosis, Grade, TodoRecord

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"
SCALE = Diagnosis(
    mistakes=("scale_by_dk",), concept="scale", sentence="Divided by dk.", fix="WRITE sqrt", why="W", line=2
)
MASK = Diagnosis(mistakes=("mask_inverted",), concept="mask", sentence="Inverted.", fix="WRITE == 0", line=1)


@pytest.fixture
def found() -> list[Diagnosis]:
    """What the grader finds."""
    return [SCALE, MASK]


@pytest.fixture
def kata(kata: Terminal, make_grade: Callable[..., Grade], found: list[Diagnosis]) -> Terminal:
    def grade(submission: Any, asked: Any, *_: object) -> Grade:
        made = make_grade(asked.id, missed=("scale",) if found else (), source=submission.source.decode())
        return msgspec.structs.replace(made, diagnosis=tuple(found))

    kata.app.grade = grade
    kata("start", "v3")
    (kata.folder / NAME).write_text("one\ntwo\n", encoding="utf-8")
    return kata


def test_the_fix_comes_first_then_the_next_one_then_the_hints(
    kata: Terminal, history: History, catalog: Any
) -> None:
    assert "WRITE" not in kata("grade").stdout
    assert "WRITE" not in kata("grade", "--full").stdout
    assert "WRITE" not in kata("report").stdout
    first = kata("hint", "v3").stdout
    assert "WRITE sqrt" in first
    assert "line 2" in first
    shown = kata("report").stdout
    assert "WRITE sqrt" in shown
    assert "WRITE == 0" not in shown
    assert "WRITE sqrt" in kata("grade").stdout  # the same failure: it was asked for
    assert "WRITE == 0" in kata("hint", "v3").stdout
    assert hint_texts(catalog.get("v3"))[0][:40] in kata("hint", "v3").stdout.replace("\n", " ")
    kata("grade")
    assert history.attempts()[0].hints == 3
    assert history.fixes_seen("v3") == ("scale_by_dk", "mask_inverted")


def test_a_fix_counts_once_and_a_reset_begins_anew(kata: Terminal, history: History) -> None:
    kata("grade")
    kata("hint", "v3")
    kata("grade", "--fix")
    kata("grade", "--fix")
    assert history.attempts()[0].hints == 2
    kata("reset", "v3")
    assert history.fixes_seen("v3") == ()
    assert "WRITE" not in kata("grade").stdout


def test_fix_is_shown_at_once_on_request(kata: Terminal) -> None:
    assert "WRITE sqrt" in kata("grade", "--fix").stdout
    shown = kata("report").stdout
    assert "WRITE sqrt" in shown
    assert "WRITE == 0" in shown


def test_programs_get_all_of_it_and_a_page_folds_it(kata: Terminal) -> None:
    assert json.loads(kata("grade", "--json").stdout)["diagnosis"][0]["fix"] == "WRITE sqrt"
    page = kata("report", "--format", "html").stdout
    assert "<details" in page
    assert page.count("<summary") == 2
    assert "WRITE" not in kata("report", "--format", "md").stdout


def test_without_a_failure_there_are_the_written_hints(kata: Terminal, found: list[Diagnosis]) -> None:
    assert "hint 1 of" in kata("hint", "v3").stdout  # nothing was graded yet
    found.clear()
    kata("grade")
    assert "hint 2 of" in kata("hint", "v3").stdout  # it passed


def test_in_an_interview_there_are_the_written_hints_only(kata: Terminal) -> None:
    kata("grade")
    kata("interview", "start", "v3")
    shown = kata("hint", "v3", "--yes").stdout
    assert "hint 1 of" in shown
    assert "WRITE" not in shown


def test_half_done_work_is_no_attempt(kata: Terminal, history: History) -> None:
    kata("grade")
    before = history.attempts()
    plain = kata.app.grade

    def unfinished(*words: Any) -> Grade:
        todos = (
            TodoRecord(number=1, text="create the layers.", status="right"),
            TodoRecord(number=2, text="hide the keys.", status="open", line=2),
        )
        return msgspec.structs.replace(plain(*words), points=0, todos=todos)

    kata.app.grade = unfinished
    result = kata("grade")
    assert result.exit_code == 1
    assert "TODO 1 is right, 2 is open." in result.stdout
    assert "points" not in result.stdout
    assert "since last time" not in result.stdout
    assert history.attempts() == before
    assert "TODO 1 is right, 2 is open." in kata("grade", "--full").stdout
    assert json.loads(kata("grade", "--json").stdout)["todos"][1]["status"] == "open"


def test_notes_are_counted_with_the_short_form(kata: Terminal, history: History) -> None:
    history.close()
    history.path.write_bytes(b"a letter, not a database\n" * 100)
    kata.app.history.close()
    result = kata("grade", NAME, "v3")
    lines = [*result.stdout.splitlines(), *result.stderr.splitlines()]
    assert "Note:" in result.stderr
    assert len(lines) <= 21


def test_lines_of_a_notebook_are_told_by_cell(kata: Terminal, found: list[Diagnosis]) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": ["import torch\n", "\n", "x = 1"]},
        {"cell_type": "markdown", "source": ["# not counted"]},
        {"cell_type": "code", "source": ["class SelfAttentionV3:\n", "    pass"]},
    ]
    notebook = kata.folder / "mine.ipynb"
    notebook.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")
    plain = kata.app.grade
    reason = "mine.ipynb:6: NameError in forward."

    def grade(submission: Any, *words: Any) -> Grade:
        text = answer_text(submission.source, submission.name)
        made = plain(msgspec.structs.replace(submission, source=text.encode()), *words)
        return msgspec.structs.replace(made, reason=reason)

    kata.app.grade = grade
    found[:] = [msgspec.structs.replace(SCALE, line=6)]
    short = kata("grade", "mine.ipynb", "v3").stdout
    assert "mine.ipynb, cell 2, line 2" in short
    assert "▶   2 │ pass" in short
    assert "cell 2, line 2" in kata("hint", "v3").stdout
    full = kata("report", "v3").stdout
    assert "mine.ipynb, cell 2, line 2: NameError in forward." in full
    assert ":6" not in full
    assert json.loads(kata("report", "v3", "--format", "json").stdout)["diagnosis"][0]["line"] == 6
