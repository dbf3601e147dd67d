"""Interviews with clocks that only the test moves, and a grader that reads the points out of the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.catalog import Catalog, Kata
from grader.history import History
from grader.interview.moments import Moment
from grader.interview.opening import Wish, open_interview
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.records import Grade, Options, Submission

START = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


class Clocks:
    """All clocks of a computer, moved by hand."""

    def __init__(self) -> None:
        self.wall = START
        self.mono = 1000.0
        self.boot = "boot 1"
        self.slept: float | None = 0.0

    def __call__(self) -> Moment:
        return Moment(wall=self.wall, mono=self.mono, boot=self.boot, slept=self.slept)

    def pass_time(self, seconds: float) -> None:
        """Ordinary time."""
        self.wall += timedelta(seconds=seconds)
        self.mono += seconds

    def sleep(self, seconds: float) -> None:
        """The lid is closed."""
        self.wall += timedelta(seconds=seconds)
        if self.slept is not None:
            self.slept += seconds

    def set_wall(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        self.wall += timedelta(seconds=seconds)

    def reboot(self, seconds: float) -> None:
        """Power cut; the computer is on again after so long."""
        self.wall += timedelta(seconds=seconds)
        self.mono, self.boot, self.slept = 10.0, "boot 2", 0.0


class Desk:
    """The candidate's folder, with a file whose times follow the clocks."""

    def __init__(self, folder: Path, clocks: Clocks) -> None:
        self.folder = folder
        self.clocks = clocks

    def save(self, text: str, name: str = "self_attention_v3.py", *, ago: float = 0.0) -> Path:
        """Save the file now, or so many seconds ago."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        self.touch(path, ago=ago)
        return path

    def touch(self, path: Path, *, ago: float = 0.0) -> None:
        stamp = (self.clocks.wall - timedelta(seconds=ago)).timestamp()
        os.utime(path, (stamp, stamp))


def answer(missed: str = "") -> str:
    """A file that the stand-in grader finds these concepts missed in; distinct texts for distinct answers."""
    return f"class SelfAttentionV3: ...  # missed: {missed}\n"


class ReadingGrader:
    """Misses what the file says it misses; a blank page misses everything."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self.make_grade = make_grade
        self.asked: list[tuple[str, Options | None]] = []

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade:
        assert kata in catalog.katas
        self.asked.append((submission.sha256, options))
        text = submission.source.decode()
        said = re.search(r"# missed: ?(.*)", text)
        if "grader fault" in text:
            return self.make_grade(kata.id, verdict="grader_error")
        if said is None:
            everything = tuple(concept.id for concept in kata.concepts)
            return self.make_grade(kata.id, missed=everything, verdict="unrunnable")
        return self.make_grade(kata.id, missed=tuple(said[1].split()))


@pytest.fixture(autouse=True)
def runs_are_warm(warm: None) -> None:
    """Questions on one's own lines are settled by runs."""


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def desk(tmp_path: Path, clocks: Clocks) -> Desk:
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder, clocks)


@pytest.fixture
def interviews(home: Path, clocks: Clocks) -> Iterator[History]:
    """A history whose clock is the interview's."""
    with History(home / "kata" / "history.db", lambda: clocks().wall, busy_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def store(home: Path) -> Iterator[InterviewStore]:
    with InterviewStore(home / "kata" / "history.db", busy_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def read_grade(make_grade: Callable[..., Grade]) -> ReadingGrader:
    return ReadingGrader(make_grade)


Begin = Callable[..., Session]


@pytest.fixture
def begin(catalog: Catalog, desk: Desk, interviews: History, store: InterviewStore, clocks: Clocks) -> Begin:
    """Begin an interview at the desk: `begin("v3", minutes=25)`."""

    def start(*katas: str, **wish: object) -> Session:
        wanted = tuple(catalog.get(kata) for kata in katas or ("v3",))
        session = open_interview(
            Wish(katas=wanted, **{"seed": 7, **wish}),  # type: ignore[arg-type]
            desk.folder,
            interviews,
            store,
            clocks,
        )
        for kata in wanted[:1]:
            desk.touch(desk.folder / kata.file_name)
        return session

    return start
