"""The example on paper: whole numbers, few of them, on which the answer is wrong and the solution right."""

from __future__ import annotations

import pytest
import torch

from grader.judge.inline_runner import run_plainly
from grader.judge.oracle import Form
from grader.judge.oracle_caller import OracleCaller
from grader.judge.session import judge_caller
from grader.records import ByHand, Extra, Grade
from tests.judge.stage import CATALOG, content, submission
from tests.sampling import some

NO_NUMBERS = {  # what is rounded, and what is drawn, does not show in whole numbers
    "round_output",
    "wrong_dtype",
    "dropout_no_rescale",
    "softmax_max_clamped",
    "softmax_logits_clamped",
    "online_finite_initial_max",
    "gqa_repeat_order",
}
# Four axes where three would do need a batch as large as its length, and more numbers than there are.
TOO_LARGE = {
    ("v3", "mask_wrong_broadcast_4d"),
    ("v4", "mask_wrong_broadcast_4d"),
    ("padding", "mask_not_expanded"),
    ("padding", "mask_wrong_broadcast_4d"),
}
KATAS = [kata.id for kata in CATALOG.katas if content(kata.id).family.turned is None]


def played(kata: str, form: Form, *, by_hand: bool = True) -> Grade:
    caller = OracleCaller(content(kata), (form,))
    return judge_caller(submission(""), content(kata), caller, 7, Extra(by_hand=by_hand), run=run_plainly)


def first_forms(kata: str) -> list[tuple[str, Form]]:
    firsts = {form.label: form for form in reversed(content(kata).values)}
    return [(kata, form) for form in firsts.values()]


def numbers(found: ByHand) -> int:
    return max(sum(map(len, matrix.rows)) for matrix in found.inputs if "mask" not in matrix.name)


@pytest.mark.parametrize(
    ("kata", "form"),
    some(40, [case for kata in KATAS for case in first_forms(kata)]),
    ids=lambda value: value.label if isinstance(value, Form) else value,
)
def test_what_shows_in_values_has_an_example(kata: str, form: Form) -> None:
    grade = played(kata, form)
    named = any(form.label in item.mistakes for item in grade.diagnosis)
    found = grade.by_hand
    if found is None:
        assert not named or form.label in NO_NUMBERS or (kata, form.label) in TOO_LARGE, grade.reason
        return
    if kata != "padding":
        assert numbers(found) <= 16
    for matrix in found.inputs:
        assert all(float(value).is_integer() for row in matrix.rows for value in row)
    assert found.expected.shape == found.actual.shape
    row, column = found.worst
    should_be, came = float(found.expected.rows[row][column]), float(found.actual.rows[row][column])
    assert not abs(should_be - came) < 0.05


def test_a_scale_is_shown_where_its_root_is_whole() -> None:
    form = next(form for form in content("v3").values if form.label == "scale_by_dk")
    found = played("v3", form).by_hand
    assert found is not None
    assert "hidden_dim=4" in found.arguments
    steps = {matrix.name: matrix.rows for matrix in found.right}
    wrong = {matrix.name: matrix.rows for matrix in found.wrong}
    assert torch.allclose(torch.tensor(steps["scores"]), 2 * torch.tensor(wrong["scores"]))


def test_it_is_only_there_when_it_was_asked_for() -> None:
    form = content("v3").values[0]
    assert played("v3", form, by_hand=False).by_hand is None


def test_an_answer_that_is_right_has_none() -> None:
    caller = OracleCaller(content("v3"), ())
    grade = judge_caller(submission(""), content("v3"), caller, 7, Extra(by_hand=True), run=run_plainly)
    assert (grade.verdict, grade.by_hand) == ("passed", None)


def test_the_same_seed_gives_the_same_example() -> None:
    form = content("mha").values[0]
    assert played("mha", form).by_hand == played("mha", form).by_hand
