"""The numbers, and how they are shown."""

from __future__ import annotations

import pytest

from grader.memory.sections import stats_view
from grader.memory.stats import Stats, stats, trend
from grader.report.render import render
from tests.memory.conftest import Diary


def numbers(diary: Diary) -> Stats:
    return stats(diary.catalog, diary.history, diary.interviews, diary.now)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], "unknown"),
        ([900, 800, 700], "unknown"),
        ([900, 800, 500, 400], "faster"),
        ([400, 500, 800, 900], "slower"),
        ([600, 610, 590, 600], "steady"),
        ([0, 0, 0, 0], "steady"),
    ],
)
def test_the_trend_compares_the_later_half_with_the_earlier(times: list[float], expected: str) -> None:
    assert trend(times) == expected


def test_each_kata_with_its_sittings_and_times(diary: Diary) -> None:
    for minutes in (20, 18, 8, 6):
        diary.sitting("v3", minutes=minutes)
        diary.wait(days=1)
    diary.sitting("v3", ("mask",))
    [kata] = numbers(diary).katas
    assert (kata.sittings, kata.passed, kata.at_once, kata.attempts) == (5, 4, 4, 5)
    assert kata.times_to_pass == (1200, 1080, 480, 360)
    assert (kata.median_to_pass, kata.trend) == (780, "faster")
    assert kata.lost


def test_concepts_what_was_lost_and_the_least_certain_first(diary: Diary) -> None:
    diary.sitting("v3", ("mask",))
    diary.wait(days=5)
    first, second, *_ = numbers(diary).concepts
    assert (first.concept, first.lost, first.lapses) == ("mask", True, 1)
    assert not second.lost


def test_a_mistake_counts_once_a_sitting(diary: Diary) -> None:
    diary.start("v3")
    for _ in range(3):
        diary.grade("v3", ("scale",), mistakes=("no_scale",))
    diary.wait(days=1)
    diary.start("v3")
    diary.grade("v3", ("scale", "mask"), mistakes=("no_scale", "mask_inverted"))
    found = numbers(diary).mistakes
    assert [(mistake.mistake, mistake.sittings) for mistake in found] == [
        ("no_scale", 2),
        ("mask_inverted", 1),
    ]
    assert found[0].sentence == "You made no_scale."


@pytest.mark.parametrize("form", ["text", "html", "md"])
def test_every_format_shows_the_same(diary: Diary, form: str) -> None:
    for minutes in (20, 18, 8, 6):
        diary.sitting("v3", ("mask",), minutes=minutes)
        diary.grade("v3", mistakes=("mask_inverted",))
        diary.wait(days=1)
    text = render(stats_view(numbers(diary)), form)  # type: ignore[arg-type]
    text = " ".join(text.split())
    for words in ("v3", "getting faster", "missed", "mask", "You made mask", "8 attempt", "4 sitting"):
        assert words in text, words


@pytest.mark.parametrize("form", ["text", "html", "md"])
def test_an_empty_history_is_told_how_to_begin(diary: Diary, form: str) -> None:
    text = render(stats_view(numbers(diary)), form)  # type: ignore[arg-type]
    assert "Your practice" in text
    if form != "md":
        assert "kata start v1" in text
