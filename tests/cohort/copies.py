"""Copies of honest answers, made as people make them; the honest ones are those of the corpora.

The copies are made on the text, by the places of its syntax tree, so that all else of the text stays.
"""

from __future__ import annotations

import ast
import builtins
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.answer_text import answer_text

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
CORPORA = (ROOT / "tests" / "corpus", SHARED / "corpus", SHARED / "corpus2")
FAMILIES = SHARED / "families"

Edit = tuple[int, int, int, str]  # line, from, to, new text; lines from 0, columns in bytes


def honest(*roots: Path) -> dict[str, list[str]]:
    """The texts of each kata's answers in the corpora that are there, but those that do not parse."""
    found: dict[str, list[str]] = {}
    for root in roots:
        path = root / "expected.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
            told = json.loads(line)
            file = root / told["file"]
            text = answer_text(file.read_bytes(), file.name)
            if _tree(text) is not None:
                found.setdefault(told["kata"], []).append(text)
    return found


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def unchanged(text: str) -> str:
    return text


def commented(text: str) -> str:
    """A remark above every statement, and another docstring."""
    lines = text.split("\n")
    firsts = {node.lineno - 1 for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    strings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno is not None
        for line in range(node.lineno, node.end_lineno)
    }
    made = []
    for at, line in enumerate(lines):
        before = lines[at - 1].rstrip() if at else ""
        if at in firsts - strings and line.strip() and not before.endswith("\\") and not _is_inside(line):
            made.append(f"{line[: len(line) - len(line.lstrip())]}# my own step {at}")
        made.append(line)
    return "\n".join(made)


def _is_inside(line: str) -> bool:
    return line.lstrip().startswith(("elif", "else", "except", "finally"))


def reformatted(text: str) -> str:
    """As a formatter writes it for narrow screens."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "60", "-"]
    return subprocess.run(command, input=text, text=True, check=True, capture_output=True).stdout


def two_locals_renamed(text: str) -> str:
    found = [name for name in _own(text) if not name.startswith("self.")]
    return _renamed(text, {name: f"{name}_mine" for name in found[:2]})


def all_renamed(text: str) -> str:
    return _renamed(text, {name: f"zz{at}" for at, name in enumerate(_own(text))})


def methods_reordered(text: str) -> str:
    """The methods of each class the other way round."""
    for place in reversed(range(len(ast.parse(text).body))):
        node = ast.parse(text).body[place]
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
            text = _swapped(text, methods)
    return text


def mixed(text: str) -> str:
    return commented(reformatted(methods_reordered(all_renamed(text))))


COPIES: dict[str, Callable[[str], str]] = {
    "unchanged": unchanged,
    "comments": commented,
    "reformatted": reformatted,
    "two locals renamed": two_locals_renamed,
    "all renamed": all_renamed,
    "methods reordered": methods_reordered,
    "mixed": mixed,
}


def _swapped(text: str, nodes: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> str:
    lines = text.split("\n")
    spans = [(_first(node) - 1, node.end_lineno or node.lineno) for node in nodes]
    blocks = [lines[start:end] for start, end in spans]
    for (start, end), block in reversed(list(zip(spans, reversed(blocks), strict=True))):
        lines[start:end] = block
    return "\n".join(lines)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _own(text: str) -> list[str]:
    """The names that the author chose, attributes as `self.name`; not what the interface asks for."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            found[f"self.{node.attr}"] = None
    kept = set(dir(builtins)) | _keywords(text)
    return [name for name in found if name not in kept and not name.removeprefix("self.").startswith("__")]


def _keywords(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    arguments = {node.arg for node in nodes if isinstance(node, (ast.keyword, ast.arg)) and node.arg}
    top = {
        name.id
        for node in ast.parse(text).body
        for name in ast.walk(node)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) and isinstance(name, ast.Name)
    }
    fields = {
        name.id
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for one in node.body
        if isinstance(one, (ast.Assign, ast.AnnAssign))
        for name in _names(one)
    }
    return (
        arguments
        | top
        | fields
        | {name.id for node in nodes if isinstance(node, ast.JoinedStr) for name in _names(node)}
    )


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Name))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _renamed(text: str, names: dict[str, str]) -> str:
    edits: list[Edit] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in names:
            edits.append(
                (node.lineno - 1, node.col_offset, node.col_offset + len(node.id.encode()), names[node.id])
            )
        elif isinstance(node, ast.Attribute) and _is_self(node.value) and f"self.{node.attr}" in names:
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            start = node.end_col_offset - len(node.attr.encode())
            edits.append((node.end_lineno - 1, start, node.end_col_offset, names[f"self.{node.attr}"]))
    lines = [line.encode() for line in text.split("\n")]
    for line, start, end, new in sorted(set(edits), reverse=True):
        lines[line] = lines[line][:start] + new.encode() + lines[line][end:]
    return b"\n".join(lines).decode()
