"""A question on the candidate's own lines, settled by a run: real answers, real workers."""

from __future__ import annotations

import re

import msgspec
import pytest

from grader.catalog import Catalog, load_own_lines
from grader.grading import try_out
from grader.interview import own_lines
from grader.interview.stored import EventRow
from grader.practice.questions import Question
from grader.records import SourceRecord, Trial
from tests.judge import stage


def measured(kata: str, text: str) -> Trial:
    return try_out(stage.submission(text), stage.CATALOG.get(kata), stage.CATALOG, measure=True)


def possible(trial: Trial, catalog: Catalog) -> dict[str, Question]:
    return {question.concept: question for question in own_lines._possible(trial, catalog)}


@pytest.mark.parametrize("kata", ["v1", "v2", "v3", "v4"])
def test_every_concept_has_a_template_and_most_a_question(kata: str, catalog: Catalog) -> None:
    concepts = {concept.id for concept in catalog.get(kata).concepts}
    assert concepts <= load_own_lines(catalog).keys()
    trial = measured(kata, stage.solution(kata))
    found = possible(trial, catalog)
    assert {"scale", "softmax", "scores", "mix", "projections"} & concepts <= found.keys()
    for question in found.values():
        assert not re.search(r"\{[a-z_0-9]+\}", question.question + question.answer)
        assert question.key_points


def test_the_numbers_are_those_of_the_answer() -> None:
    right = measured("v3", stage.solution("v3")).numbers
    wrong = measured("v3", stage.solution("v3", ("math.sqrt(self.hidden_dim)", "728"))).numbers
    grown = float(right["variance_64"]) / float(right["variance_16"])
    assert 0.2 < grown < 5
    assert float(wrong["variance_16"]) < float(right["variance_16"]) / 100
    assert right["finite"] == "16 of 16"
    assert right["row_sums"] == "1.00, 1.00, 1.00, 1.00, 1.00"
    assert 15 <= int(right["zeros"].split()[0]) <= 55
    assert right["changed"] == "0 of 80"
    assert right["tokens"] == "5 of 5"
    assert right["one_token"] == "(1, 1, 16)"
    assert right["shape"] == "(3, 5, 5)"
    assert (right["parameters_16"], right["parameters_64"]) == ("1,088", "16,640")
    infinite = stage.solution("v3", ("torch.finfo(scores.dtype).min", "float('-inf')"))
    assert measured("v3", infinite).numbers["finite"] == "0 of 16"


def test_it_is_on_a_line_of_theirs(catalog: Catalog) -> None:
    text = stage.solution("v3", ("math.sqrt(self.hidden_dim)", "728"))
    question = possible(measured("v3", text), catalog)["scale"]
    number = next(n for n, line in enumerate(text.splitlines(), 1) if "/ 728" in line)
    assert f"Line {number} is `scores = scores / 728" in question.question


@pytest.mark.parametrize(
    "text", ["class SelfAttentionV3:", "import os\nos._exit(1)", stage.CATALOG.get("v3").text("stub.py")]
)
def test_nothing_is_asked_where_nothing_ran(catalog: Catalog, text: str) -> None:
    assert possible(measured("v3", text), catalog) == {}


def test_braces_in_the_code_stay_as_they_are(catalog: Catalog) -> None:
    source = SourceRecord(name="a.py", sha256="0" * 64, text="x = f'{variance_16} {line}'")
    numbers = {"variance_16": "1", "variance_64": "2"}
    trial = Trial(kata="v1", example="", source=source, numbers=numbers, lines={"scale": 1})
    assert "`x = f'{variance_16} {line}'`" in possible(trial, catalog)["scale"].question


def test_it_is_kept_with_its_words() -> None:
    question = Question(id="own:scale", concept="scale", question="Why?", answer="So.", key_points=("a", "b"))
    data = {"questions": [{"kata": "v3", **msgspec.structs.asdict(question)}, {"kata": "v3", "id": "plain"}]}
    row = {
        "uuid": "u", "at": "2026-11-30T10:00:00Z", "round": 0, "kind": "questions", "mono": 1.0, "boot": "b",
        "slept": None, "elapsed": 1.0, "seconds": 1.0, "sha256": None,
        "data": msgspec.json.encode(data).decode(),
    }  # fmt: skip
    assert msgspec.convert(row, EventRow).kind == "questions"
