"""What a kata leaves open: each convention is right by itself, and an answer keeps to one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.engine.private import PrivateEngine, private_engine
from tests.judge.stage import CATALOG, content, forms, graded, labels, played, solution

HALVES = "first, second = x.float().chunk(2, dim=-1)  # pair i is (first[i], second[i])"
CAT = "torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)"
STACK = "torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1).flatten(-2)"
NEIGHBOURS = "first, second = x.float()[..., 0::2], x.float()[..., 1::2]"


@pytest.fixture(scope="module")
def engine() -> Iterator[PrivateEngine]:
    with private_engine(CATALOG) as running:
        yield running


@pytest.mark.parametrize(
    ("edits", "says"),
    [((), "halves of a head"), (((HALVES, NEIGHBOURS), (CAT, STACK)), "neighbours")],
    ids=["halves", "neighbours"],
)
def test_each_pairing_passes_and_the_report_says_which(
    engine: PrivateEngine, edits: tuple[tuple[str, str], ...], says: str
) -> None:
    grade = graded(engine, "rope", solution("rope", *edits))
    assert (grade.verdict, grade.points) == ("passed", grade.max_points)
    assert [says in note.text for note in grade.notes if note.id == "convention"] == [True]


def test_one_pairing_must_explain_every_case(engine: PrivateEngine) -> None:
    """Each call is right in one of the pairings, and no pairing is right for all."""
    both = f"{STACK} if x.shape[1] == 3 else {CAT}"
    text = solution("rope", (HALVES, NEIGHBOURS + " if x.shape[1] == 3 else x.float().chunk(2, dim=-1)"))
    assert text.count(CAT) == 1
    text = text.replace(NEIGHBOURS + " if", "first, second = (x.float()[..., 0::2], x.float()[..., 1::2]) if")
    grade = graded(engine, "rope", text.replace(CAT, both))
    assert grade.verdict == "failed"
    assert grade.notes == ()


@pytest.mark.parametrize("label", ["rope_single_frequency", "rope_layout_mismatch", "rope_positions_ignored"])
def test_a_wrong_angle_is_drawn_as_a_table_beside_the_right_one(label: str) -> None:
    grade = played("rope", forms("rope", label)[0])
    (drawn,) = grade.maps
    assert labels(grade) == (label,)
    assert drawn.shows == "table"
    assert drawn.column_names == ("pair 0", "pair 1", "pair 2", "pair 3")
    assert all(name.startswith("position ") for name in drawn.row_names)
    assert drawn.actual != drawn.expected


def test_the_plan_of_a_convention_is_the_plan_with_its_steps() -> None:
    family = content("rope").family
    halves, neighbours = family.conventions
    assert family.plan_of(frozenset(), halves) == family.plan_of(frozenset(), None) == family.plan
    assert {
        name for name, step in family.plan_of(frozenset(), neighbours).items() if step != family.plan[name]
    } == set(neighbours.steps)
