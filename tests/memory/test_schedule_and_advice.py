"""What is remembered, and what is advised because of it."""

from __future__ import annotations

from grader.memory.advice import Advice, advise
from tests.memory.conftest import Diary


def advice(diary: Diary) -> tuple[Advice, ...]:
    return advise(diary.catalog, diary.sittings(), diary.memories(), diary.now)


# The schedule


def test_each_kata_and_each_concept_is_a_card(diary: Diary) -> None:
    diary.sitting("v3")
    cards = diary.memories()
    assert {"v3", "v3/mask", "v3/scale"} <= set(cards)
    assert (cards["v3/mask"].kata, cards["v3/mask"].concept) == ("v3", "mask")


def test_forgetting_is_predicted_for_each_concept(diary: Diary) -> None:
    diary.sitting("v3", ("mask",))
    diary.wait(days=5)
    cards = diary.memories()
    assert cards["v3/mask"].recall < 0.8
    assert cards["v3/scale"].recall > 0.9
    assert cards["v3/mask"].due < cards["v3/scale"].due
    assert (cards["v3/mask"].lapses, cards["v3/scale"].lapses) == (1, 0)


def test_what_is_known_again_and_again_stays_longer(diary: Diary) -> None:
    stabilities = []
    for _ in range(3):
        diary.sitting("v3")
        stabilities.append(diary.memories()["v3/mask"].stability)
        diary.wait(days=10)
    assert stabilities == sorted(stabilities)
    assert diary.memories()["v3/mask"].reviews == 3


def test_the_schedule_is_the_same_each_time(diary: Diary) -> None:
    diary.sitting("v1", ("scale",))
    diary.wait(days=1)
    diary.sitting("v1")
    assert diary.memories() == diary.memories()


# The advice


def test_a_newcomer_begins_with_the_first_kata(diary: Diary) -> None:
    [first] = advice(diary)
    assert (first.kata, first.reason, first.command) == ("v1", "new", "kata start v1")


def test_a_mistake_that_is_still_open_comes_first(diary: Diary) -> None:
    diary.sitting("v1")
    diary.wait(days=1)
    diary.sitting("v2", ("projections", "scale"))
    first = advice(diary)[0]
    assert (first.kata, first.reason) == ("v2", "mistake")
    assert set(first.concepts) == {"projections", "scale"}
    assert "have not mended it" in first.why


def test_a_mistake_that_was_mended_comes_back_when_it_is_due(diary: Diary) -> None:
    diary.sitting("v1", ("scale",))
    diary.grade("v1")
    assert advice(diary)[0].kata == "v2"
    diary.wait(days=3)
    first = advice(diary)[0]
    assert (first.kata, first.reason, first.concepts) == ("v1", "mistake", ("scale",))
    assert "3 days ago" in first.why
    assert first.command == "kata reset v1 --blank"


def test_after_mistakes_comes_what_is_about_to_be_forgotten_and_then_what_is_new(diary: Diary) -> None:
    diary.sitting("v1")
    diary.sitting("v2", ("projections",))
    diary.wait(days=60)
    given = [(one.kata, one.reason) for one in advice(diary)]
    assert given[:2] == [("v2", "mistake"), ("v1", "due")]
    assert [reason for _, reason in given[2:]] == ["new"]
    diary.sitting("v2")
    assert [(one.kata, one.reason) for one in advice(diary)] == [("v1", "due"), ("v3", "new")]


def test_a_due_kata_says_how_likely_it_is_still_known(diary: Diary) -> None:
    diary.sitting("v1")
    diary.wait(days=90)
    due = advice(diary)[0]
    assert due.reason == "due"
    assert due.recall is not None
    assert f"{round(100 * due.recall)} %" in due.why


def test_a_kata_waits_for_its_prerequisites(diary: Diary) -> None:
    diary.sitting("v1", ("scale",))
    new = [diary.catalog.get(one.kata) for one in advice(diary) if one.reason == "new"]
    assert new  # of another track
    assert all("v1" not in kata.prerequisites for kata in new)


def test_when_nothing_is_due_it_says_when_something_will_be(diary: Diary) -> None:
    for kata in diary.catalog.katas:
        diary.sitting(kata.id)
    [ahead] = advice(diary)
    assert ahead.reason == "ahead"
    assert "Nothing is due" in ahead.why
    assert ahead.command == "kata interview --random"


def test_each_kata_is_advised_once(diary: Diary) -> None:
    diary.sitting("v1", ("scale", "mix"))
    diary.grade("v1")
    diary.wait(days=100)
    katas = [one.kata for one in advice(diary)]
    assert len(katas) == len(set(katas))
