"""A cohort's results for other programs: CSV, JUnit XML, and Gradescope's results.json."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Any

import msgspec

from grader.cohort.entries import Row
from grader.cohort.overview import has_grade
from grader.records import Grade
from grader.report.neutral import bounded, one_line, visible

COLUMNS = (
    "name", "file", "kata", "verdict", "points", "max_points", "mistakes", "lines", "reason", "seconds",
    "seed", "sha256", "report", "student", "submitted", "file_is_there",
)  # fmt: skip

# What a spreadsheet takes for the beginning of a formula, also in its full-width form, and after blanks.
_FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")
_SCORES = {"passed": "passed", "failed": "failed", "not_reached": "failed"}


def csv_table(rows: Iterable[Row]) -> str:
    """One line a result. A cell can neither be taken for a formula nor break its line."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow(
            [
                cell(row.name), cell(row.file), row.kata or "", row.verdict, row.points, row.max_points,
                cell(" ".join(row.mistakes)), " ".join(map(str, row.lines)), cell(row.reason),
                f"{row.seconds:.3f}", row.seed, row.sha256,
                f"reports/{row.slug}.html" if has_grade(row) else "",
                cell(row.student), row.origin.submitted, "no" if row.gone else "yes",
            ]
        )  # fmt: skip
    return written.getvalue()


def cell(text: str) -> str:
    """Text for a table: no formula to a spreadsheet, and one line."""
    text = one_line(visible(bounded(text)))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def junit(rows: Iterable[Row]) -> str:
    """One suite a kata, one case a result: passed, failure, error (the grader's fault) or skipped."""
    suites: dict[str, list[Row]] = {}
    for row in rows:
        if row.verdict == "aside":
            continue
        suites.setdefault(row.kata or "no kata", []).append(row)
    root = ET.Element("testsuites", name="attention-kata")
    for name, cases in sorted(suites.items()):
        counts = {
            "tests": len(cases),
            "failures": sum(case.verdict in ("failed", "unrunnable") for case in cases),
            "errors": sum(case.verdict == "grader_error" for case in cases),
            "skipped": sum(case.verdict == "skipped" for case in cases),
        }
        time = f"{sum(case.seconds for case in cases):.3f}"
        suite = ET.SubElement(
            root, "testsuite", {"name": name, "time": time} | {k: str(n) for k, n in counts.items()}
        )
        for case in cases:
            _case(suite, name, case)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, kata: str, row: Row) -> None:
    # Characters that XML cannot hold at all are made visible; ElementTree escapes the rest.
    words = {
        "classname": kata,
        "name": visible(row.name),
        "file": visible(row.file),
        "time": f"{row.seconds:.3f}",
    }
    case = ET.SubElement(suite, "testcase", words)
    kind = {"failed": "failure", "unrunnable": "failure", "grader_error": "error", "skipped": "skipped"}.get(
        row.verdict
    )
    if kind is not None:
        message = visible(bounded(row.reason))
        told = ET.SubElement(case, kind, message=message)
        told.text = "\n".join(visible(bounded(sentence)) for sentence in row.sentences) or message


def gradescope(grade: Grade, *, fixes: bool = True) -> str:
    """The document that Gradescope's autograder reads as results/results.json, as text."""
    document = gradescope_document(grade, fixes=fixes)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def gradescope_document(grade: Grade, *, fixes: bool = True) -> dict[str, Any]:
    """What Gradescope reads of a grade: one test a concept."""
    tests: list[dict[str, Any]] = [
        {
            "name": concept.title,
            "score": concept.points,
            "max_score": concept.max_points,
            "status": _SCORES[concept.status],
            "output": "\n".join(
                visible(bounded(check.message or check.title))
                for check in grade.checks
                if check.concept == concept.id and check.status == "failed"
            ),
        }
        for concept in grade.concepts
    ]
    said = [grade.reason or "Passed."]
    for item in grade.diagnosis:
        where = f"line {item.line}: " if item.line else ""
        said += [f"{where}{item.sentence}", *([f"How to mend it: {item.fix}"] if fixes else [])]
    return {
        "score": grade.points,
        "execution_time": grade.seconds.get("total", 0.0),
        "output": visible(bounded("\n".join(said))),
        "output_format": "text",
        "tests": tests,
        "extra_data": {"kata": grade.kata, "verdict": grade.verdict, "seed": grade.seed},
    }
