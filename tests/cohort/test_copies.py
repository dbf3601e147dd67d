"""Copies are found whatever was done to them, and honest answers are not taken for copies."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.catalog import Catalog
from grader.cohort.forms import form, tokens
from grader.cohort.similarity import Found, Print, look, print_of
from tests.cohort.copies import COPIES, CORPORA, honest

PER_KATA = 14  # honest answers; `python -m benchmarks.copies` takes them all


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    return {kata: texts[:PER_KATA] for kata, texts in honest(CORPORA[0]).items()}


@pytest.fixture(scope="module")
def given(catalog: Catalog) -> list[Print]:
    return [print_of(kata.text("stub.py")) for kata in catalog.katas]


def seen(texts: list[str], given: list[Print], owners: list[str] | None = None) -> Found:
    people = owners or [str(place) for place in range(len(texts))]
    return look(["v1"] * len(texts), people, [print_of(text) for text in texts], given)


@pytest.mark.parametrize("name", COPIES)
def test_every_kind_of_copy_is_found_and_nothing_else(
    answers: dict[str, list[str]], given: list[Print], name: str
) -> None:
    for texts in answers.values():
        copies = [COPIES[name](text) for text in texts]
        groups = {frozenset(group.members) for group in seen([*texts, *copies], given).groups}
        honest_groups = {frozenset(group.members) for group in seen(texts, given).groups}
        assert not honest_groups
        assert groups == {frozenset({place, place + len(texts)}) for place in range(len(texts))}


def test_many_copies_in_a_class_are_one_group(answers: dict[str, list[str]], given: list[Print]) -> None:
    """They were the common text once, and said nothing."""
    texts = answers["v3"]
    copies = [f"{texts[0]}\n# {number}\n" for number in range(51)]
    [group] = seen([*texts, *copies], given).groups
    assert group.members == (0, *range(len(texts), len(texts) + 51))
    assert group.sign == "the same words"
    assert not group.is_usual


def test_one_students_own_files_are_no_copies(answers: dict[str, list[str]], given: list[Print]) -> None:
    text = answers["v1"][0]
    assert seen([text, text], given, ["ada", "ada"]).groups == ()


def test_the_task_itself_is_nobodys(catalog: Catalog, given: list[Print]) -> None:
    stub = catalog.get("v1").text("stub.py")
    assert seen([stub, stub, ""], given).groups == ()


SHORT = """
class SelfAttentionV1(nn.Module):
    def forward(self, x):
        {q} = self.query(x)
        {k} = self.key(x)
        weights = torch.softmax({q} @ {k}.mT / math.sqrt(self.d), dim=-1)
        return weights @ self.value(x)
"""


def test_a_form_that_many_have_is_said_to_be_usual(answers: dict[str, list[str]], given: list[Print]) -> None:
    """Short answers coincide by honesty: each has names of its own, and the form is nobody's."""
    usual = [SHORT.format(q=f"q{number}", k=f"k{number}") for number in range(6)]
    [group] = seen([*usual, *answers["v1"]], given).groups
    assert group.sign == "the same but for names and order"
    assert group.is_usual
    two = seen([*usual[:2], *answers["v1"]], given).groups[0]
    assert not two.is_usual
    assert 0 <= two.others < 0.8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a):\n    b = a + 1\n    return b\n", "def f(a):\n    b = a + 2\n    return b\n"),
        ("a = 1\nb = a\na = 2\nc = a\n", "a = 1\na = 2\nb = a\nc = a\n"),
        ("def f(x, y):\n    return x - y\n", "def f(x, y):\n    return y - x\n"),
    ],
)
def test_what_computes_something_else_has_another_form(one: str, other: str) -> None:
    assert form(one) != form(other)


def layouts() -> dict[str, Callable[[str], str]]:
    return {
        "brackets": lambda text: text.replace("x + 1", "(x + 1)"),
        "lines": lambda text: text.replace("f(x, 2)", "f(\n    x,\n    2,\n)"),
        "quotes": lambda text: text.replace("'k'", '"k"'),
        "semicolon": lambda text: text.replace("b = a\n", "b = a; "),
    }


@pytest.mark.parametrize("name", layouts())
def test_layout_does_not_count(name: str) -> None:
    text = "a = x + 1\nb = a\nc = f(x, 2)\nd = c['k']\n"
    changed = layouts()[name](text)
    assert changed != text
    assert tokens(changed) == tokens(text)
    assert form(changed) == form(text)
