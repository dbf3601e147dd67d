"""A room that is killed loses nothing that it saw, and the interview ends as if it had not been killed.

Real processes and real `kill -9`; only the clock is a fast one, so that ten minutes pass in two seconds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.interview.records import Interview
from grader.interview.store import InterviewStore
from tests.interview.room_process import moment, points_of

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 2.0  # seconds that the interview takes by the computer's clock
MINUTES = 10.0
SPEED = MINUTES * 60 / LENGTH
SAVES = 8
SEEN_WITHIN = 0.5  # seconds after which a living room must have written a save down


class Candidate:
    """Saves nine versions at fixed seconds; the room lives, is killed and comes back beside that."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.base = 0.0
        self.room: subprocess.Popen[str] | None = None
        self.saved: dict[float, str] = {}  # the computer's clock -> text

    def open_room(self) -> None:
        """Start the room, or resume it; returns when its clock runs and its file is there."""
        if not self.base:
            self.base = time.monotonic()
        words = (self.home, self.folder, self.base, SPEED, MINUTES)
        self.room = subprocess.Popen(
            [sys.executable, "-m", "tests.interview.room_process", *map(str, words)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        assert self.room.stdout is not None
        assert self.room.stdout.readline() == "ready\n"

    def kill_room(self) -> None:
        assert self.room is not None
        self.room.kill()
        self.room.wait(10)
        assert self.room.stdout is not None
        self.room.stdout.close()

    def save(self, number: int) -> None:
        """In one step and with the fast clock's time, as an editor on a computer with that clock would."""
        text = f"class SelfAttentionV3: ...  # points: {number}\n"
        beside = self.folder / "next.tmp"
        beside.write_text(text, encoding="utf-8")
        stamp = moment(self.base, SPEED).wall.timestamp()
        os.utime(beside, (stamp, stamp))
        beside.replace(self.folder / "self_attention_v3.py")
        self.saved[time.monotonic()] = text

    def wait_until(self, second: float, began: float) -> None:
        time.sleep(
            max(0.0, began + second - time.monotonic())
        )  # the script's own pace, not a wait for anything

    def end(self) -> None:
        """The room ends by itself when what counts is graded."""
        assert self.room is not None
        assert self.room.wait(60) == 0
        assert self.room.stdout is not None
        self.room.stdout.close()

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


def sit(candidate: Candidate, kill_after: float | None) -> float | None:
    """The whole session; returns when the room was killed, by the computer's clock."""
    candidate.open_room()
    began = time.monotonic()
    killed = None
    for number in range(1, SAVES + 1):
        second = number * LENGTH * 0.7 / SAVES
        if kill_after is not None and killed is None and kill_after < second:
            candidate.wait_until(kill_after, began)
            killed = time.monotonic()
            candidate.kill_room()
        candidate.wait_until(second, began)
        candidate.save(number)
    if kill_after is not None and killed is None:
        candidate.wait_until(kill_after, began)
        killed = time.monotonic()
        if candidate.room is not None and candidate.room.poll() is None:
            candidate.kill_room()
    return killed


def check(candidate: Candidate, kill_after: float) -> None:
    killed = sit(candidate, kill_after)
    assert killed is not None
    _, before = candidate.interview()
    seen = [text for when, text in candidate.saved.items() if when < killed - SEEN_WITHIN]
    assert [text for text in seen if text not in before] == []
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
    assert [points_of(text) for text in texts] == list(range(SAVES + 1))


@pytest.mark.parametrize("kill_after", [0.05, 0.8, 1.6])
def test_a_killed_room_loses_nothing(candidate: Candidate, kill_after: float) -> None:
    check(candidate, kill_after)


@pytest.mark.slow
@pytest.mark.parametrize("trial", range(20))
def test_a_room_that_is_killed_at_a_random_moment_loses_nothing(candidate: Candidate, trial: int) -> None:
    check(candidate, random.Random(f"kill {trial}").uniform(0.0, LENGTH * 1.1))
