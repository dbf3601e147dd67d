"""`--isolation`: what is asked of the grader, and what is said when it is not to be had."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.practice import isolation

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


@pytest.fixture
def answer(kata: Terminal) -> str:
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    return NAME


@pytest.mark.parametrize(
    ("words", "setting", "asked"),
    [
        ((), None, "standard"),
        (("--isolation", "strict"), None, "strict"),
        ((), "process", "process"),
        (("--isolation", "strict"), "process", "strict"),
    ],
)
def test_the_level_reaches_the_grader(
    kata: Terminal,
    grader: Any,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    setting: str | None,
    asked: str,
) -> None:
    if setting is not None:
        monkeypatch.setenv("KATA_ISOLATION", setting)
    assert kata("grade", answer, *words).exit_code == 0
    assert grader.asked[0][2].isolation == asked


def test_another_level_is_wrong_usage(kata: Terminal, answer: str) -> None:
    result = kata("grade", answer, "--isolation", "loose")
    assert result.exit_code == 2
    assert "'strict', 'standard', 'process'" in result.stderr


class TestWhatIsMissing:
    @pytest.fixture(autouse=True)
    def lacking(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(isolation, "missing_for_strict", lambda: ("landlock",))

    def test_standard_says_so_once(self, kata: Terminal, answer: str, home: Path) -> None:
        first, second = kata("grade", answer), kata("grade", answer)
        assert "this machine has no landlock: an answer could reach your files" in first.stderr
        assert second.stderr == ""
        assert (home / "kata" / "isolation-noted").read_text(encoding="utf-8") == "landlock"

    def test_it_is_said_again_when_something_else_is_missing(
        self, kata: Terminal, answer: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kata("grade", answer)
        monkeypatch.setattr(isolation, "missing_for_strict", lambda: ("landlock", "seccomp"))
        assert "no landlock and no seccomp" in kata("grade", answer).stderr

    @pytest.mark.parametrize("level", ["strict", "process"])
    def test_the_other_levels_say_nothing(self, kata: Terminal, answer: str, level: str) -> None:
        assert kata("grade", answer, "--isolation", level).stderr == ""

    def test_a_home_that_cannot_be_written_is_no_reason_to_fail(
        self, kata: Terminal, answer: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KATA_HOME", "/proc/kata")
        for _ in range(2):
            result = kata("grade", answer)
            assert result.exit_code == 0
            assert "no landlock" in result.stderr

    def test_a_mark_that_is_no_text_counts_as_none(self, kata: Terminal, answer: str, home: Path) -> None:
        (home / "kata").mkdir()
        (home / "kata" / "isolation-noted").write_bytes(b"\xff")
        assert "no landlock" in kata("grade", answer).stderr


def test_a_refusal_is_no_attempt(kata: Terminal, grader: Any, answer: str) -> None:
    made = grader.make_grade

    def refused(*words: Any, **more: Any) -> Any:
        return msgspec.structs.replace(
            made(*words, **more), verdict="grader_error", reason="no landlock here"
        )

    grader.make_grade = refused
    result = kata("grade", answer, "--isolation", "strict")
    assert result.exit_code == 3
    assert "no landlock here" in result.stdout
    assert result.stderr == ""
    grader.make_grade = made
    assert "1" not in kata("history").stdout.replace("v1", "")


def test_a_clock_that_jumps_back_loses_no_attempt(kata: Terminal, clock: Any, answer: str) -> None:
    kata("grade", answer)
    clock.now -= timedelta(days=400)
    kata("grade", answer)
    clock.now += timedelta(days=800)
    assert kata("grade", answer).exit_code == 0
    shown = kata("history").stdout
    assert shown.count("v3") >= 3
    assert kata("report").exit_code == 0
    assert kata("list").exit_code == 0
