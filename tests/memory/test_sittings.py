"""Which gradings are a sitting, and how its first submission is rated."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grader.interview.moments import Moment
from grader.interview.opening import Wish, open_interview
from grader.memory.sittings import sittings
from tests.memory.conftest import Diary


def test_nothing_was_done_yet(diary: Diary) -> None:
    assert diary.sittings() == ()


@pytest.mark.parametrize(
    ("minutes", "rating"),
    [(5, "easy"), (12.4, "easy"), (13, "good"), (25, "good"), (26, "hard"), (60, "hard")],
)
def test_what_is_right_is_rated_by_the_time_it_took(diary: Diary, minutes: float, rating: str) -> None:
    diary.sitting("v3", minutes=minutes)
    [ratings] = diary.ratings()
    assert ratings["v3"] == ratings["v3/mask"] == rating


def test_what_is_lost_is_rated_again_and_the_rest_is_not(diary: Diary) -> None:
    diary.sitting("v3", ("mask",), minutes=5)
    [ratings] = diary.ratings()
    assert (ratings["v3"], ratings["v3/mask"], ratings["v3/scale"]) == ("again", "again", "easy")


def test_hints_make_it_hard(diary: Diary) -> None:
    diary.start("v3")
    diary.history.take_hint("v3", 4)
    diary.wait(minutes=5)
    diary.grade("v3")
    assert diary.ratings()[0]["v3/mask"] == "hard"


def test_a_solution_that_was_seen_in_the_sitting_leaves_nothing_of_it(diary: Diary) -> None:
    diary.start("v3")
    diary.history.record_solution_seen("v3", gave_up=True)
    diary.wait(minutes=5)
    diary.grade("v3")
    assert set(diary.ratings()[0].values()) == {"again"}


def test_a_solution_that_was_seen_days_before_does_not_matter(diary: Diary) -> None:
    diary.history.record_solution_seen("v3", gave_up=True)
    diary.wait(days=2)
    diary.sitting("v3", minutes=5)
    assert diary.ratings()[0]["v3"] == "easy"


def test_what_was_not_reached_is_not_rated(diary: Diary) -> None:
    diary.start("v3")
    diary.grade("v3", ("scores",), reached=("interface", "scores"))
    assert set(diary.ratings()[0]) == {"v3", "v3/interface", "v3/scores"}


def test_an_optional_concept_is_not_rated(diary: Diary) -> None:
    diary.sitting("v3")
    assert "v3/robustness" not in diary.ratings()[0]


def test_only_the_first_submission_of_a_sitting_is_rated(diary: Diary) -> None:
    diary.sitting("v3", ("mask",))
    diary.wait(minutes=5)
    diary.grade("v3")
    [sitting] = diary.sittings()
    assert dict(sitting.ratings)["v3/mask"] == "again"
    assert sitting.passed
    assert (sitting.seconds, sitting.seconds_to_pass) == (600, 900)


@pytest.mark.parametrize("origin", ["watch", "practice"])
def test_saves_that_were_graded_at_once_do_not_count(diary: Diary, origin: str) -> None:
    diary.start("v3")
    diary.grade("v3", ("mask",), origin=origin)
    assert diary.sittings() == ()


def test_a_fault_of_the_grader_does_not_count(diary: Diary) -> None:
    grade = diary._make_grade("v3", verdict="grader_error")
    diary.history.record_attempt(grade, None, None)
    assert diary.sittings() == ()


def test_starting_over_begins_a_new_sitting(diary: Diary) -> None:
    for _ in range(2):
        diary.sitting("v3")
        diary.wait(days=3)
    assert len(diary.sittings()) == 2


def test_the_same_words_written_anew_are_a_new_sitting(diary: Diary) -> None:
    for _ in range(2):
        diary.start("v3")
        diary.grade("v3", text="the same")
        diary.wait(days=3)
    assert len(diary.sittings()) == 2


def test_without_a_start_a_day_is_a_sitting_and_the_same_file_is_none(diary: Diary) -> None:
    diary.grade("v3", text="one", path=None)
    diary.grade("v3", text="two", path=None)
    diary.wait(days=1)
    diary.grade("v3", text="two", path=None)
    diary.wait(days=1)
    diary.grade("v3", text="three", path=None)
    assert [len(sitting.attempts) for sitting in diary.sittings()] == [2, 1]
    assert diary.ratings()[0]["v3"] == "good"  # no time is known


def test_work_that_began_long_ago_has_no_time(diary: Diary) -> None:
    diary.start("v3")
    diary.wait(days=2)
    diary.grade("v3")
    [sitting] = diary.sittings()
    assert sitting.seconds is None
    assert sitting.seconds_to_pass is None


def test_a_kata_that_the_catalog_does_not_have_is_left_out(diary: Diary) -> None:
    diary.sitting("v3")
    fewer = msgspec.structs.replace(diary.catalog, katas=diary.catalog.katas[:2])
    assert sittings(fewer, diary.history, diary.interviews) == ()


def test_an_interview_is_a_sitting_with_its_own_clock(diary: Diary, tmp_path: Path) -> None:
    def moment() -> Moment:
        return Moment(wall=diary.now, mono=diary.now.timestamp(), boot="boot")

    wish = Wish(katas=(diary.catalog.get("v3"),), minutes=10, seed=1)
    session = open_interview(wish, tmp_path, diary.history, diary.interviews, moment)
    diary.wait(minutes=4)
    session.submit()
    diary.wait(days=1)  # it is graded much later
    attempt = diary.grade("v3", ("mask",), origin="interview", path=session.round.path)
    points = {"verdict": attempt.verdict, "points": attempt.points, "max_points": attempt.max_points}
    session.graded(0, {"attempt": attempt.uuid, "missed": ["mask"], "hints": 0} | points)
    [sitting] = diary.sittings()
    assert sitting.seconds == 240
    assert dict(sitting.ratings)["v3/scale"] == "easy"
