"""The records of a cohort: what is to be graded, and what came of it."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

from grader.records import Grade, Record, Submission

VERSION = 1
_LONGEST_NAME = 48
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Entry(Record):
    """One answer of the cohort. `file` says where it is from; `name` whose it is, as far as that is known.

    Without a `submission` or a `kata` it cannot be graded: `reason` says why.
    """

    name: str
    file: str
    kata: str | None = None
    submission: Submission | None = None
    reason: str | None = None


class Result(Record):
    """What came of one entry. `key` is of everything that decides a grade but chance.

    `skipped` ones have no grade: no kata's answer, or none that can be read.
    """

    name: str
    file: str
    status: Literal["graded", "skipped"]
    version: int = VERSION
    key: str = ""
    kata: str | None = None
    reason: str | None = None
    grade: Grade | None = None


class Row(Record):
    """What the tables and the page show of a result; small, because there may be thousands."""

    name: str
    file: str
    slug: str
    kata: str | None
    verdict: str
    points: int = 0
    max_points: int = 0
    seconds: float = 0.0
    seed: int = 0
    sha256: str = ""
    reason: str = ""
    mistakes: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    concepts: tuple[tuple[str, str], ...] = ()  # id and status

    @classmethod
    def of(cls, result: Result) -> Row:
        grade = result.grade
        if grade is None:
            return cls(
                name=result.name,
                file=result.file,
                slug=slug(result),
                kata=result.kata,
                verdict="skipped",
                reason=result.reason or "",
            )
        return cls(
            name=result.name,
            file=result.file,
            slug=slug(result),
            kata=grade.kata,
            verdict=grade.verdict,
            points=grade.points,
            max_points=grade.max_points,
            seconds=grade.seconds.get("total", 0.0),
            seed=grade.seed,
            sha256=grade.source.sha256 if grade.source else "",
            reason=grade.reason or "",
            mistakes=tuple(label for item in grade.diagnosis for label in item.mistakes),
            sentences=tuple(item.sentence for item in grade.diagnosis),
            lines=tuple(item.line for item in grade.diagnosis if item.line),
            concepts=tuple((concept.id, concept.status) for concept in grade.concepts),
        )


def slug(result: Result) -> str:
    """A file name of its own for the result, made of harmless characters only; the same in every run."""
    shown = _UNSAFE.sub("-", result.name).strip("-.")[:_LONGEST_NAME] or "answer"
    digest = hashlib.sha256(f"{result.name}\0{result.file}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{shown}-{digest[:8]}"
