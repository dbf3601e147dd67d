"""A folder of answers, and a stand-in for the grader that reads its verdict from the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog, Kata
from grader.cohort.entries import Entry, Result
from grader.cohort.gather import Wanted
from grader.cohort.run import grading, run
from grader.cohort.work import Cohort, Finished, KeyFunction
from grader.errors import GraderFault
from grader.records import Diagnosis, Grade, Options, Submission


def answer(kata: str, *missed: str, body: str = "...") -> str:
    return f"# {' '.join(missed)}\nclass SelfAttention{kata.upper()}: {body}\n"


class Grader:
    """The first line of an answer says which concepts are missed."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self._make_grade = make_grade
        self.asked: list[str] = []

    def __call__(self, submission: Submission, kata: Kata, *_: object) -> Grade:
        self.asked.append(submission.name)
        missed = submission.source.decode().splitlines()[0].split()[1:]
        if "fault" in missed:
            raise GraderFault("it broke", "Report it.")
        grade = self._make_grade(kata.id, missed=tuple(missed), source=submission.source.decode())
        diagnosis = tuple(
            Diagnosis(
                mistakes=(f"no_{name}",), concept=name, sentence=f"There is no {name}.", fix="Add it.", line=3
            )
            for name in missed
        )
        return msgspec.structs.replace(grade, diagnosis=diagnosis)


@pytest.fixture
def grader(make_grade: Callable[..., Grade]) -> Grader:
    return Grader(make_grade)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Put a file into the test's folder."""

    def write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def grade_all(tmp_path: Path, catalog: Catalog, grader: Grader) -> Callable[..., Finished]:
    """Grade the paths below the test's folder into its `out`; the last event."""

    def grade_all(
        *paths: str, code: str = "1", stop_after: int | None = None, output: str = "out",
        katas: tuple[str, ...] = (), **more: Any,
    ) -> Any:  # fmt: skip
        options = Options(**more.pop("options", {}))
        cohort = Cohort(tmp_path / output, catalog, options, code, more.pop("delivery", None))
        more["wanted"] = Wanted(katas=tuple(map(catalog.get, katas)))

        def runner(todo: list[Entry], keys: KeyFunction) -> Any:
            return run(todo, grading(grader, catalog, options, keys), 2)

        events: list[Any] = []
        for event in cohort.grade(paths, tmp_path, runner, **more):
            events.append(event)
            if stop_after is not None and len(events) > stop_after:
                break
        return events[-1]

    return grade_all


def result(name: str, grade: Grade | None = None, **more: Any) -> Result:
    status = "skipped" if grade is None else "graded"
    return Result(
        name=name, file=name, status=status, grade=grade, kata=grade.kata if grade else None, **more
    )
