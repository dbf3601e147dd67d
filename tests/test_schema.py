"""The JSON document of a grade is a promise to other programs: the published schema and the records agree."""

from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import msgspec
import pytest

from grader.cohort.entries import Result
from grader.records import Grade, encode_grade
from tools.schema import PATH, RESULTS, results_text, schema_text

SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))
PROMISED = {
    "version", "kata", "verdict", "reason", "points", "max_points", "seed", "seconds", "concepts", "checks",
    "diagnosis", "notes",
}  # fmt: skip


def test_the_published_schema_is_that_of_the_records() -> None:
    assert PATH.read_text(encoding="utf-8") == schema_text(), "run: python tools/schema.py"


def test_so_is_that_of_a_line_of_results(make_grade: Callable[..., Grade]) -> None:
    assert RESULTS.read_text(encoding="utf-8") == results_text(), "run: python tools/schema.py"
    schema = json.loads(RESULTS.read_text(encoding="utf-8"))
    grade = make_grade()
    lines = (
        Result(name="a.py", file="a.py", student="a", status="graded", kata=grade.kata, grade=grade),
        Result(name="b.pdf", file="b.pdf", student="b", status="skipped", reason="a PDF"),
        Result(name="c.py", file="c.py", student="c", status="gone"),
    )
    for line in lines:
        document = json.loads(msgspec.json.encode(line))
        jsonschema.validate(document, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | {"status": "lost"}, schema)


def test_a_grade_is_valid(make_grade: Callable[..., Grade]) -> None:
    jsonschema.validate(json.loads(encode_grade(make_grade())), SCHEMA)


def test_every_promised_field_is_there(make_grade: Callable[..., Grade]) -> None:
    assert json.loads(encode_grade(make_grade())).keys() >= PROMISED


def test_another_verdict_is_refused(make_grade: Callable[..., Grade]) -> None:
    document = json.loads(encode_grade(make_grade()))
    document["verdict"] = "excellent"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)
