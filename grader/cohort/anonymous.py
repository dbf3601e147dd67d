"""Pseudonyms for what is shown to others: the same for a student in every run, and kept in a file apart."""

from __future__ import annotations

import csv
import io
import secrets
from collections import Counter
from pathlib import Path

import msgspec

from grader.cohort.documents import write_whole
from grader.cohort.entries import Origin, Result
from grader.cohort.sheets import read_sheet
from grader.cohort.tables import cell

FOLDER = "anonymous"
KEYS = "anonymous-names.csv"  # beside the folder, not in it


class Pseudonyms:
    """Whom each pseudonym stands for; new ones are drawn, so that no order tells anything."""

    def __init__(self, output: Path) -> None:
        self._path = output / KEYS
        self._of: dict[str, str] = {}
        self._files: Counter[str] = Counter()
        if self._path.is_file():
            self._of = {row[1]: row[0] for row in read_sheet(self._path).rows if len(row) > 1}

    def masked(self, result: Result) -> Result:
        """The result without who it is of; the text of the answer stays as it is."""
        student = result.student or result.name
        name = self._of.setdefault(cell(student), f"student-{secrets.token_hex(4)}")
        self._files[name] += 1
        suffix = Path(result.file).suffix.lower()
        file = f"{name}/answer-{self._files[name]}{suffix if suffix in ('.py', '.ipynb') else ''}"
        grade = result.grade
        if grade is not None and grade.source is not None:
            source = msgspec.structs.replace(grade.source, name=file.rpartition("/")[2])
            grade = msgspec.structs.replace(grade, source=source)
        return msgspec.structs.replace(
            result, name=name, student=name, file=file, origin=Origin(), grade=grade,
            reason="Not graded." if result.reason else None,
        )  # fmt: skip

    def keep(self) -> Path:
        """Write down who is who."""
        written = io.StringIO()
        table = csv.writer(written, lineterminator="\r\n")
        table.writerows([["name", "student"], *((name, student) for student, name in self._of.items())])
        return write_whole(self._path, written.getvalue())
