"""Write the JSON Schemas of what other programs read, from the records: `python tools/schema.py`.

`kata grade --json` is a grade, a line of a cohort's results.jsonl a result. A test holds the files in docs/
against the records, so that neither changes without the other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "grade.schema.json"
RESULTS = ROOT / "docs" / "results.schema.json"


def schema_text() -> str:
    """The schema of a grade's document, as the file holds it."""
    sys.path.insert(0, str(ROOT))
    from grader.records import GRADE_VERSION, Grade

    return _schema(f"attention-kata grade, version {GRADE_VERSION}", Grade)


def results_text() -> str:
    """The schema of a line of results.jsonl, as the file holds it."""
    sys.path.insert(0, str(ROOT))
    from grader.cohort.entries import VERSION, Result

    return _schema(f"attention-kata line of results.jsonl, version {VERSION}", Result)


def _schema(title: str, kind: type) -> str:
    dialect = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": dialect, "title": title, **msgspec.json.schema(kind)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
    RESULTS.write_text(results_text(), encoding="utf-8")
