"""What can be said about a kata from its files alone, without grading anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.catalog import Catalog, Kata
from grader.errors import KataError
from grader.interview.clarify import clarifications
from grader.linting.records import Problem
from grader.practice.hints import hint_texts
from grader.practice.questions import questions

PAPERS = ("stub.py", "blank.py")
FILES = frozenset(
    {
        *PAPERS,
        "__init__.py",
        "brief.md",
        "checks.py",
        "clarify.toml",
        "family.py",
        "hints.md",
        "kata.toml",
        "mistakes.py",
        "questions.toml",
    }
)
OWN = frozenset({"example.md", "mistakes.toml", "rooms"})  # that a kata may have
CACHE = "__pycache__"
OPEN = "TODO: "  # what an author has not written yet
_QUOTES = " \"'*#`"
FEWEST_HINTS = 3
FEWEST_QUESTIONS = 5


def problems_of_files(kata: Kata, catalog: Catalog) -> tuple[Problem, ...]:
    """Missing and stray files, papers that are no Python, incomplete texts, concepts without points."""
    return (
        *_folder(kata),
        *_papers(kata),
        *_texts(kata),
        *_concepts(kata),
        *_rules(kata, catalog),
    )


def stray_solutions(catalog: Catalog, root: Path | None = None) -> Iterator[Problem]:
    """Files among the solutions below `root` (default: ours) that answer no kata."""
    folder = (root or catalog.root) / "solutions"
    known = {kata.solution.name for kata in catalog.katas if kata.solution.parent == folder} | {CACHE}
    for path in sorted(folder.glob("*")):
        if path.name not in known:
            yield Problem(
                path=path, message="No kata has this solution.", fix="Take it away, or add its kata."
            )


def open_points(kata: Kata) -> Iterator[Problem]:
    """What `kata new` left for the author to say."""
    for path in sorted(kata.folder.iterdir()):
        if path.name in FILES and path.name not in PAPERS:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                _, found, what = line.partition(OPEN)
                if found:
                    yield Problem(path=path, line=number, message=f"Still to do: {what.strip(_QUOTES)}")


def _folder(kata: Kata) -> Iterator[Problem]:
    there = {path.name for path in kata.folder.iterdir()}
    for name in sorted(FILES - there):
        yield Problem(
            path=kata.folder / name, message="The file is missing.", fix="CONTRIBUTING.md lists all."
        )
    for name in sorted(there - FILES - OWN - {CACHE}):
        yield Problem(
            path=kata.folder / name,
            message="Nothing reads this file.",
            fix="Take it away; what several katas share goes into katas/common.",
        )
    if not kata.solution.is_file():
        yield Problem(
            path=kata.solution, message="The solution is missing.", fix="Write the reference answer."
        )


def _papers(kata: Kata) -> Iterator[Problem]:
    for path in (*(kata.folder / name for name in PAPERS), kata.solution):
        if not path.is_file():
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError) as error:
            line = error.lineno if isinstance(error, SyntaxError) else None
            yield Problem(path=path, line=line, message=f"It is not valid Python: {error}.", fix="Mend it.")
            continue
        sort, kind = ("class", ast.ClassDef) if kata.signature.is_module else ("function", ast.FunctionDef)
        names = [node.name for node in tree.body if isinstance(node, kind)]
        if kata.signature.name not in names:
            yield Problem(
                path=path,
                message=f"There is no {sort} {kata.signature.name}.",
                fix=f"kata.toml promises it; found: {', '.join(names) or f'no {sort}'}.",
            )
        if path.name in PAPERS and not open_todos(tree):
            yield Problem(
                path=path,
                message="Nothing is open: no `raise NotImplementedError` with a text.",
                fix='Leave a `raise NotImplementedError("TODO 1 of 2: …")` where the candidate writes.',
            )


def open_todos(tree: ast.Module) -> list[str]:
    """The texts of all `raise NotImplementedError("…")`, in order."""
    return [
        str(node.exc.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func) == "NotImplementedError"
        and node.exc.args
        and isinstance(node.exc.args[0], ast.Constant)
    ]


def _texts(kata: Kata) -> Iterator[Problem]:
    readers = (
        ("brief.md", _brief),
        ("hints.md", _hints),
        ("questions.toml", _questions),
        ("clarify.toml", _clear),
    )
    for name, reader in readers:
        path = kata.folder / name
        if not path.is_file():
            continue  # said already
        try:
            yield from reader(kata, path)
        except KataError as error:
            yield Problem(path=path, message=error.message, fix="Compare with the same file of katas/v1.")


def _brief(kata: Kata, path: Path) -> Iterator[Problem]:
    if not kata.text(path.name).strip():
        yield Problem(
            path=path, message="The brief is empty.", fix="State the task, the signature, the rules."
        )


def _hints(kata: Kata, path: Path) -> Iterator[Problem]:
    count = len(hint_texts(kata))
    if count < FEWEST_HINTS:
        yield Problem(
            path=path,
            message=f"Too few hints: {count}, and at least {FEWEST_HINTS} are needed.",
            fix="Write `## Hint 1`, `## Hint 2` …, from a nudge to almost the answer.",
        )


def _questions(kata: Kata, path: Path) -> Iterator[Problem]:
    asked = questions(kata)
    known = [concept.id for concept in kata.concepts]
    if len(asked) < FEWEST_QUESTIONS:
        yield Problem(
            path=path,
            message=f"Too few questions: {len(asked)}, and at least {FEWEST_QUESTIONS} are needed.",
            fix="Add what an interviewer asks next, with model answers.",
        )
    for question in asked:
        if question.concept not in known:
            yield Problem(
                path=path,
                message=f"The question {question.id} is about `{question.concept}`, no concept of this kata.",
                fix=f"The concepts are: {', '.join(known)}.",
            )


def _clear(kata: Kata, path: Path) -> Iterator[Problem]:
    if not clarifications(kata):
        yield Problem(path=path, message="Nothing can be asked before starting.", fix="Add what is unclear.")


def _concepts(kata: Kata) -> Iterator[Problem]:
    path = kata.folder / "kata.toml"
    ids = [concept.id for concept in kata.concepts]
    for concept in kata.concepts:
        if concept.points < 1:
            yield Problem(path=path, message=f"The concept {concept.id} has no points.", fix="Give it some.")
    for twice in sorted({name for name in ids if ids.count(name) > 1}):
        yield Problem(path=path, message=f"The concept {twice} stands there twice.", fix="Keep one.")


def _rules(kata: Kata, catalog: Catalog) -> Iterator[Problem]:
    path = kata.folder / "kata.toml"
    known = {other.id for other in catalog.katas}
    for wanted in kata.prerequisites:
        if wanted not in known or wanted == kata.id:
            yield Problem(
                path=path, message=f"The prerequisite {wanted} is no kata.", fix="Name one, or none."
            )
    if kata.folder.name != kata.name:
        yield Problem(
            path=path,
            message=f"The id is {kata.name}, and the folder is called {kata.folder.name}.",
            fix="Give both one name.",
        )
    if not kata.signature.name.isidentifier() or not kata.file_name.endswith(".py"):
        yield Problem(
            path=path,
            message=f"{kata.signature.name} in {kata.file_name} cannot be written or imported.",
            fix="The signature's name is a Python name, file_name ends in .py.",
        )
