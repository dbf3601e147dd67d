"""A stage for the judge: catalogues, played candidates, and solutions with a few words changed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType

import pytest
from torch import Tensor

from grader.catalog import load_catalog
from grader.engine.private import PrivateEngine
from grader.judge.candidate import Caller, Candidate
from grader.judge.content import PACKAGE, KataContent, load_content
from grader.judge.instruments import Bench
from grader.judge.oracle import Form, same
from grader.judge.oracle_caller import OracleCaller
from grader.linting.expected import Exceptions, load_exceptions
from grader.linting.oracle_trials import forms_of, judge_forms
from grader.records import Grade, Options, Submission
from tests.sampling import some

CATALOG = load_catalog()
LEVELS = tuple(kata.id for kata in CATALOG.katas)
# Single-head self-attention, whose formula a test can write down.
ONE_HEAD = tuple(kata for kata in ("v1", "v2", "v3", "v4") if kata in LEVELS)
each_level = pytest.mark.parametrize("kata", some(4, LEVELS))  # of many katas four, spread, in a normal run
SEED = 20481


Outputs = tuple[Tensor | None, ...]


def alike(one: Outputs, other: Outputs) -> bool:
    """Equal on every input, crashes included."""
    return all(
        (a is None and b is None) or (a is not None and same(a, b)) for a, b in zip(one, other, strict=True)
    )


@cache
def content(kata: str) -> KataContent:
    return load_content(CATALOG.get(kata), CATALOG)


def common(name: str) -> ModuleType:
    """A module of `katas/common`."""
    assert content("v3").checks
    return importlib.import_module(f"{PACKAGE}.common.{name}")


@cache
def exceptions() -> Exceptions:
    return load_exceptions(CATALOG)


def forms(kata: str, label: str) -> tuple[Form, ...]:
    """The forms of one label at a level."""
    found = tuple(form for form in forms_of(content(kata)) if form.label == label)
    assert found, f"{kata} has no form of {label}"
    return found


def played(kata: str, *made: Form, fused: bool = False, seed: int = SEED) -> Grade:
    """The grade of an answer that makes these mistakes and no other."""
    return judge_forms(content(kata), made, seed, fused=fused)


def candidate(kata: str, *made: Form, caller: Caller | None = None, fused: bool = False) -> Candidate:
    """A candidate that the oracle plays, or whoever answers."""
    stage = content(kata)
    return Candidate(stage, caller or OracleCaller(stage, made, fused=fused), SEED, b"", "answer.py")


def bench(kata: str, *made: Form, source: str = "", fused: bool = False) -> Bench:
    return Bench.around(candidate(kata, *made, fused=fused), source)


def solution(kata: str, *edits: tuple[str, str]) -> str:
    """The reference of a level with some text replaced; each `old` must be there."""
    text = CATALOG.get(kata).solution.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def submission(text: str | bytes, name: str = "answer.py") -> Submission:
    source = text.encode() if isinstance(text, str) else text
    return Submission(name=name, source=source, sha256="0" * 64)


def labels(grade: Grade) -> tuple[str, ...]:
    """Every label that was named, the telling one first."""
    return tuple(label for diagnosis in grade.diagnosis for label in diagnosis.mistakes)


def failed(grade: Grade) -> set[str]:
    """The required concepts that failed."""
    return {concept.id for concept in grade.concepts if concept.required and concept.status == "failed"}


def graded(engine: PrivateEngine, kata: str, text: str) -> Grade:
    """The grade of a text, by a real worker and a real judge."""
    return engine.grade(submission(text), CATALOG.get(kata), CATALOG, Options(seed=SEED))


def ids(made: Sequence[Form]) -> list[str]:
    return [f"{form.label}: {form.shows}" if form.shows else form.label for form in made]
