"""Repairs of rooms, graded as a candidate's are: nothing is mended that is not, no mend is refused."""

from __future__ import annotations

from collections import Counter

import pytest

from grader.engine.private import PrivateEngine
from tests.debugging.stage import KATAS, Repair, graded, repairs
from tests.sampling import some

ROOMS = -(-60 // len(KATAS))  # of each kata: at least 60 rooms, three repairs of each
CORPUS = tuple(repair for kata in KATAS for repair in repairs(kata, ROOMS))


def test_the_corpus_is_large_and_a_third_of_it_partial_and_a_third_has_a_new_bug() -> None:
    sorts = Counter(repair.sort for repair in CORPUS)
    assert len(CORPUS) >= 150
    assert min(sorts["partial"], sorts["new"]) * 3.2 >= len(CORPUS), sorts


@pytest.mark.parametrize("repair", some(12, CORPUS), ids=lambda repair: repair.name)
def test_a_repair_is_told_bug_by_bug(engine: PrivateEngine, repair: Repair) -> None:
    grade = graded(engine, repair.kata, repair.text, repair.planted)
    room = grade.room
    assert room is not None
    assert not set(room.mended) - set(repair.mended), f"called mended, and is not: {room}"
    assert (grade.verdict == "passed") == (repair.sort == "right"), grade.reason
    assert (room.mended, room.still) == (repair.mended, repair.still), room
    assert set(room.new) == set(repair.new), room
