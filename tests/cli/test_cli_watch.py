"""`kata watch`, as a command; its loop is tested beside its module."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from grader.catalog import Kata
from grader.cli.app import App
from grader.cli.keys import keys
from grader.cli.main import cli
from grader.cli.watch import Screen
from grader.practice.attempts import grade_target
from grader.practice.targets import resolve_target
from grader.records import Grade, Options, Submission, Trial
from grader.watch.rounds import Round, Typed, Watch

Terminal = Any  # tests/cli/conftest.py
NAME = "self_attention_v3.py"


class Ready:
    def __init__(self, grade: Grade, then: Callable[[], object]) -> None:
        self.grade = grade
        self.then = then

    def result(self) -> Grade:
        self.then()
        return self.grade

    def cancel(self) -> None: ...


@pytest.fixture
def graded_with() -> list[Options]:
    """The options of each grade that was begun."""
    return []


@pytest.fixture
def watched(
    kata: Terminal, clock: Any, make_grade: Callable[..., Grade], graded_with: list[Options]
) -> Callable[..., Any]:
    """Run `kata watch` where each content is graded by its comment; `saves` follow one another."""

    def run(*words: str, saves: list[str]) -> Any:
        left = list(saves)
        kata.write(NAME, left.pop(0))

        def save_next() -> None:
            if left:
                threading.Timer(0.3, kata.write, (NAME, left.pop(0))).start()

        def begin(submission: Submission, asked: Kata, _: object, options: Options) -> Ready:
            graded_with.append(options)
            text = submission.source.decode()
            if text.endswith("("):
                reason = f"{NAME}:1: SyntaxError: '(' was never closed."
                broken = make_grade(asked.id, verdict="unrunnable")
                return Ready(msgspec.structs.replace(broken, reason=reason), save_next)
            return Ready(make_grade(asked.id, missed=tuple(text.split()[1:])), save_next)

        app = App(clock=clock, begin=begin)
        return CliRunner().invoke(cli, ["watch", NAME, "v3", *words], obj=app)

    return run


def test_it_ends_with_a_pass_and_says_what_is_next(watched: Callable[..., Any]) -> None:
    result = watched(saves=["# scale mask", "# mask", "#"])
    assert result.exit_code == 0
    assert f"Watching {os.path.relpath(NAME)}" in result.stdout or NAME in result.stdout
    assert result.stdout.count("now right") == 2
    assert "17 of 17 points" in result.stdout
    assert "kata start" in result.stdout


def test_a_half_typed_save_is_one_line(watched: Callable[..., Any]) -> None:
    shown = watched(saves=["# (", "#"]).stdout
    half = [line for line in shown.splitlines() if "SyntaxError" in line]
    assert len(half) == 1
    assert half[0].endswith("'(' was never closed.")
    assert "COULD NOT BE RUN" not in shown
    assert "17 of 17 points" in shown


@pytest.mark.parametrize(("words", "engine"), [((), True), (("--no-engine",), False)])
def test_an_engine_is_used_unless_it_is_declined(
    watched: Callable[..., Any], graded_with: list[Options], words: tuple[str, ...], engine: bool
) -> None:
    assert watched(*words, saves=["#"]).exit_code == 0
    assert [options.engine for options in graded_with] == [engine]


def test_a_file_without_a_kata_is_wrong_usage(kata: Terminal) -> None:
    assert kata("watch", "nowhere.py").exit_code == 2


def test_keys_are_told_without_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    pressed: queue.SimpleQueue[str] = queue.SimpleQueue()
    with os.fdopen(theirs, "r", closefd=True) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with keys(pressed.put) as typing:
            assert typing
            os.write(ours, b"hr")
            assert [pressed.get(timeout=10), pressed.get(timeout=10)] == ["h", "r"]
    os.close(ours)


def test_without_a_terminal_there_are_no_keys() -> None:
    with keys(lambda _: None) as typing:
        assert not typing


def test_it_goes_on_to_the_next_kata_until_all_are_passed(
    kata: Terminal, clock: Any, make_grade: Callable[..., Grade], catalog: Any
) -> None:
    graded: list[str] = []

    def begin(_: Submission, asked: Kata, *__: object) -> Ready:
        graded.append(asked.id)
        return Ready(make_grade(asked.id), lambda: None)

    app = App(clock=clock, begin=begin)
    kata.write("self_attention_v1.py", "# mine")
    result = CliRunner().invoke(cli, ["watch", "self_attention_v1.py", "v1", "--next"], obj=app)
    assert result.exit_code == 0
    assert graded[:2] == ["v1", "v2"]
    assert set(graded) == {known.id for known in catalog.katas}
    assert "On to v2" in result.stdout
    assert (kata.folder / "self_attention_v2.py").is_file()


def test_at_a_terminal_the_verdict_and_the_keys_are_on_the_last_line(
    kata: Terminal, make_grade: Callable[..., Grade], capsys: pytest.CaptureFixture[str]
) -> None:
    kata("start", "v3")
    missed = make_grade("v3", missed=("scale",))
    target = resolve_target(("v3",), kata.folder, kata.app.catalog, kata.app.history)
    watch = Watch(target, Options(), kata.app.catalog, kata.app.history, kata.app.begin, kata.folder)
    screen = Screen(kata.app, watch, live=True, before="v2 ✓ 14/14")
    screen.begin()
    screen.show(Round(graded=grade_target(
        target, Options(), kata.app.catalog, kata.app.history, lambda *_: missed, folder=kata.folder
    )))  # fmt: skip
    kata.app.try_out = lambda *_: Trial(kata="v3", example="x", returned="a Tensor (1,)")
    for key in ("", "h", "x", "z"):
        if key:
            assert not screen.answer(Typed(key=key))
        lines = capsys.readouterr().out.splitlines()
        assert key == "z" or lines[-1] == "✕ 15/17 · h hint · x run · b by hand · r report · g again · q quit"
        assert len(lines) <= 24
    assert screen.answer(Typed(key="q"))
