"""The records of a cohort: who handed in what, and what came of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Literal

from grader.records import Grade, Record, Submission

VERSION = 2
_LONGEST_NAME = 48
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

Identity = tuple[str, str, str]  # student, kata and file; a file that is not graded has no kata


class Origin(Record):
    """What the platform wrote about a file beside its owner's name; all of it may be missing."""

    id: str = ""
    email: str = ""
    submitted: str = ""  # ISO 8601, with the offset; only from what a platform wrote, never from the file
    late: bool = False  # the platform's own mark
    attempt: int = 0  # counted from 1; 0 is unknown
    unit: str = ""  # the platform's folder or file, as feedback has to be named


class Entry(Record):
    """One file and one kata that it answers. `student` is whose it is, `name` how people are told of it.

    Without a `submission` or a `kata` it cannot be graded: `reason` says why. What is `aside` never was an
    answer, such as the tests of a clone.
    """

    name: str
    file: str
    student: str = ""
    kata: str | None = None
    submission: Submission | None = None
    reason: str | None = None
    aside: bool = False
    origin: Origin = Origin()

    @property
    def identity(self) -> Identity:
        return self.student or self.name, self.kata or "", self.file


class Result(Record):
    """What came of one entry: a line of results.jsonl. `key` is of all that decides a grade but chance.

    `skipped` ones have no grade: no kata's answer, or none that can be read. `aside` was no answer at all.
    `gone` says of an earlier line that its file is no longer there: the grade stays, for what it is worth.
    """

    name: str
    file: str
    status: Literal["graded", "skipped", "aside", "gone"]
    student: str = ""
    version: int = VERSION
    key: str = ""
    kata: str | None = None
    reason: str | None = None
    grade: Grade | None = None
    origin: Origin = Origin()

    @property
    def identity(self) -> Identity:
        return self.student or self.name, self.kata or "", self.file


class Row(Record):
    """What the tables and the page show of a result; small, because there may be thousands."""

    name: str
    file: str
    slug: str
    kata: str | None
    verdict: str
    student: str = ""
    points: int = 0
    max_points: int = 0
    seconds: float = 0.0
    seed: int = 0
    sha256: str = ""
    reason: str = ""
    gone: bool = False
    mistakes: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    concepts: tuple[tuple[str, str, int], ...] = ()  # id, status and points
    origin: Origin = Origin()

    @classmethod
    def of(cls, result: Result, *, gone: bool = False) -> Row:
        grade = result.grade
        student = result.student or result.name
        if grade is None:
            return cls(
                name=result.name,
                file=result.file,
                student=student,
                slug=slug(result),
                kata=result.kata,
                verdict="aside" if result.status == "aside" else "skipped",
                reason=result.reason or "",
                origin=result.origin,
            )
        return cls(
            name=result.name,
            file=result.file,
            student=student,
            slug=slug(result),
            kata=grade.kata,
            verdict=grade.verdict,
            points=grade.points,
            max_points=grade.max_points,
            seconds=grade.seconds.get("total", 0.0),
            seed=grade.seed,
            sha256=grade.source.sha256 if grade.source else "",
            reason=grade.reason or "",
            gone=gone,
            mistakes=tuple(label for item in grade.diagnosis for label in item.mistakes),
            sentences=tuple(item.sentence for item in grade.diagnosis),
            lines=tuple(item.line for item in grade.diagnosis if item.line),
            concepts=tuple((concept.id, concept.status, concept.points) for concept in grade.concepts),
            origin=result.origin,
        )

    @property
    def has_verdict(self) -> bool:
        """Whether there is a grade that says something about the answer."""
        return self.verdict in ("passed", "failed", "unrunnable")


def slug(result: Result) -> str:
    """A file name of its own for the result, made of harmless characters only; the same in every run."""
    shown = safe_name(result.name)
    student, kata, file = result.identity
    words = "\0".join((student, file, kata))
    digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    return "-".join(filter(None, (shown, kata, digest[:8])))


def safe_name(text: str) -> str:
    """At most so much of the text as a file's name, of harmless characters; never empty."""
    return _UNSAFE.sub("-", text).strip("-.")[:_LONGEST_NAME] or "answer"


def several(names: Sequence[str], most: int) -> str:
    """The names for a sentence; of more than `most`, how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
