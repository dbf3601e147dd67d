"""Bug hunts: what was planted is looked for first, however much it is, and told one by one."""

from __future__ import annotations

import pytest

from grader.judge.inline_runner import run_plainly
from grader.judge.oracle_caller import OracleCaller
from grader.judge.session import judge_caller
from grader.records import Extra, Planted, RoomRecord
from tests.judge.stage import content, forms, submission

LABELS = ("no_scale", "mask_fill_zero", "softmax_over_queries", "output_uses_keys", "missing_dropout")
PLANTED = tuple(Planted(label=label) for label in LABELS)


def hunted(*labels: str, planted: tuple[Planted, ...] = PLANTED) -> RoomRecord:
    """What is said of an answer that the oracle plays with these mistakes."""
    stage = content("v3")
    made = [forms("v3", label)[0] for label in labels]
    grade = judge_caller(
        submission(""), stage, OracleCaller(stage, made), 7, Extra(planted=planted), run=run_plainly
    )
    assert grade.room is not None
    assert (grade.verdict == "passed") == (not labels)
    return grade.room


@pytest.mark.parametrize("count", range(6))
def test_the_first_so_many_are_still_there_and_the_others_mended(count: int) -> None:
    assert hunted(*LABELS[:count]) == RoomRecord(planted=LABELS, still=LABELS[:count], mended=LABELS[count:])


def test_one_that_was_not_planted_is_new() -> None:
    room = hunted("no_scale", "mask_fill_zero", "view_instead_of_transpose")
    assert room.still == ("no_scale", "mask_fill_zero")
    assert room.new == ("view_instead_of_transpose",)
    assert not room.unknown


def test_what_would_give_the_same_numbers_either_way_is_not_called_mended() -> None:
    room = hunted("no_scale", "mask_fill_zero", "scores_use_value")  # keys that are values: mixed with either
    assert room.unknown == ("output_uses_keys",)
    assert room.still == ("no_scale", "mask_fill_zero")


def test_two_that_were_not_planted_are_new() -> None:
    room = hunted("no_scale", "scores_use_value", "output_proj_twice")
    assert room.still == ("no_scale",)
    assert set(room.new) == {"scores_use_value", "output_proj_twice"}


def test_a_step_that_is_wrong_in_another_way_is_not_mended() -> None:
    room = hunted("scale_by_dk", "mask_inverted")
    assert room.still == ("no_scale", "mask_fill_zero")
    assert set(room.new) == {"scale_by_dk", "mask_inverted"}


def test_another_way_of_dropping_is_not_mended() -> None:
    room = hunted("dropout_on_output")
    assert room.still == ("missing_dropout",)
    assert room.new == ()


def test_where_nothing_explains_what_is_seen_nothing_is_told() -> None:
    both = (Planted(label="no_scale"), Planted(label="output_uses_keys"))
    room = hunted(
        "mask_inverted", "scores_use_value", "softmax_over_batch", "output_proj_twice", planted=both
    )
    assert room.mended == ()
    assert room.unknown == ("no_scale", "output_uses_keys")


def test_an_answer_that_does_not_load_tells_nothing() -> None:
    from grader.judge.hunt import nothing_told

    assert nothing_told(PLANTED) == RoomRecord(planted=LABELS, unknown=LABELS)
    assert nothing_told(()) is None
