"""`kata hint` and `kata solution`."""

from __future__ import annotations

from typing import Any

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


def test_hints_come_one_by_one_until_there_are_no_more(kata: Terminal) -> None:
    first, second = kata("hint", "v3").stdout, kata("hint", "v3").stdout
    assert "v3 · hint 1 of 4" in first
    assert "More help: kata hint v3" in first
    assert "v3 · hint 2 of 4" in second
    kata("hint", "v3")
    assert "More help" not in kata("hint", "v3").stdout
    again = kata("hint", "v3").stdout
    assert "hint 4 of 4" in again
    assert "There are no more hints." in again


def test_all_hints_at_once_count_as_taken(kata: Terminal) -> None:
    shown = kata("hint", "v3", "--all").stdout
    assert [f"hint {number} of 4" in shown for number in (1, 2, 3, 4)] == [True] * 4
    assert "hint 4 of 4" in kata("hint", "v3").stdout


def test_the_report_names_the_hints_that_were_taken(kata: Terminal, grader: Any) -> None:
    grader.missed = ("mask",)
    kata("start", "v3")
    kata("hint", "v3")
    kata("grade")
    report = kata("report", "--format", "md").stdout
    assert "Follow one row of scores" in report


def test_the_solution_stays_closed_before_a_pass(kata: Terminal) -> None:
    result = kata("solution", "v3")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "You have not passed v3 yet" in result.stderr
    assert "kata solution v3 --give-up" in result.stderr


def test_the_solution_opens_after_a_pass_beside_ones_own_code(kata: Terminal) -> None:
    kata.write(NAME, "class SelfAttentionV3:\n    mine = 'my own\x1b[2J words'\n")
    kata("grade", NAME)
    result = kata("solution", "v3")
    assert result.exit_code == 0
    assert f"Yours: {NAME}" in result.stdout
    assert "my own␛[2J words" in result.stdout
    assert "Solution of v3" in result.stdout
    assert "self.output_proj = nn.Linear" in result.stdout


def test_a_wide_terminal_shows_both_side_by_side(kata: Terminal, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    kata("grade", NAME)
    [line] = [line for line in kata("solution", "v3").stdout.splitlines() if "Solution of v3" in line]
    assert line.startswith("Yours: ")


def test_giving_up_is_recorded(kata: Terminal) -> None:
    result = kata("solution", "v3", "--give-up")
    assert result.exit_code == 0
    assert "Solution of v3" in result.stdout
    assert "Yours" not in result.stdout
    assert "solution seen" in kata("list").stdout


def test_explain_shows_a_mistake_or_all_of_them(kata: Terminal) -> None:
    shown = kata("explain", "scale_by_dk").stdout
    for words in ("scores = scores / self.hidden_dim", "math.sqrt(self.hidden_dim)", "Fix", "Why", "Seen"):
        assert words in shown
    assert "softmax_over_queries" in kata("explain").stdout


def test_explain_of_an_unknown_name_is_wrong_usage(kata: Terminal) -> None:
    result = kata("explain", "no_scala")
    assert result.exit_code == 2
    assert "Did you mean no_scale" in result.stderr
