"""Rooms are fair: every part of the bugs fails and is told as that part and nothing else."""

from __future__ import annotations

import ast

import pytest

from grader.debugging.content import Edit, Style
from grader.debugging.proof import Case, cases_of, flaw, single_cases, some_sets
from grader.debugging.records import MOST_BUGS
from grader.debugging.rooms import every_set, most_bugs, room_text
from grader.engine.private import PrivateEngine
from tests.debugging.stage import CATALOG, KATAS, graded, stock
from tests.sampling import some

SINGLE = [(kata, case) for kata in KATAS for case in single_cases(stock(kata))]
ROOMS = [
    (kata, room) for kata in KATAS for room in some_sets(stock(kata), 12, min(4, most_bugs(stock(kata))))
]
STYLES = [(kata, style.name) for kata in KATAS for style in stock(kata).styles]


def _name(value: object) -> str | None:
    if isinstance(value, Case):
        return value.name
    if isinstance(value, tuple):
        style, edits = value
        return f"{style.name} with {', '.join(edit.label for edit in edits)}"
    return None


@pytest.mark.parametrize(("kata", "case"), some(2 * len(KATAS), SINGLE), ids=_name)
def test_an_answer_is_right_and_each_of_its_bugs_is_told(
    engine: PrivateEngine, kata: str, case: Case
) -> None:
    assert flaw(case, graded(engine, kata, case.text, case.planted)) is None


@pytest.mark.parametrize(("kata", "room"), some(3, ROOMS), ids=_name)
def test_every_part_of_a_room_is_told(
    engine: PrivateEngine, kata: str, room: tuple[Style, tuple[Edit, ...]]
) -> None:
    for case in cases_of(*room):
        assert flaw(case, graded(engine, kata, case.text, case.planted)) is None, case.name


@pytest.mark.slow
@pytest.mark.parametrize(("kata", "style"), STYLES)
def test_any_two_bugs_of_a_style_are_told_apart(engine: PrivateEngine, kata: str, style: str) -> None:
    for found, edits in every_set(stock(kata), 2):
        if found.name == style:
            case = list(cases_of(found, edits))[-1]
            assert flaw(case, graded(engine, kata, case.text, case.planted)) is None, case.name


@pytest.mark.slow
def test_there_are_more_than_two_hundred_rooms_distinct_as_syntax_trees() -> None:
    rooms = {
        ast.dump(ast.parse(room_text(style, edits)))
        for kata in KATAS
        for style, edits in every_set(stock(kata), 2)
    }
    print(f"{len(rooms)} distinct rooms of two bugs in {len(KATAS)} katas")
    assert len(rooms) >= 200


@pytest.mark.parametrize("kata", KATAS)
def test_a_kata_has_six_styles_and_rooms_of_five_bugs(kata: str) -> None:
    assert len(stock(kata).styles) >= 6
    if CATALOG.get(kata).signature.is_module:
        assert most_bugs(stock(kata)) == MOST_BUGS
    assert all(style.edits for style in stock(kata).styles)
