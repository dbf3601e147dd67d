"""Write the JSON Schema of `kata grade --json` from the records: `python tools/schema.py`.

A test holds the file in docs/ against the records, so that neither changes without the other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "grade.schema.json"


def schema_text() -> str:
    """The schema of a grade's document, as the file holds it."""
    sys.path.insert(0, str(ROOT))
    from grader.records import GRADE_VERSION, Grade

    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"attention-kata grade, version {GRADE_VERSION}",
        **msgspec.json.schema(Grade),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
