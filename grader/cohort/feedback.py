"""One file for each student, with all reports on what counts, as a zip file that the platform takes back."""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from grader.cohort.entries import Row, safe_name
from grader.cohort.gradebook import Standing
from grader.cohort.layouts import is_canvas_file, is_moodle_folder

FOLDER = "feedback"
EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same reports are the same file
_MAIN = re.compile(r"<main>.*</main>", re.DOTALL)


def feedback_files(told: Iterable[Standing], report: Callable[[Row], Path]) -> dict[str, str]:
    """The files by their names in the archive. Moodle's folders and Canvas's numbers stay as they were."""
    of: dict[str, list[Row]] = defaultdict(list)
    for one in told:
        if one.row is not None and one.row.has_verdict:
            of[one.row.student].append(one.row)
    files: dict[str, str] = {}
    for rows in of.values():
        name = _free(_name(rows[0]), files)
        files[name] = joined([report(row).read_text(encoding="utf-8") for row in rows])
    return files


def packed(files: dict[str, str]) -> bytes:
    """The archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def joined(pages: Sequence[str]) -> str:
    """One page with the bodies of all, one after another."""
    first, *others = pages
    bodies = "".join(found[0] for page in others if (found := _MAIN.search(page)))
    return first.replace("</body>", f"{bodies}</body>") if bodies else first


def _name(row: Row) -> str:
    unit = row.origin.unit
    if is_moodle_folder(unit):
        return f"{unit}/feedback.html"
    if is_canvas_file(unit):
        return f"{unit.rpartition('.')[0] or unit}.html"
    return f"{safe_name(row.student)}.html"


def _free(name: str, taken: dict[str, str]) -> str:
    stem, dot, suffix = name.rpartition(".")
    number = 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}{dot}{suffix}"
    return name
