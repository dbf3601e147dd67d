"""Small changes of the solutions, made without knowing the catalogue: what computes otherwise is rejected."""

from __future__ import annotations

import ast
import random

import pytest

from benchmarks.mutation import equivalent, graded, mutants
from grader.catalog import Catalog
from grader.engine.private import PrivateEngine

LEVELS = ("v1", "v2", "v3", "v4")
SAMPLE = 5  # of some six hundred


@pytest.mark.parametrize("kata", LEVELS)
def test_a_mutant_is_python_and_differs_from_the_solution_in_one_place(catalog: Catalog, kata: str) -> None:
    made = mutants(catalog.get(kata))
    solution = ast.unparse(ast.parse(catalog.get(kata).solution.read_text(encoding="utf-8")))
    assert len(made) > 100
    assert len({mutant.text for mutant in made}) == len(made)
    for mutant in made:
        assert ast.unparse(ast.parse(mutant.text)) != solution


def test_every_kind_of_change_is_made(catalog: Catalog) -> None:
    changes = " | ".join(mutant.change for kata in LEVELS for mutant in mutants(catalog.get(kata)))
    for kind in (
        "without `",
        " -> ",
        "arguments exchanged",
        "sides exchanged",
        "MatMult -> ",
        "the opposite",
    ):
        assert kind in changes


@pytest.mark.slow
def test_a_sample_of_mutants_is_rejected(catalog: Catalog, engine: PrivateEngine) -> None:
    made = [m for kata in LEVELS for m in mutants(catalog.get(kata)) if equivalent(m) is None]
    some = random.Random(3).sample(made, SAMPLE)
    assert [m.change for m, grade in graded(engine, catalog, some) if grade.verdict == "passed"] == []


@pytest.mark.slow
@pytest.mark.parametrize("kata", LEVELS)
def test_every_mutant_is_rejected_or_explained(catalog: Catalog, engine: PrivateEngine, kata: str) -> None:
    survivors = [
        mutant
        for mutant, grade in graded(engine, catalog, mutants(catalog.get(kata)))
        if grade.verdict == "passed"
    ]
    assert [f"{m.code.strip()}: {m.change}" for m in survivors if equivalent(m) is None] == []
