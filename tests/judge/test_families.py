"""Answers to the katas beyond one head: every verdict right, and nearly every mistake named.

Our own are `families.jsonl` in `tests/corpus`; the shared ones are judged as well where they lie beside the
checkout.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.engine.private import PrivateEngine, private_engine
from tests.judge.corpus import HERE, SHARED, Answer, answers_in, judge, spread
from tests.judge.stage import CATALOG

ROWS = ((HERE / "tests" / "corpus", "families.jsonl"), (SHARED / "families", "expected.jsonl"))
FAMILIES = tuple(dict.fromkeys(answer.kata for answer in answers_in(*ROWS[0])))
SAMPLE = 2  # right, and wrong, of each kata
SEED = 20481
NAMED = 0.95


@pytest.fixture(scope="module")
def engine() -> Iterator[PrivateEngine]:
    with private_engine(CATALOG) as running:
        yield running


def answers(kata: str) -> tuple[Answer, ...]:
    found = (answer for root, rows in ROWS if root.is_dir() for answer in answers_in(root, rows))
    return tuple(answer for answer in found if answer.kata == kata)


def sample(kata: str) -> tuple[Answer, ...]:
    """Some right and some wrong answers, spread evenly."""
    own = answers(kata)
    groups = ([answer for answer in own if answer.passes == passes] for passes in (True, False))
    return tuple(answer for group in groups for answer in spread(group, SAMPLE))


def faults(engine: PrivateEngine, chosen: tuple[Answer, ...]) -> tuple[list[str], list[str], float]:
    """Wrong verdicts, labels that are not named, and the share of those that are."""
    judged = judge(engine, CATALOG, chosen, [SEED])
    labelled = [one for one in judged if one.answer.labels]
    unnamed = [str(one) for one in labelled if not one.labels_are_named]
    return [str(one) for one in judged if not one.verdict_is_right], unnamed, 1 - len(unnamed) / len(labelled)


@pytest.mark.parametrize("kata", FAMILIES)
def test_a_sample_of_each_kata_is_judged_right_and_named(engine: PrivateEngine, kata: str) -> None:
    wrong, unnamed, _ = faults(engine, sample(kata))
    assert wrong == []
    assert unnamed == []


@pytest.mark.slow
@pytest.mark.parametrize("kata", FAMILIES)
def test_every_answer_of_each_kata_is_judged_right(engine: PrivateEngine, kata: str) -> None:
    wrong, unnamed, share = faults(engine, answers(kata))
    assert wrong == []
    assert share >= NAMED, unnamed
