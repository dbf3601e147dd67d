"""Own questions and limits of an interviewer: asked first, kept with the interview, refused by place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.interview.conftest import Clocks, Desk, answer
from tests.interview.test_cli_interview_past import interviewed, kata

__all__ = ["interviewed", "kata"]

QUESTION = """
[[questions]]
kata = "v3"
concept = "mask"
question = "Which test of the mask would you write {number}?"
answer = "Change a hidden token."
key_points = ["a hidden token", "is changed"]
"""
Kata = Callable[..., Result]


@pytest.fixture
def write(desk: Desk) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        folder = desk.folder / "junior"
        folder.mkdir()
        (folder / "agenda.toml").write_text(text, encoding="utf-8")
        return folder

    return write


def asked(kata: Kata) -> list[str]:
    told = json.loads(kata("interview", "debrief", "--format", "json").stdout)
    return [one["question"] for one in told["follow_ups"]]


def finish(kata: Kata, desk: Desk, clocks: Clocks) -> None:
    clocks.pass_time(60)
    desk.save(answer())
    assert kata("interview", "submit").exit_code == 0


@pytest.mark.parametrize("number", [1, 4])
def test_ones_own_questions_are_all_asked_and_ours_make_three(
    kata: Kata, desk: Desk, clocks: Clocks, write: Callable[[str], Path], number: int
) -> None:
    folder = write("".join(QUESTION.format(number=one) for one in range(number)))
    assert kata("interview", "start", "v3", "--agenda", str(folder)).exit_code == 0
    (folder / "agenda.toml").unlink()
    finish(kata, desk, clocks)
    questions = asked(kata)
    own = [f"Which test of the mask would you write {one}?" for one in range(number)]
    assert questions[:number] == own
    assert len(questions) == max(3, number)


def test_the_limits_are_the_agendas_unless_minutes_are_said(kata: Kata, write: Callable[[str], Path]) -> None:
    folder = write("[minutes]\nv3 = 7\n")
    kata("interview", "start", "v3", "--agenda", str(folder))
    assert json.loads(kata("interview", "status", "--json").stdout)["interview"]["limit"] == 420
    assert kata("interview", "abort").exit_code == 0
    kata("interview", "start", "v3", "--agenda", str(folder), "--minutes", "3")
    assert json.loads(kata("interview", "status", "--json").stdout)["interview"]["limit"] == 180


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[minutes]\nv3 = 0\n", "`$.minutes"),
        ("[minutes]\nv33 = 5\n", "There is no kata 'v33'"),
        ("[minutes\n", "agenda.toml"),
        (QUESTION.replace('"mask"', '"masks"'), "question 1: v3 has no concept 'masks'"),
        (QUESTION.replace('key_points = ["a hidden token", "is changed"]\n', ""), "key_points"),
        ("x" * 300_000, "longer than 256 kB"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(
    kata: Kata, write: Callable[[str], Path], text: str, words: str
) -> None:
    refused = kata("interview", "start", "v3", "--agenda", str(write(text)))
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert kata("interview", "status").exit_code != 0 or "no interview" in kata("interview", "status").output


def test_a_folder_without_an_agenda_says_so(kata: Kata, desk: Desk) -> None:
    refused = kata("interview", "start", "v3", "--agenda", str(desk.folder))
    assert refused.exit_code == 2
    assert "agenda.toml cannot be read" in refused.stderr
