"""Cold, warm, watched or in a cohort: one answer with one seed has one grade, word for word."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from grader import grading
from grader.catalog import Catalog
from grader.cohort.entries import Entry
from grader.cohort.run import grading as grade_in_cohort
from grader.cohort.run import run
from grader.engine.private import PrivateEngine
from grader.engine.shared import SharedEngine
from grader.engine.subprocess_grade import grade_in_subprocess
from grader.history import History
from grader.practice.targets import Target
from grader.records import Grade, Options, encode_grade
from grader.snapshot import read_submission
from grader.watch.rounds import Round, Watch
from tests.engine.answers import timeless
from tests.engine.test_daemon import running
from tests.judge.corpus import spread

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"
SECOND_CORPUS = ROOT.parent / "shared" / "corpus"  # beside the checkout, where there is one
OPTIONS = Options(seed=20481, isolation="standard")


def listed(corpus: Path) -> list[tuple[Path, str]]:
    """File and kata of every answer of a corpus."""
    if not corpus.is_dir():
        return []
    lines = (corpus / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return [(corpus / entry["file"], entry["kata"]) for entry in map(json.loads, lines)]


def one_wrong_of_each() -> list[tuple[Path, str]]:
    wrong = {kata: (file, kata) for file, kata in listed(CORPUS) if "wrong" in file.name}
    return list(wrong.values())


def document(grade: Grade) -> dict[str, object]:
    """Compared as the JSON that people get; a difference is easier to see.

    But for what the candidate's own code prints while it is loaded: that may be as random as it likes.
    """
    found: dict[str, object] = json.loads(encode_grade(timeless(grade)))
    del found["printed"]
    return found


def graded_everywhere(
    files: Sequence[tuple[Path, str]], catalog: Catalog, engine: PrivateEngine, history: History
) -> Iterator[tuple[str, list[dict[str, object]]]]:
    entries = [
        Entry(name=str(file), file=str(file), kata=kata, submission=read_submission(file))
        for file, kata in files
    ]
    grade_one = grade_in_cohort(engine.grade, catalog, OPTIONS, lambda _: "")
    cohort = {result.name: result.grade for result in run(entries, grade_one, 4)}
    for entry in entries:
        assert entry.submission is not None
        kata = catalog.get(entry.kata or "")
        cold = grade_in_subprocess(entry.submission, kata, catalog, OPTIONS)
        warm = grading.grade(entry.submission, kata, catalog, OPTIONS)
        target = Target(path=Path(entry.file), kata=kata)
        watch = Watch(target, OPTIONS, catalog, history, grading.begin, CORPUS)
        watched = next(event.graded.grade for event in watch.events() if isinstance(event, Round))
        together = cohort[entry.name]
        assert together is not None
        yield entry.file, [document(grade) for grade in (cold, warm, watched, together)]


def compare(
    files: Sequence[tuple[Path, str]],
    shared: SharedEngine,
    catalog: Catalog,
    engine: PrivateEngine,
    history: History,
) -> None:
    running(shared)
    assert os.environ.get("KATA_ENGINE") is None
    for file, (cold, warm, watched, together) in graded_everywhere(files, catalog, engine, history):
        assert warm == cold, file
        assert watched == cold, file
        assert together == cold, file
    assert shared.status().grades == 2 * len(files)  # type: ignore[union-attr]


@pytest.mark.slow
def test_wrong_answers_of_two_levels(
    shared: SharedEngine, catalog: Catalog, engine: PrivateEngine, history: History
) -> None:
    compare(spread(one_wrong_of_each(), 2), shared, catalog, engine, history)


@pytest.mark.slow
def test_an_eighth_of_the_corpus_and_all_of_the_second_one(
    shared: SharedEngine, catalog: Catalog, engine: PrivateEngine, history: History
) -> None:
    compare(listed(CORPUS)[::8] + listed(SECOND_CORPUS), shared, catalog, engine, history)
