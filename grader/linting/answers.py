"""Answers as files, graded as a candidate's would be: papers, solution, and the kata's examples."""

from __future__ import annotations

import ast
import hashlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Kata
from grader.judge.content import PACKAGE, Example, KataContent
from grader.linting.files import PAPERS, open_todos
from grader.linting.oracle_trials import own_concept_of_label, trial_of
from grader.linting.records import Problem, Trial
from grader.records import Grade, Submission


class EditMisses(Exception):
    """An example replaces a text that the solution does not have."""


@dataclass(frozen=True)
class Answer:
    """A file to grade, and where in the kata it comes from."""

    kata: Kata
    path: Path
    text: str
    example: Example | None = None
    right: bool = True
    gate: bool = False  # the example's label is the check that has to reject it

    @property
    def submission(self) -> Submission:
        source = self.text.encode()
        return Submission(name=self.kata.file_name, source=source, sha256=hashlib.sha256(source).hexdigest())


def answers(content: KataContent) -> Iterator[Answer]:
    """The papers, the solution and all examples of a kata; raises `EditMisses`."""
    kata = content.kata
    solution = kata.solution.read_text(encoding="utf-8")
    for name in PAPERS:
        yield Answer(kata, kata.folder / name, kata.text(name), right=False)
    yield Answer(kata, kata.solution, solution)
    origin = kata.folder / "mistakes.py"
    for right, examples in ((False, content.examples), (True, content.rights)):
        for example in examples:
            yield Answer(kata, origin, edited(solution, example), example, right)
    for example in gates_of(content):
        yield Answer(kata, kata.folder / "checks.py", edited(solution, example), example, False, gate=True)


def gates_of(content: KataContent) -> tuple[Example, ...]:
    """Answers that prove the kata's gates, which no mistake's concept does."""
    if content.gates is not None:
        return content.gates
    common: tuple[Example, ...] = importlib.import_module(f"{PACKAGE}.common.examples").GATES
    return common


def edited(text: str, example: Example) -> str:
    """The text after the example's edits, each of which must find something to replace."""
    for old, new in example.edits:
        if old not in text:
            raise EditMisses(
                f"The example {example.label} replaces {old!r}, which the solution does not have."
            )
        text = text.replace(old, new)
    return text


def problems_of_paper(answer: Answer, grade: Grade) -> Iterator[Problem]:
    """A paper is not passed, and the reason says which of its TODOs is met first."""
    if grade.verdict not in ("failed", "unrunnable"):
        yield Problem(
            path=answer.path,
            message=f"Untouched, it ends as {grade.verdict}.",
            fix="Leave open what the candidate is to write.",
        )
        return
    todos = open_todos(ast.parse(answer.text))
    if not any(todo in (grade.reason or "") for todo in todos):
        yield Problem(
            path=answer.path,
            message=f"The reason does not say what is open: {grade.reason}",
            fix="The constructor, or the first thing that forward does, raises the TODO.",
        )


def problems_of_solution(answer: Answer, grade: Grade) -> Iterator[Problem]:
    """The solution passes with every point, those for robustness too."""
    missed = [concept.id for concept in grade.concepts if concept.status != "passed"]
    if grade.verdict != "passed" or missed:
        what = f" and misses {', '.join(missed)}" if missed else ""
        yield Problem(
            path=answer.path,
            message=f"The solution is {grade.verdict}{what}. {grade.reason or ''}".strip(),
            fix="Mend the solution, or the check that rejects it.",
        )


def problems_of_gate(answer: Answer, grade: Grade) -> Iterator[Problem]:
    """The gate itself has to reject the answer: others may, and would hide that it does not."""
    assert answer.example is not None
    label = answer.example.label
    status = next((check.status for check in grade.checks if check.id == label), None)
    if status != "failed":
        yield Problem(
            path=answer.path,
            message=f"The gate {label} {status or 'was not asked'}, though it must reject:"
            f" {difference(answer.example)}.",
            fix="Mend the check; a kata that cannot have it says so by GATES of its own.",
        )


def trial_of_example(content: KataContent, answer: Answer, grade: Grade) -> Trial:
    """What became of an example."""
    assert answer.example is not None
    label = answer.example.label
    what = difference(answer.example)
    if answer.right:
        return trial_of(grade, None, f"{label}: {what}")
    return trial_of(grade, label, what, own_concept_of_label(content, label))


def difference(example: Example) -> str:
    """What the example changes, in words."""
    return " and ".join(_shortened(new or f"without {old}") for old, new in example.edits)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:57] + "…"
