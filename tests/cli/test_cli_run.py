"""`kata run`: an answer on an example, in a real worker; nothing is kept, and nothing is judged."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.grading import try_out
from grader.history import History
from grader.judge.oracle import Affine, Context, run
from grader.judge.trial import TOKENS, VISIBLE, example
from grader.records import Submission, Trial
from tests.judge import stage

pytestmark = pytest.mark.usefixtures("warm")
Terminal = Any  # tests/cli/conftest.py


def tried(kata: str, text: str) -> Trial:
    return try_out(stage.submission(text), stage.CATALOG.get(kata), stage.CATALOG)


def test_it_shows_shapes_the_output_the_weights_and_what_was_printed_once(
    kata: Terminal, history: History
) -> None:
    text = stage.solution("v3", ("# x: (batch", 'print("here I am")\n        # x: (batch'))
    kata.write("self_attention_v3.py", text)
    result = kata("run")
    assert result.exit_code == 0
    assert "a Tensor (1, 3, 4)" in result.stdout
    assert "0.731  0.269  0.000" in result.stdout
    assert result.stdout.count("│ here I am") == 1
    assert re.search(r"(?m)^ +\d+ │ \(1, 3, 3\) +│ weights = torch\.softmax", result.stdout)
    assert not re.search("passed|points|✓|✕", result.stdout, re.IGNORECASE)
    assert history.attempts() == []


def test_it_stops_where_the_code_raises(kata: Terminal) -> None:
    kata("start", "v1")
    result = kata("run", "v1")
    assert result.exit_code == 1
    assert "TODO 1 of 5" in result.stdout


def test_what_is_no_file_is_wrong_usage(kata: Terminal) -> None:
    assert kata("run", "nowhere.py").exit_code == 2
    kata.write("self_attention_v1.py", "")
    assert kata("run", "self_attention_v1.py", "v1").exit_code == 2


def test_it_is_free_in_an_interview(kata: Terminal) -> None:
    assert kata("interview", "start", "v3").exit_code == 0
    page = kata.folder / "self_attention_v3.py"
    page.write_text(stage.solution("v3"), encoding="utf-8")
    result = kata("run")
    assert result.exit_code == 0
    assert "v3 is on" in result.stderr
    status = json.loads(kata("interview", "status", "--json").stdout)["interview"]
    assert (status["hints"], status["phase"]) == (0, "writing")


@pytest.mark.parametrize("kata", ["v1", "v2", "v3", "v4"])
def test_the_worked_example_of_the_task_is_what_the_formula_gives(kata: str, catalog: Catalog) -> None:
    content = stage.content(kata)
    drawn = example(content)
    identity = Affine(torch.eye(len(TOKENS[0])))
    context = Context(
        content.plan,
        drawn.inputs,
        dict.fromkeys((role.name for role in content.family.roles), identity),
        mask=drawn.mask,
        visible=drawn.visible,
        sizes=drawn.sizes,
        names=content.kata.signature.axes,
    )
    after = run(content.plan, context)
    page = catalog.get(kata).text("example.md")
    for name, expected in (("weights", after.weights), ("output", after.output)):
        line = next(line for line in page.splitlines() if line.startswith(name))
        written = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)]
        assert written == [round(float(value), 3) for value in expected.flatten()]
    if content.kata.takes_mask:
        line = next(line for line in page.splitlines() if line.startswith("mask"))
        assert [int(n) for n in re.findall(r"\d", line)] == [n for row in VISIBLE for n in row]


@pytest.mark.parametrize("kata", ["v1", "v2", "v3", "v4"])
def test_a_solution_gives_the_numbers_of_the_worked_example(kata: str, catalog: Catalog) -> None:
    trial = tried(kata, stage.solution(kata))
    page = catalog.get(kata).text("example.md")
    for name, rows in (("weights", trial.weights), ("output", trial.output)):
        line = next(line for line in page.splitlines() if line.startswith(name))
        written = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)]
        assert written == [round(value, 3) for row in rows for value in row if value is not None]
    assert trial.trace
    assert trial.reason is None


@pytest.mark.parametrize("kata", [kata.id for kata in stage.CATALOG.katas])
def test_every_solution_runs_and_its_first_matrix_is_shown(kata: str) -> None:
    trial = tried(kata, stage.solution(kata))
    assert (trial.reason, trial.returned.startswith("a Tensor")) == (None, True)
    rows = {len(row) for row in trial.output}
    assert len(rows) == 1 or kata == "padding"  # whose result has another number of axes than its input


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        ("return None", "a NoneType"),
        ("return [3]", "a list"),
        ("return weights, mixed", "a tuple, its first part a Tensor (1, 3, 3)"),
        ("return mixed * float('nan')", "a Tensor (1, 3, 4)"),
        ("return mixed.to_sparse()", "a sparse tensor"),
    ],
)
def test_whatever_comes_back_is_told(returns: str, says: str) -> None:
    trial = tried("v3", stage.solution("v3", ("return self.output_proj(mixed)", returns)))
    assert trial.returned == says
    assert trial.weights == ()


def test_a_worker_that_dies_is_told() -> None:
    trial = tried("v1", "import os\nos._exit(3)\n")
    assert "ended the process itself" in (trial.reason or "")


def test_a_warm_engine_gives_the_same(engine: PrivateEngine, catalog: Catalog) -> None:
    from grader.engine.messages import Request
    from grader.records import Options

    submission = stage.submission(stage.solution("v4"))
    request = Request(
        submission=submission,
        kata=catalog.get("v4"),
        root=catalog.root,
        packs=catalog.packs,
        options=Options(isolation="process"),
        trial=True,
    )
    assert engine.begin(request).answer().trial == try_out(submission, catalog.get("v4"), catalog)


def test_the_page_cannot_be_forged(kata: Terminal) -> None:
    text = stage.solution("v1", ("# x: (batch", "print('\\x1b[2J\\u202e')\n        # x: (batch"))
    kata.write("self_attention_v1.py", text)
    shown = kata("run", "v1").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_stand_in_is_all_that_it_needs(kata: Terminal) -> None:
    seen: list[Submission] = []

    def stand_in(submission: Submission, *_: object) -> Trial:
        seen.append(submission)
        return Trial(kata="v1", example="x", returned="a Tensor (1,)", weights=((1.0, None),))

    kata.app.try_out = stand_in
    kata.write("self_attention_v1.py", "class SelfAttentionV1: ...\n")
    assert "1.000    NaN" in kata("run").stdout
    assert [submission.name for submission in seen] == ["self_attention_v1.py"]
