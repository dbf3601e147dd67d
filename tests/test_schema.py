"""The JSON document of a grade is a promise to other programs: the published schema and the records agree."""

from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import pytest

from grader.records import Grade, encode_grade
from tools.schema import PATH, schema_text

SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))
PROMISED = {
    "version", "kata", "verdict", "reason", "points", "max_points", "seed", "seconds", "concepts", "checks",
    "diagnosis", "notes",
}  # fmt: skip


def test_the_published_schema_is_that_of_the_records() -> None:
    assert PATH.read_text(encoding="utf-8") == schema_text(), "run: python tools/schema.py"


def test_a_grade_is_valid(make_grade: Callable[..., Grade]) -> None:
    jsonschema.validate(json.loads(encode_grade(make_grade())), SCHEMA)


def test_every_promised_field_is_there(make_grade: Callable[..., Grade]) -> None:
    assert json.loads(encode_grade(make_grade())).keys() >= PROMISED


def test_another_verdict_is_refused(make_grade: Callable[..., Grade]) -> None:
    document = json.loads(encode_grade(make_grade()))
    document["verdict"] = "excellent"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)
