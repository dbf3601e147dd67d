"""The levels whose content is tested, and small readers of their files."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Kata, load_catalog

CATALOG = load_catalog()
LEVELS = CATALOG.katas
ONE_HEAD = tuple(CATALOG.get(kata_id) for kata_id in ("v1", "v2", "v3", "v4"))
MODULES = tuple(kata for kata in LEVELS if kata.signature.is_module)
FUNCTIONS = tuple(kata for kata in LEVELS if not kata.signature.is_module)
MASKED = tuple(kata for kata in LEVELS if kata.takes_mask)
CONCEPTS = {
    "interface",
    "projections",
    "scores",
    "scale",
    "mask",
    "softmax",
    "dropout",
    "mix",
    "output",
    "gradients",
    "side_effects",
    "robustness",
    "heads",
    "groups",
    "window",
    "memory",
    "no_square",
    "divisible",
    "shared_mask",
    "axis",
    "stability",
    "exponentials",
    "samples",
    "dtypes",
    "blocks",
    "rescale",
    "angles",
    "rotation",
    "pairing",
    "positions",
    "precision",
    "cache",
    "work",
    "continuations",
}
OPTIONAL = {"robustness", "divisible", "shared_mask", "precision", "continuations", "no_square"}

each_level = pytest.mark.parametrize("kata", LEVELS, ids=lambda kata: kata.id)
each_module = pytest.mark.parametrize("kata", MODULES, ids=lambda kata: kata.id)
each_function = pytest.mark.parametrize("kata", FUNCTIONS, ids=lambda kata: kata.id)
each_with_one_head = pytest.mark.parametrize("kata", ONE_HEAD, ids=lambda kata: kata.id)
each_masked_with_one_head = pytest.mark.parametrize(
    "kata", [kata for kata in ONE_HEAD if kata.takes_mask], ids=lambda kata: kata.id
)
each_masked_level = pytest.mark.parametrize("kata", MASKED, ids=lambda kata: kata.id)


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def function_of(kata: Kata, source: str) -> ast.FunctionDef:
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions] == [kata.signature.name]
    return functions[0]


def asked_of(kata: Kata, source: str) -> ast.ClassDef | ast.FunctionDef:
    """What the kata asks for, in a source."""
    return class_of(kata, source) if kata.signature.is_module else function_of(kata, source)


def class_of(kata: Kata, source: str) -> ast.ClassDef:
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == [kata.class_name]
    return classes[0]


def method(owner: ast.ClassDef, name: str) -> ast.FunctionDef:
    return next(node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name)
