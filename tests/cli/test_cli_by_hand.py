"""`--by-hand`: the smallest input on which an answer is wrong, after a grade, later and in watch."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from grader.cli.watch import Screen
from grader.practice.attempts import grade_target
from grader.practice.targets import resolve_target
from grader.records import ByHand, Grade, HandMatrix, Options, RoomRecord
from grader.watch.rounds import Round, Typed, Watch

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


def matrix(name: str, *rows: tuple[float | str, ...]) -> HandMatrix:
    return HandMatrix(name=name, shape=(1, len(rows), len(rows[0])), rows=rows)


EXAMPLE = ByHand(
    arguments=("hidden_dim=4",),
    inputs=(matrix("x", (1.0, 0.0), (0.0, 2.0)),),
    layer="key",
    change="swap",
    has_layers=True,
    right=(matrix("scores", (0.5, "-inf"), (0.25, 1.0)),),
    wrong=(matrix("scores", (1.0, -1e9), (0.5, 2.0)),),
    expected=matrix("output", (0.881, 0.119), (0.5, 0.5)),
    actual=matrix("output", (0.731, 0.269), (0.5, "nan")),
    worst=(0, 0),
)


@pytest.fixture
def example(kata: Terminal, grader: Any) -> Terminal:
    """A grader that misses the scale, and has an example when it is asked for one."""
    grader.missed = ("scale",)
    plain = kata.app.grade

    def graded(submission: Any, asked: Any, catalog: Any, options: Options | None = None) -> Grade:
        found: Grade = plain(submission, asked, catalog, options)
        return msgspec.structs.replace(found, by_hand=EXAMPLE if options and options.by_hand else None)

    kata.app.grade = graded
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    return kata


def test_after_a_grade_it_is_worked_out_and_costs_no_attempt(example: Terminal, grader: Any) -> None:
    result = example("grade", NAME, "--by-hand", "--seed", "9")
    assert result.exit_code == 1
    words = " ".join(result.stdout.split())
    assert "NOT PASSED YET" in words
    assert "Every layer is the identity without a bias, but the key layer exchanges its first two" in words
    assert "scores 0.500 -inf 0.250 1" in words
    assert "1 -1e+09 0.500 2" in words
    assert "Row 1, column 1: your code gave 0.731, and it should be 0.881." in words
    assert [(options.seed, options.by_hand) for _, _, options in grader.asked] == [(9, False), (20481, True)]
    assert len(example.app.history.attempts()) == 1


def test_a_kept_grade_is_shown_by_hand_from_its_own_source(example: Terminal, grader: Any) -> None:
    example("grade", NAME)
    example.write(NAME, "something else by now")
    assert "column 1: your code gave 0.731" in example("report", "--by-hand", "--full").stdout
    assert grader.asked[-1][0].source == b"class SelfAttentionV3: ...\n"
    page = example("report", "--by-hand", "--format", "html").stdout
    assert '<h2 id="on-paper"' in page
    assert "the key layer exchanges" in page
    assert "your code gave 0.731" in example("report", "--by-hand", "--format", "md").stdout


def test_programs_get_its_numbers(example: Terminal) -> None:
    document = json.loads(example("grade", NAME, "--by-hand", "--json").stdout)
    assert document["by_hand"]["worst"] == [0, 0]
    assert document["by_hand"]["actual"]["rows"][1] == [0.5, "nan"]


def test_where_there_is_none_it_says_so(kata: Terminal, grader: Any) -> None:
    grader.missed = ("scale",)
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    result = kata("grade", NAME, "--by-hand")
    assert "There is no small example in whole numbers" in " ".join(result.stdout.split())


def test_after_a_pass_there_is_nothing_to_show(kata: Terminal) -> None:
    kata("start", "v3")
    assert kata("grade", "--by-hand").exit_code == 0
    refused = kata("report", "--by-hand")
    assert refused.exit_code == 2
    assert "There is no example by hand: it passed." in refused.stderr


def test_what_did_not_run_has_none(kata: Terminal, grader: Any) -> None:
    grader.verdict = "unrunnable"
    kata.write(NAME, "class SelfAttentionV3: ...\n")
    assert kata("grade", NAME, "--by-hand").exit_code == 1
    assert "it did not run" in kata("report", "--by-hand").stderr


def test_a_bug_hunt_gives_none_away(kata: Terminal, grader: Any) -> None:
    room = json.loads(kata("debug", "v3", "--seed", 7, "--json", "--reveal").stdout)
    labels = tuple(bug["label"] for bug in room["bugs"])
    grader.missed, plain = ("scale",), kata.app.grade
    kata.app.grade = lambda *asked: msgspec.structs.replace(
        plain(*asked), room=RoomRecord(planted=labels, still=labels)
    )
    refused = kata("grade", "v3_debug_7.py", "--by-hand")
    assert refused.exit_code == 2
    assert "it would say which bug it is" in " ".join(refused.stderr.split())


def test_b_shows_it_in_watch(example: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    app = example.app
    target = resolve_target((NAME, "v3"), example.folder, app.catalog, app.history)
    watch = Watch(target, Options(), app.catalog, app.history, app.begin, example.folder)
    screen = Screen(app, watch, live=True)
    assert not screen.answer(Typed(key="b"))  # nothing was graded yet
    screen.show(Round(graded=grade_target(
        target, Options(), app.catalog, app.history, app.grade, folder=example.folder
    )))  # fmt: skip
    capsys.readouterr()
    assert not screen.answer(Typed(key="b"))
    assert "it should be 0.881" in capsys.readouterr().out
