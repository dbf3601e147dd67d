"""`kata start` and `kata reset`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


def test_start_writes_the_stub_and_says_how_to_go_on(kata: Terminal) -> None:
    result = kata("start", "v3")
    assert result.exit_code == 0
    assert "class SelfAttentionV3" in (kata.folder / NAME).read_text(encoding="utf-8")
    assert f"Wrote {kata.folder / NAME}" in result.stdout
    assert "kata show v3" in result.stdout
    assert "When done: kata grade\n" in result.stdout


def test_start_in_another_folder_says_how_to_grade_from_here(kata: Terminal) -> None:
    result = kata("start", "v3", "deeper/still")
    assert (kata.folder / "deeper" / "still" / NAME).is_file()
    assert "When done: kata grade v3\n" in result.stdout
    assert kata("grade", "v3").exit_code == 0


def test_start_leaves_work_alone_and_says_how_to_begin_again(kata: Terminal) -> None:
    file = kata.write(NAME, "my work")
    result = kata("start", "v3")
    assert result.exit_code == 0
    assert file.read_text(encoding="utf-8") == "my work"
    assert "is there already, with work in it. Nothing was changed." in result.stdout
    assert "kata reset v3" in result.stdout


def test_starting_twice_says_that_the_stub_is_untouched(kata: Terminal) -> None:
    kata("start", "v3")
    assert "still as it was written" in kata("start", "v3").stdout


def test_a_blank_start_and_an_editor(kata: Terminal) -> None:
    kata("start", "v3", "--blank", "--edit")
    assert "blank page" in (kata.folder / NAME).read_text(encoding="utf-8")
    assert kata.edited == [kata.folder / NAME]


def test_start_works_without_a_history_and_says_so(kata: Terminal, broken_history: Path) -> None:
    result = kata("start", "v3")
    assert result.exit_code == 0
    assert (kata.folder / NAME).is_file()
    assert f"Note: The history {broken_history} is damaged" in result.stderr


def test_a_folder_that_cannot_be_made_is_wrong_usage(kata: Terminal) -> None:
    kata.write("a_file", "")
    result = kata("start", "v3", "a_file")
    assert result.exit_code == 2
    assert "Cannot write" in result.stderr


def test_reset_prints_where_the_old_work_is(kata: Terminal) -> None:
    kata("start", "v3")
    kata.write(NAME, "my work")
    result = kata("reset", "v3")
    assert result.exit_code == 0
    [backup] = kata.folder.glob("self_attention_v3.2026-11-30T*.py")
    assert f"Your work is kept in {backup}" in result.stdout
    assert backup.read_text(encoding="utf-8") == "my work"
    assert "TODO" in (kata.folder / NAME).read_text(encoding="utf-8")


def test_reset_may_leave_a_blank_page_in_another_folder(kata: Terminal) -> None:
    kata("start", "v3", "deeper")
    result = kata("reset", "v3", "deeper", "--blank")
    assert "Your work" not in result.stdout
    assert "blank page" in (kata.folder / "deeper" / NAME).read_text(encoding="utf-8")


def test_a_reset_begins_the_hints_anew(kata: Terminal) -> None:
    kata("start", "v3")
    assert "hint 1 of" in kata("hint", "v3").stdout
    assert "hint 2 of" in kata("hint", "v3").stdout
    kata("reset", "v3")
    assert "hint 1 of" in kata("hint", "v3").stdout
