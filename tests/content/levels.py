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
}

each_level = pytest.mark.parametrize("kata", LEVELS, ids=lambda kata: kata.id)
each_masked_level = pytest.mark.parametrize("kata", MASKED, ids=lambda kata: kata.id)


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def class_of(kata: Kata, source: str) -> ast.ClassDef:
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == [kata.class_name]
    return classes[0]


def method(owner: ast.ClassDef, name: str) -> ast.FunctionDef:
    return next(node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name)
