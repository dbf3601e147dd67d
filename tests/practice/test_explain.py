"""Mistakes explained by their labels."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from grader.catalog import Catalog, load_every_label, load_labels, load_lines, read_labels
from grader.errors import UsageError
from grader.practice.explain import all_labels, explain

# A line whose mistake is that it is no whole statement by itself.
HEADS = ("def ", "for ", "class ", "if ")


def test_a_mistake_has_words_lines_and_levels(catalog: Catalog) -> None:
    found = explain("scale_by_dk", catalog)
    assert "root of the width" in found.label.sentence
    assert found.lines is not None
    assert found.lines.wrong == "scores = scores / self.hidden_dim"
    assert found.lines.right == "scores = scores / math.sqrt(self.hidden_dim)"
    assert found.concept == "Scores are divided by √hidden_dim"
    scaled = (kata.id for kata in catalog.katas if "scale" in {concept.id for concept in kata.concepts})
    assert found.katas == tuple(scaled)


def test_only_the_katas_that_have_the_concept_are_named(catalog: Catalog) -> None:
    masked = [kata.id for kata in catalog.katas if any(concept.id == "mask" for concept in kata.concepts)]
    assert explain("mask_inverted", catalog).katas == tuple(masked)
    assert "v1" not in masked


@pytest.mark.parametrize("name", ["Scale-by-DK", " scale_by_dk "])
def test_the_name_may_be_written_otherwise(catalog: Catalog, name: str) -> None:
    assert explain(name, catalog).name == "scale_by_dk"


def test_a_typo_is_answered_with_near_names(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="Did you mean softmax_over_queries"):
        explain("softmax_over_querys", catalog)
    with pytest.raises(UsageError, match=r"There is no mistake 'xyzzy'\.$"):
        explain("xyzzy", catalog)


def test_all_labels_are_there_once_by_concept(catalog: Catalog) -> None:
    names = [name for group in all_labels(catalog) for name in group.names]
    assert sorted(names) == sorted(load_every_label(catalog))
    assert len({group.concept for group in all_labels(catalog)}) == len(all_labels(catalog))


def test_the_lines_belong_to_known_labels_are_python_and_differ(catalog: Catalog) -> None:
    lines = load_lines(catalog)
    assert set(lines) <= set(load_every_label(catalog))
    for name, found in lines.items():
        assert found.wrong != found.right, name
        for line in filter(None, (found.wrong, found.right)):
            whole = line + (" pass" if line.startswith(HEADS) and line.endswith(":") else "")
            assert ast.parse(whole).body, name


def test_it_needs_no_torch() -> None:
    code = """
import atexit, sys
from grader.cli.main import cli
atexit.register(lambda: print("torch" in sys.modules))
cli(["explain", "no_scale"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "no_scale" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"


def test_a_mistake_of_one_kata_is_explained_as_well(catalog: Catalog) -> None:
    """Its words stand in the kata's own folder, or in one that some katas share."""
    own = {
        kata.id: set(read_labels(kata.folder / "mistakes.toml")) - set(load_labels(catalog))
        for kata in catalog.katas
    }
    [(kata, name), *_] = [(kata, sorted(names)[0]) for kata, names in own.items() if names]
    found = explain(name, catalog)
    assert found.name == name
    assert kata in found.katas
    assert "v1" not in found.katas
