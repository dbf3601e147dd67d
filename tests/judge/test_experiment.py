"""What has no small numbers has an experiment: lines run behind the answer, which tell wrong from right."""

from __future__ import annotations

import hashlib

import pytest

from grader.catalog import load_experiments
from grader.engine.private import PrivateEngine
from grader.records import ExperimentRecord, Options, Submission
from tests.judge.stage import CATALOG

V3, CACHE = "query @ key.transpose", "(cache[0], key)"
# Wrong in nothing that small numbers show; the experiment's name, and what its lines print.
CASES = {
    "gradients": ("v3", V3, "query.detach() @ key.transpose", "query_proj.weight None"),
    "dropout": ("v3", "nn.Dropout(dropout_rate)", "nn.Dropout(0.1)", "\nFalse"),
    "side_effects": ("v3", "        query = self", "        self.eval()\n        query = self", "False"),
    "in_turns": ("cache", CACHE, "(key, cache[0])", "0."),
}


def shown(engine: PrivateEngine, kata: str, old: str, new: str) -> ExperimentRecord:
    found = CATALOG.get(kata)
    text = found.solution.read_text(encoding="utf-8")
    assert old in text
    source = text.replace(old, new).encode()
    submission = Submission(name=found.file_name, source=source, sha256=hashlib.sha256(source).hexdigest())
    grade = engine.grade(submission, found, CATALOG, Options(seed=5, by_hand=True))
    assert (grade.verdict, grade.by_hand) == ("failed", None), grade.reason
    assert grade.experiment is not None
    return grade.experiment


@pytest.mark.parametrize("name", CASES)
def test_the_lines_are_those_of_the_concept_and_print_what_is_wrong(engine: PrivateEngine, name: str) -> None:
    kata, old, new, printed = CASES[name]
    found = shown(engine, kata, old, new)
    wanted = load_experiments(CATALOG)[name]
    assert found.right == wanted.right
    assert len(found.lines) == len(wanted.lines)
    assert printed in found.printed
    assert all(len(line) <= 76 for line in found.lines)


@pytest.mark.parametrize("name", CASES)
def test_behind_the_solution_the_same_lines_print_something_else(engine: PrivateEngine, name: str) -> None:
    kata, old, new, _ = CASES[name]
    found = shown(engine, kata, old, new)
    names: dict[str, object] = {}
    printed: list[str] = []
    text = CATALOG.get(kata).solution.read_text(encoding="utf-8")
    names["print"] = lambda *words: printed.append(" ".join(map(str, words)))
    exec(f"{text}\ntorch.manual_seed(0)\n" + "\n".join(found.lines), names)
    assert printed != found.printed.rstrip("\n").split("\n")
