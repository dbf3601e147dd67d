"""Downloads as platforms give them: the same five people, in the tree of each."""

from __future__ import annotations

from tests.cohort.conftest import answer

GRADESCOPE = """\
---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: ada@example.org
  :created_at: 2026-11-30 21:15:26.184830000 Z
  :score: 0.0
  :results:
    tests:
    - output: |
        :name: Nobody
        "quoted": {
submission_12:
  :submitters:
  - :name: "Zo\\u00EB M\\u00FCller"
    :sid: ''
    :email: zoe@example.org
  - :name: Bob
    :sid: '7'
    :email: bob@example.org
  :created_at: 2026-12-02 01:00:00 +0100
"""

# layout -> (files, students with their katas, and what is known of one of them)
DOWNLOADS: dict[str, tuple[dict[str, str], set[tuple[str, str | None]], tuple[str, dict[str, object]]]] = {
    "moodle": (
        {
            "Ada Lovelace_123_assignsubmission_file/answer.py": answer("v1"),
            "Zoë Müller_124_assignsubmission_file/sub/v3.py": answer("v3"),
            "Zoë Müller_124_assignsubmission_file/notes.pdf": "x",
            "Bob_125_assignsubmission_onlinetext/onlinetext.html": "<p>",
        },
        {("Ada Lovelace", "v1"), ("Zoë Müller", "v3"), ("Zoë Müller", None), ("Bob", None)},
        ("Ada Lovelace", {"id": "123", "unit": "Ada Lovelace_123_assignsubmission_file"}),
    ),
    "canvas": (
        {
            "lovelaceada_12345_678_answer.py": answer("v1"),
            "müllerzoë_LATE_12346_679_v3-2.py": answer("v3"),
            "bob_12347_680_report.pdf": "x",
        },
        {("lovelaceada", "v1"), ("müllerzoë", "v3"), ("bob", None)},
        (
            "müllerzoë",
            {"id": "12346", "late": True, "attempt": 3, "unit": "müllerzoë_LATE_12346_679_v3-2.py"},
        ),
    ),
    "gradescope": (
        {
            "assignment_9_export/submission_metadata.yml": GRADESCOPE,
            "assignment_9_export/submission_11/answer.py": answer("v1"),
            "assignment_9_export/submission_12/v3.py": answer("v3"),
        },
        {("Ada Lovelace", "v1"), ("Zoë Müller", "v3"), ("Bob", "v3")},
        ("Bob", {"id": "7", "email": "bob@example.org", "submitted": "2026-12-02T00:00:00+00:00"}),
    ),
    "nbgrader": (
        {
            "submitted/ada/ps1/answer.py": answer("v1"),
            "submitted/ada/ps1/timestamp.txt": "2026-11-30 15:58:23.948203 UTC",
            "submitted/bob/ps1/v3.py": answer("v3"),
        },
        {("ada", "v1"), ("bob", "v3")},
        ("ada", {"id": "ada", "submitted": "2026-11-30T15:58:23+00:00", "unit": "submitted/ada/ps1"}),
    ),
    "classroom": (
        {
            "attention-ada-l/.git/config": "x",
            "attention-ada-l/src/answer.py": answer("v1"),
            "attention-ada-l/tests/test_it.py": "x",
            "attention-bob/.git/config": "x",
            "attention-bob/v3.py": answer("v3"),
        },
        {("ada-l", "v1"), ("bob", "v3")},
        ("bob", {"id": "bob", "unit": "attention-bob"}),
    ),
    "folders": (
        {"ada/answer.py": answer("v1"), "bob/deep/v3.py": answer("v3"), "cy/x.docx": "x"},
        {("ada", "v1"), ("bob", "v3"), ("cy", None)},
        ("ada", {"unit": "ada"}),
    ),
    "files": (
        {"ada.py": answer("v1"), "bob.py": answer("v3"), "cy.txt": "x"},
        {("ada", "v1"), ("bob", "v3"), ("cy", None)},
        ("cy", {"unit": "cy.txt"}),
    ),
}
