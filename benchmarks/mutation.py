"""A second source of wrong answers, which knows nothing of the catalogue: solutions with one small change.

    python -m benchmarks.mutation [v1 v2 …]

prints, per kata, how many mutants there are, how many the grader rejects, and those that survive. A mutant
that survives must compute the same as the solution; why it does stands in `EQUIVALENT`.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from grader.catalog import Catalog, Kata, load_catalog
from grader.engine.private import PrivateEngine, private_engine
from grader.records import Grade, Options, Submission

SEED = 20481
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.MatMult: (ast.Mult, ast.Add),
}

# Mutants that compute what the solution computes: the line and the change (regular expressions), and why.
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    (r"def __init__", r"728 -> ", "the default width is a convention; the judge passes its own"),
    (r"def __init__", r"0\.1 -> ", "the default rate is a convention; the judge passes its own"),
    (r"def forward", r"Tensor \| None", "an annotation is not run"),
    (r"3 \* hidden_dim", r"sides exchanged", "numbers commute"),
    (r"key\.transpose\(", r"arguments exchanged", "exchanging two axes is the same either way"),
    (r"finfo\(scores\.dtype\)", r"scores -> ", "only the dtype is read, and all tensors share it"),
)


def equivalent(mutant: Mutant) -> str | None:
    """Why the mutant computes the same, or None."""
    for line, change, why in EQUIVALENT:
        if re.search(line, mutant.code) and re.search(change, mutant.change):
            return why
    return None


@dataclass(frozen=True)
class Mutant:
    """The solution with one small change, and the change in words."""

    kata: str
    change: str
    line: int
    code: str  # that line of the solution
    text: str


def mutants(kata: Kata) -> list[Mutant]:
    """Every mutant of the kata's solution; each differs in one node."""
    source = kata.solution.read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = ast.parse(source)
    found: dict[str, Mutant] = {}
    for place, node in enumerate(ast.walk(tree)):
        for change, mutate in _changes(node, tree):
            text = mutated(tree, place, mutate)
            if text != ast.unparse(tree):
                line = getattr(node, "lineno", 0)
                found.setdefault(text, Mutant(kata.id, change, line, lines[line - 1], text))
    return list(found.values())


Change = tuple[str, Callable[[ast.AST], None]]


def mutated(tree: ast.Module, place: int, mutate: Callable[[ast.AST], None]) -> str:
    """The source of the tree after a change of one node, by its place in `ast.walk`."""
    copied = copy.deepcopy(tree)
    mutate(next(other for number, other in enumerate(ast.walk(copied)) if number == place))
    return ast.unparse(ast.fix_missing_locations(copied))


def _changes(node: ast.AST, tree: ast.Module) -> Iterator[Change]:
    """Drop a statement, unwrap a call, exchange two arguments, another name, constant, or operator."""
    if isinstance(node, ast.FunctionDef):
        yield from _without_a_statement(node)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.BinOp):
        yield from _operators(node)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _names(node, tree)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _attributes(node, tree)
    elif isinstance(node, ast.Compare):
        yield from _comparisons(node)


def _without_a_statement(node: ast.FunctionDef) -> Iterator[Change]:
    for place, statement in enumerate(node.body):
        if len(node.body) > 1:
            yield f"without `{_words(statement)}`", setting(lambda twin, place=place: twin.body.pop(place))


def _calls(node: ast.Call) -> Iterator[Change]:
    if len(node.args) >= 1 and not isinstance(node.func, ast.Name):
        yield (
            f"{_words(node)} -> {_words(node.args[0])}",
            setting(lambda twin: become(twin, twin.args[0])),
        )
    if isinstance(node.func, ast.Attribute):
        yield (
            f"{_words(node)} -> {_words(node.func.value)}",
            setting(lambda twin: become(twin, twin.func.value)),
        )
    if len(node.args) == 2:
        yield f"{_words(node)}: arguments exchanged", setting(lambda twin: twin.args.reverse())


def _operators(node: ast.BinOp) -> Iterator[Change]:
    for other in OPERATORS.get(type(node.op), ()):
        change = f"{_words(node)}: {type(node.op).__name__} -> {other.__name__}"
        yield change, setting(lambda twin, other=other: setattr(twin, "op", other()))
    yield f"{_words(node)}: sides exchanged", setting(_exchange)
    yield f"{_words(node)} -> {_words(node.left)}", setting(lambda twin: become(twin, twin.left))
    yield f"{_words(node)} -> {_words(node.right)}", setting(lambda twin: become(twin, twin.right))


def _constants(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return
    for other in (node.value + 1, node.value - 1, 0):
        if other != node.value:
            yield f"{node.value} -> {other}", setting(lambda twin, other=other: setattr(twin, "value", other))


def _names(node: ast.Name, tree: ast.Module) -> Iterator[Change]:
    """Another variable of forward in its place."""
    local = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {"x"}
    if node.id not in local:
        return
    for other in sorted(local - {node.id}):
        yield f"{node.id} -> {other}", setting(lambda twin, other=other: setattr(twin, "id", other))


def _attributes(node: ast.Attribute, tree: ast.Module) -> Iterator[Change]:
    """Another layer of the model in its place."""
    stored = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    if node.attr not in stored:
        return
    for other in sorted(stored - {node.attr}):
        yield f"self.{node.attr} -> self.{other}", setting(lambda twin, o=other: setattr(twin, "attr", o))


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    opposite = {ast.Eq: ast.NotEq, ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.Is: ast.IsNot}
    other = opposite.get(type(node.ops[0]))
    if other is not None:
        yield f"{_words(node)}: the opposite", setting(lambda twin: setattr(twin, "ops", [other()]))


def setting(function: Callable[..., object]) -> Callable[[ast.AST], None]:
    def mutate(twin: ast.AST) -> None:
        function(twin)

    return mutate


def become(node: ast.AST, other: ast.AST) -> None:
    """Turn a node into another one, in place."""
    node.__class__ = other.__class__
    node.__dict__ = dict(other.__dict__)


def _exchange(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _words(node: ast.AST) -> str:
    words = " ".join(ast.unparse(node).split())
    return words if len(words) <= 60 else words[:57] + "…"


def graded(
    engine: PrivateEngine, catalog: Catalog, some: Sequence[Mutant], threads: int = 2
) -> Iterator[tuple[Mutant, Grade]]:
    """Each mutant with its grade."""

    def grade(mutant: Mutant) -> Grade:
        source = mutant.text.encode()
        kata = catalog.get(mutant.kata)
        submission = Submission(name=kata.file_name, source=source, sha256=hashlib.sha256(source).hexdigest())
        return engine.grade(submission, kata, catalog, Options(seed=SEED))

    with ThreadPoolExecutor(threads) as pool:
        yield from zip(some, pool.map(grade, some), strict=True)


def main(ids: Sequence[str]) -> int:
    """Print the score of each kata; 1 when a mutant survives that `EQUIVALENT` does not explain."""
    catalog = load_catalog()
    unexplained = 0
    with private_engine(catalog) as engine:
        for kata in catalog.katas:
            if ids and kata.id not in ids:
                continue
            some = mutants(kata)
            survivors = [m for m, grade in graded(engine, catalog, some) if grade.verdict == "passed"]
            print(f"{kata.id}: {len(some)} mutants, {len(some) - len(survivors)} rejected")
            for mutant in survivors:
                why = equivalent(mutant)
                unexplained += why is None
                print(f"  line {mutant.line}: {mutant.change}: {why or 'NOT EXPLAINED'}")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
