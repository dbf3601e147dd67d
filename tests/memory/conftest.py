"""A history that is written day by day."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from grader.catalog import Catalog
from grader.history import Attempt, History
from grader.interview.store import InterviewStore
from grader.memory.schedule import Memory, memories
from grader.memory.sittings import Sitting, sittings
from grader.records import Diagnosis, Grade, Submission

START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
PATH = Path("/desk/answer.py")


class Diary:
    """What a candidate did, with a clock that only `wait` moves."""

    def __init__(self, path: Path, catalog: Catalog, make_grade: Callable[..., Grade]) -> None:
        self.now = START
        self.catalog = catalog
        self.history = History(path, lambda: self.now)
        self.interviews = InterviewStore(path)
        self._make_grade = make_grade

    def close(self) -> None:
        self.history.close()
        self.interviews.close()

    def wait(self, *, days: float = 0, minutes: float = 0) -> None:
        self.now += timedelta(days=days, minutes=minutes)

    def start(self, kata: str) -> None:
        self.history.record_start(kata, PATH, "reset")

    def grade(
        self,
        kata: str,
        missed: tuple[str, ...] = (),
        *,
        reached: tuple[str, ...] | None = None,
        origin: str = "grade",
        text: str | None = None,
        mistakes: tuple[str, ...] = (),
        path: Path | None = PATH,
    ) -> Attempt:
        """Grade something; each content is another unless `text` says otherwise."""
        grade = self._make_grade(kata, missed=missed)
        if reached is not None:
            concepts = tuple(
                concept
                if concept.id in reached
                else msgspec.structs.replace(concept, status="not_reached", points=0)
                for concept in grade.concepts
            )
            grade = msgspec.structs.replace(grade, concepts=concepts, verdict="failed")
        if mistakes:
            found = tuple(
                Diagnosis(mistakes=(label,), concept="scale", sentence=f"You made {label}.", fix="Mend it.")
                for label in mistakes
            )
            grade = msgspec.structs.replace(grade, diagnosis=found)
        sha256 = hashlib.sha256((text or f"{self.now} {len(self.history.attempts())}").encode()).hexdigest()
        submission = Submission(name="answer.py", source=b"x", sha256=sha256)
        return self.history.record_attempt(grade, submission, path, origin)

    def sitting(self, kata: str, missed: tuple[str, ...] = (), *, minutes: float = 10) -> None:
        """Begin anew and submit after so many minutes."""
        self.start(kata)
        self.wait(minutes=minutes)
        self.grade(kata, missed)

    def sittings(self) -> tuple[Sitting, ...]:
        return sittings(self.catalog, self.history, self.interviews)

    def ratings(self) -> list[dict[str, str]]:
        return [dict(sitting.ratings) for sitting in self.sittings()]

    def memories(self) -> dict[str, Memory]:
        return memories(self.sittings(), self.now)


@pytest.fixture
def diary(home: Path, catalog: Catalog, make_grade: Callable[..., Grade]) -> Iterator[Diary]:
    opened = Diary(home / "kata" / "history.db", catalog, make_grade)
    yield opened
    opened.close()
