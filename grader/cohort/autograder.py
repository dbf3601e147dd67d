"""`python -m grader.cohort.autograder PLATFORM KATA SUBMISSION RESULTS`: one submission, for a platform.

Every submission gets a document, whatever it holds. Strict isolation is taken where the container has it;
where it has not, the usual one is, and the document says so to the instructor.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from grader.catalog import Catalog, Kata, load_catalog
from grader.cohort.documents import write_whole
from grader.cohort.entries import Entry
from grader.cohort.gather import Wanted, gather
from grader.cohort.run import at_once, fault
from grader.cohort.tables import gradescope_document
from grader.confine.apply import missing_for_strict
from grader.errors import KataError, UsageError
from grader.exit_codes import OF_VERDICT, ExitCode
from grader.grading import grade
from grader.records import Grade, Isolation, Options, Record
from grader.report.neutral import bounded, for_markdown, visible

PLATFORMS = ("gradescope", "prairielearn", "github")


class Outcome(Record):
    """What came of a submission: its best answer, or why there is none; `aside` is for the instructor."""

    kata: Kata
    grade: Grade | None
    reason: str
    aside: str


def outcome(folder: Path, kata: Kata, catalog: Catalog) -> Outcome:
    """Grade whatever the folder holds."""
    lacking = missing_for_strict()
    level: Isolation = "standard" if lacking else "strict"
    aside = f"Isolation: {level}."
    if lacking:
        aside += f" Strict isolation needs {' and '.join(lacking)}, which this container does not offer."
    try:
        wanted = Wanted(katas=(kata,), layout="files")
        entries = gather([str(folder)], folder, catalog, wanted).entries
    except UsageError:
        return Outcome(kata=kata, grade=None, reason="Nothing was handed in.", aside=aside)
    grades = [_grade(entry, kata, catalog, Options(isolation=level, engine=False)) for entry in entries]
    best = max((one for one in grades if one is not None), key=lambda one: one.points, default=None)
    reasons = [entry.reason for entry in entries if entry.reason and not entry.aside]
    reason = " ".join(reasons) or f"There is no answer to {kata.id} among the files."
    return Outcome(kata=kata, grade=best, reason=reason, aside=aside)


def _grade(entry: Entry, kata: Kata, catalog: Catalog, options: Options) -> Grade | None:
    known = at_once(entry, catalog, options, "")
    if known is not None or entry.submission is None:
        return known.grade if known is not None else None
    try:
        return grade(entry.submission, kata, catalog, options)
    except KataError as problem:
        return fault(kata, problem, options)


def gradescope(told: Outcome) -> str:
    """The document that Gradescope reads; what is for the instructor is hidden from the student."""
    if told.grade is None:
        document: dict[str, Any] = {
            "score": 0,
            "output": visible(bounded(f"Not graded: {told.reason}")),
            "output_format": "text",
            "tests": [],
        }
    else:
        document = gradescope_document(told.grade)
    note = {"name": "For the instructor", "output": visible(told.aside), "visibility": "hidden"}
    return _json(document | {"tests": [*document["tests"], note]})


def prairielearn(told: Outcome) -> str:
    """The document that PrairieLearn reads: a score between 0 and 1, or that it cannot be graded."""
    grade = told.grade
    if grade is None or grade.verdict == "grader_error":
        reason = told.reason if grade is None else grade.reason or ""
        return _json({"gradable": False, "message": visible(bounded(reason)), "output": visible(told.aside)})
    shown = gradescope_document(grade)
    tests = [
        {"name": one["name"], "points": one["score"], "max_points": one["max_score"], "output": one["output"]}
        for one in shown["tests"]
    ]
    score = grade.points / grade.max_points if grade.max_points else 0.0
    aside = visible(told.aside)
    return _json(
        {"gradable": True, "score": score, "message": shown["output"], "output": aside, "tests": tests}
    )


def github(told: Outcome) -> str:
    """A summary in Markdown."""
    grade = told.grade
    if grade is None:
        return f"### {told.kata.id}: not graded\n\n{for_markdown(told.reason)}\n\n{told.aside}\n"
    lines = [f"### {grade.kata}: {grade.verdict}, {grade.points} of {grade.max_points} points", ""]
    lines += [f"{for_markdown(grade.reason)}\n"] if grade.reason else []
    for item in grade.diagnosis:
        where = f"line {item.line}: " if item.line else ""
        lines.append(
            f"- {where}{for_markdown(item.sentence, spans=True)} {for_markdown(item.fix, spans=True)}"
        )
    return "\n".join([*lines, "", told.aside, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade, write, and end with 0 where the platform reads a document, else with the verdict's code."""
    platform, kata_id, folder, results = sys.argv[1:] if arguments is None else arguments
    catalog = load_catalog()
    told = outcome(Path(folder), catalog.get(kata_id), catalog)
    text = {"gradescope": gradescope, "prairielearn": prairielearn, "github": github}[platform](told)
    if results == "-":
        sys.stdout.write(text)
    else:
        write_whole(Path(results), text)
    if platform != "github":
        return ExitCode.PASSED
    return ExitCode.NOT_PASSED if told.grade is None else OF_VERDICT[told.grade.verdict]


def _json(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.exit(main())
