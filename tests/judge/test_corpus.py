"""Answers as people write them are judged rightly: the verdict always, the mistake's name nearly always."""

from __future__ import annotations

import json

import pytest

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from tests.judge.corpus import ROOTS, Judgement, answers, judge, sample

LABELS_NAMED = 0.95
SEEDS = tuple(range(20))


def listed(judgements: list[Judgement]) -> str:
    return "\n".join(map(str, judgements))


def assert_judged_rightly(judgements: list[Judgement]) -> None:
    rejected = [one for one in judgements if one.answer.passes and not one.verdict_is_right]
    accepted = [one for one in judgements if not one.answer.passes and not one.verdict_is_right]
    labelled = [one for one in judgements if one.answer.labels]
    missed = [one for one in labelled if not one.labels_are_named]
    assert not rejected, f"right answers that did not pass:\n{listed(rejected)}"
    assert not accepted, f"wrong answers that were not turned down:\n{listed(accepted)}"
    share = 1 - len(missed) / len(labelled)
    assert share >= LABELS_NAMED, f"{share:.1%} of the mistakes were named; missing:\n{listed(missed)}"


def test_a_sample_of_all_levels_and_both_verdicts_is_judged_rightly(
    engine: PrivateEngine, catalog: Catalog
) -> None:
    assert_judged_rightly(judge(engine, catalog, sample(answers(), each=2), seeds=[20481]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_is_judged_rightly_at_every_seed(
    engine: PrivateEngine, catalog: Catalog, seed: int
) -> None:
    assert_judged_rightly(judge(engine, catalog, answers(), seeds=[seed]))


def test_every_file_of_the_corpus_is_expected_and_every_expected_file_is_there() -> None:
    root = ROOTS[0]
    expected = {
        json.loads(line)["file"] for line in (root / "expected.jsonl").read_text("utf-8").splitlines()
    }
    assert expected == {path.relative_to(root).as_posix() for path in root.glob("v?/*")}
