"""What a quick look leaves out: what another kata tries, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from grader.catalog import Catalog
from grader.judge.content import KataContent, load_content
from grader.linting import lint
from grader.linting.answers import Answer, answers
from grader.linting.oracle_trials import concept_ids, forms_of, own_concept_of_label, places
from grader.linting.shares import dealt, some_answers, some_places


@pytest.fixture(scope="module")
def contents(catalog: Catalog) -> list[KataContent]:
    return [load_content(kata, catalog) for kata in catalog.katas]


def test_each_thing_is_given_to_one_who_holds_it_and_all_have_about_the_same() -> None:
    shared, rare = "abcdef", "wxyz"
    given = dealt({"one": shared, "other": shared + rare, "third": shared})
    assert {name: len(things) for name, things in given.items()} == {"one": 3, "other": 4, "third": 3}
    assert given["other"] == set(rare)
    assert set().union(*given.values()) == {*shared, *rare}


def test_every_mistake_is_tried_and_every_concept_in_each_kata(contents: list[KataContent]) -> None:
    chosen = some_places(contents)
    times: Counter[str] = Counter()
    for content in contents:
        forms = forms_of(content)
        tried = [forms[place] for place in chosen[content.kata.id] if place >= 0]
        times.update(form.label or form.shows for form in tried)
        possible = {own_concept_of_label(content, form.label) for form in forms if not form.neutral}
        assert {own_concept_of_label(content, form.label) for form in tried if form.label} == possible
        assert possible <= concept_ids(content.kata)
        assert set(places(content)) - set(range(len(forms))) <= set(chosen[content.kata.id])
    assert times.keys() == {form.label or form.shows for content in contents for form in forms_of(content)}
    assert times.total() - len(times) < 10 * len(contents)


def test_every_kind_of_example_is_tried_once_and_the_papers_and_the_solution_of_each_kata(
    contents: list[KataContent],
) -> None:
    everything = {content.kata.id: list(answers(content)) for content in contents}
    chosen = some_answers(everything)
    for kata, of in everything.items():
        own = [answer for answer in chosen[kata] if answer.example is None]
        assert own == [answer for answer in of if answer.example is None]
    times = Counter(kind(answer) for of in chosen.values() for answer in of if answer.example is not None)
    assert set(times.values()) == {1}
    assert times.keys() == {kind(answer) for of in everything.values() for answer in of if answer.example}


def kind(answer: Answer) -> tuple[bool, bool, str]:
    assert answer.example is not None
    return answer.right, answer.gate, answer.example.label


def test_a_kata_that_is_like_another_costs_little_more(contents: list[KataContent]) -> None:
    def count(of: list[KataContent]) -> int:
        files = some_answers({content.kata.id: list(answers(content)) for content in of})
        return sum(map(len, (*some_places(of).values(), *files.values())))

    without = [content for content in contents if content.kata.id != "v4"]  # it is like v3
    [like] = [content for content in contents if content.kata.id == "v4"]
    assert count(contents) - count(without) < len(forms_of(like)) / 4


@pytest.mark.slow
def test_every_kata_is_whole() -> None:
    """The quick look of `tools/check.py` is a part of this."""
    report = lint()
    assert report.problems == ()
    assert [tally.kata for tally in report.tallies if tally.named < tally.mistakes] == []
