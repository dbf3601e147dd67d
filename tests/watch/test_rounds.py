"""The loop of `kata watch`: one round for each content, the newest save only, and what changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.catalog import Catalog, Kata
from grader.debugging.desk import open_room, room_of
from grader.engine.running import Cancelled
from grader.errors import GraderFault
from grader.history import History
from grader.practice.targets import Target
from grader.records import Grade, Options, Submission
from grader.snapshot import UnreadableSubmission, read_submission
from grader.watch import rounds as rounds_module
from grader.watch.rounds import Absent, Event, Round, Started, Typed, Watch, changes
from tests import patience


class Held:
    """A grading that ends when it is told to."""

    def __init__(self, grade: Grade, released: bool) -> None:
        self.grade = grade
        self.cancelled = False
        self.go_on = threading.Event()
        if released:
            self.go_on.set()

    def result(self) -> Grade:
        assert self.go_on.wait(patience.SECONDS)
        if self.cancelled:
            raise Cancelled
        return self.grade

    def cancel(self) -> None:
        self.cancelled = True
        self.go_on.set()


class Grader:
    """What a file says is what is missed."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self.make_grade = make_grade
        self.begun: list[Held] = []
        self.error: GraderFault | None = None

    def __call__(self, submission: Submission, kata: Kata, *_: object) -> Held:
        if self.error is not None:
            raise self.error
        words = submission.source.decode().split()
        held = Held(self.make_grade(kata.id, missed=tuple(words[1:])), released="hold" not in words[0])
        self.begun.append(held)
        return held


@pytest.fixture
def grader(make_grade: Callable[..., Grade]) -> Grader:
    return Grader(make_grade)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answer.py"
    path.write_text("# scale mask", encoding="utf-8")
    return path


@pytest.fixture
def watch(file: Path, catalog: Catalog, history: History, grader: Grader) -> Watch:
    target = Target(path=file, kata=catalog.get("v3"))
    return Watch(target, Options(), catalog, history, grader, file.parent)


@pytest.fixture
def events(watch: Watch) -> Iterator[Iterator[Event]]:
    running = watch.events()
    yield running
    running.close()  # type: ignore[attr-defined]


def rounds(events: Iterator[Event]) -> Iterator[Round]:
    return (event for event in events if isinstance(event, Round))


def test_the_file_as_it_is_comes_first_and_each_save_after_it(
    events: Iterator[Event], file: Path, history: History
) -> None:
    assert next(events) == Started(again=False)
    first = next(events)
    assert isinstance(first, Round)
    assert first.changes == ()
    file.write_text("# mask", encoding="utf-8")
    second = next(rounds(events))
    assert [(change.concept, change.gained) for change in second.changes] == [("scale", True)]
    file.write_text("# scale", encoding="utf-8")
    third = next(rounds(events))
    assert {(change.concept, change.gained) for change in third.changes} == {("mask", True), ("scale", False)}
    assert [attempt.origin for attempt in history.attempts()] == ["watch"] * 3


def test_the_file_of_a_bug_hunt_is_graded_by_what_was_planted(
    file: Path, catalog: Catalog, history: History, grader: Grader
) -> None:
    kata = catalog.get("v3")
    room = room_of(kata, catalog, 7, "easy", None)
    opened = open_room(room, kata, file.parent, history)
    watch = Watch(Target(path=opened.path, kata=kata), Options(), catalog, history, grader, file.parent)
    assert watch.options.planted == room.planted


def test_a_save_during_a_grade_ends_it_and_starts_over(
    events: Iterator[Event], file: Path, grader: Grader
) -> None:
    file.write_text("#hold scale", encoding="utf-8")
    assert next(events) == Started(again=False)
    file.write_text("# mask", encoding="utf-8")
    assert next(events) == Started(again=True)
    only = next(rounds(events))
    assert grader.begun[0].cancelled
    missed = [concept.id for concept in only.graded.grade.concepts if concept.status == "failed"]
    assert missed == ["mask"]


def test_the_same_content_is_graded_once_unless_it_is_asked_for(
    events: Iterator[Event], file: Path, watch: Watch, grader: Grader
) -> None:
    next(rounds(events))
    file.write_text("# scale mask", encoding="utf-8")
    watch.press("x")
    assert next(events) == Typed(key="x")
    watch.again()
    assert next(events) == Started(again=False)
    next(rounds(events))
    assert len(grader.begun) == 2


EMPTY = UnreadableSubmission("answer.py", "answer.py is empty.", "Write the class into it.")


def reading(monkeypatch: pytest.MonkeyPatch, *problems: UnreadableSubmission) -> None:
    """The first looks at the file end so; after them it is there."""
    left = list(problems)

    def read(path: Path) -> Submission:
        if left:
            raise left.pop()
        return read_submission(path)

    monkeypatch.setattr(rounds_module, "read_submission", read)


def test_a_file_between_the_two_steps_of_a_save_is_no_attempt(
    events: Iterator[Event], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading(monkeypatch, EMPTY)
    first = next(rounds(events))
    assert first.graded.grade.verdict == "failed"
    assert len(history.attempts()) == 1


def test_what_was_read_decides_though_the_file_is_another_by_now(
    events: Iterator[Event], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading(monkeypatch, EMPTY, EMPTY)
    first = next(rounds(events))
    assert first.graded.grade.verdict == "unrunnable"
    assert first.graded.grade.reason == "answer.py is empty. Write the class into it."
    assert [attempt.verdict for attempt in history.attempts()] == ["unrunnable"]


def test_a_file_that_is_gone_is_waited_for(events: Iterator[Event], file: Path) -> None:
    next(rounds(events))
    file.unlink()
    gone = next(events)
    assert isinstance(gone, Absent)
    assert "There is no file" in gone.problem.message
    file.write_text("# scale mask", encoding="utf-8")
    assert isinstance(next(rounds(events)), Round)


def test_a_file_that_cannot_be_read_has_a_verdict(events: Iterator[Event], file: Path) -> None:
    next(rounds(events))
    file.write_bytes(b"\xff\xfe")
    shown = next(rounds(events))
    assert shown.graded.grade.verdict == "unrunnable"
    assert "UTF-8" in (shown.graded.grade.reason or "")


def test_a_file_that_is_emptied_is_waited_for_and_no_attempt(
    events: Iterator[Event], file: Path, history: History
) -> None:
    next(rounds(events))
    file.write_text("", encoding="utf-8")
    emptied = next(events)
    assert isinstance(emptied, Absent)
    assert "is empty" in emptied.problem.message
    assert len(history.attempts()) == 1


def test_a_fault_of_the_grader_ends_it(watch: Watch, grader: Grader) -> None:
    grader.error = GraderFault("kata v3: its code does not load", "Run `kata lint`.")
    with pytest.raises(GraderFault):
        list(watch.events())


def test_what_ends_early_ends_its_grade(watch: Watch, file: Path, grader: Grader) -> None:
    file.write_text("#hold", encoding="utf-8")
    events = watch.events()
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert grader.begun[0].cancelled


def test_the_first_round_has_nothing_to_be_compared_with(make_grade: Callable[..., Grade]) -> None:
    assert changes(None, make_grade("v3")) == ()
