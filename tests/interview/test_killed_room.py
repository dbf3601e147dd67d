"""A room that is killed loses nothing that it saw, and the interview ends as if it had not been killed.

Real processes and real `kill -9`; only the clock is a fast one, so that ten minutes pass in four seconds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from grader.interview.records import Interview
from grader.interview.store import InterviewStore
from tests.interview.room_process import moment, points_of
from tests.sampling import one_in

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 4.0  # seconds that the interview takes by the computer's clock
MINUTES = 10.0
SPEED = MINUTES * 60 / LENGTH
SAVES = 8


class Candidate:
    """Saves nine versions at fixed seconds; the room lives, is killed and comes back beside that."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.base = 0.0
        self.room: subprocess.Popen[str] | None = None
        self.shown: list[str] = []  # the sha256 of each save that a room has shown
        self._reader = threading.Thread()

    def open_room(self) -> None:
        """Start the room, or resume it; returns when its clock runs and its file is there."""
        if not self.base:
            self.base = time.monotonic()
        words = (self.home, self.folder, self.base, SPEED, MINUTES)
        errors = self.home / "errors.txt"
        with errors.open("w") as stderr:
            self.room = subprocess.Popen(
                [sys.executable, "-m", "tests.interview.room_process", *map(str, words)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env={**os.environ, "TERM": "xterm-256color"},
            )
        assert self.room.stdout is not None
        assert self.room.stdout.readline() == "ready\n", errors.read_text(errors="replace")
        self._reader = threading.Thread(target=self._listen, args=(self.room.stdout,))
        self._reader.start()

    def kill_room(self) -> None:
        assert self.room is not None
        self.room.kill()
        self.room.wait(10)
        self._reader.join(10)

    def _listen(self, output: IO[str]) -> None:
        with output:
            self.shown += [line.split()[1] for line in output if line.startswith("saved ")]

    def save(self, number: int) -> None:
        """In one step and with the fast clock's time, as an editor on a computer with that clock would."""
        text = f"class SelfAttentionV3: ...  # points: {number}\n"
        beside = self.folder / "next.tmp"
        beside.write_text(text, encoding="utf-8")
        stamp = moment(self.base, SPEED).wall.timestamp()
        os.utime(beside, (stamp, stamp))
        beside.replace(self.folder / "self_attention_v3.py")

    def wait_until(self, second: float, began: float) -> None:
        time.sleep(
            max(0.0, began + second - time.monotonic())
        )  # the script's own pace, not a wait for anything

    def end(self) -> None:
        """The room ends by itself when what counts is graded."""
        assert self.room is not None
        assert self.room.wait(60) == 0
        self._reader.join(10)

    def interview(self) -> tuple[Interview, list[str]]:
        """What is on the disk, and the texts of its saves."""
        with InterviewStore(self.home / "history.db") as store:
            [plan] = store.plans()
            interview = store.read(plan)
            return interview, [store.source(save.sha256).decode() for save in interview.round.saves]


@pytest.fixture
def candidate(tmp_path: Path) -> Iterator[Candidate]:
    home, folder = tmp_path / "home", tmp_path / "desk"
    home.mkdir()
    folder.mkdir()
    found = Candidate(home, folder)
    yield found
    if found.room is not None and found.room.poll() is None:
        found.kill_room()


def sit(candidate: Candidate, kill_after: float | None) -> None:
    """The whole session, in which the room is killed so many seconds after it was ready."""
    candidate.open_room()
    began = time.monotonic()
    killed = kill_after is None
    for number in range(1, SAVES + 1):
        second = number * LENGTH * 0.4 / SAVES
        if kill_after is not None and not killed and kill_after < second:
            candidate.wait_until(kill_after, began)
            killed = True
            candidate.kill_room()
        candidate.wait_until(second, began)
        candidate.save(number)
    if kill_after is not None and not killed:
        candidate.wait_until(kill_after, began)
        candidate.kill_room()


def check(candidate: Candidate, kill_after: float) -> None:
    sit(candidate, kill_after)
    interview, before = candidate.interview()
    kept = [save.sha256 for save in interview.round.saves[1:]]
    assert kept[: len(candidate.shown)] == candidate.shown
    candidate.open_room()
    candidate.end()
    interview, after = candidate.interview()
    assert after[: len(before)] == before
    one = interview.round
    assert one.ending is not None
    assert one.ending.kind == "deadline"
    assert one.graded is not None
    assert one.graded.data["points"] == SAVES  # what an unbroken session gets
    assert points_of(after[-1]) == SAVES


def test_an_unbroken_session_gets_the_points_of_the_last_save(candidate: Candidate) -> None:
    sit(candidate, None)
    candidate.end()
    interview, texts = candidate.interview()
    assert interview.round.graded is not None
    assert interview.round.graded.data["points"] == SAVES
    assert [save.sha256 for save in interview.round.saves[1:]] == candidate.shown
    assert points_of(texts[-1]) == SAVES


@pytest.mark.parametrize("kill_after", one_in(3, [0.8, 0.05, 1.6]))
def test_a_killed_room_loses_nothing(candidate: Candidate, kill_after: float) -> None:
    check(candidate, kill_after)


@pytest.mark.slow
@pytest.mark.parametrize("trial", range(20))
def test_a_room_that_is_killed_at_a_random_moment_loses_nothing(candidate: Candidate, trial: int) -> None:
    check(candidate, random.Random(f"kill {trial}").uniform(0.0, LENGTH * 0.9))
