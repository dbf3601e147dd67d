"""The corpora of answers as people write them, and what grading one of them came to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.records import Grade, Options, Submission

HERE = Path(__file__).parents[2]
SHARED = HERE.parent / "shared"
ROOTS = (HERE / "tests" / "corpus", SHARED / "corpus", SHARED / "corpus2")
GRADES_AT_ONCE = 2

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """A line of an `expected.jsonl`. `labels`: mistakes or the broken rule; a wrong answer may have none."""

    path: Path
    kata: str
    passes: bool
    labels: frozenset[str]

    @property
    def name(self) -> str:
        return "/".join(self.path.parts[-4:])


@dataclass(frozen=True)
class Judgement:
    """How one answer was graded, at which seed."""

    answer: Answer
    grade: Grade

    @property
    def named(self) -> frozenset[str]:
        return frozenset(label for found in self.grade.diagnosis for label in found.mistakes)

    @property
    def verdict_is_right(self) -> bool:
        expected = {"passed"} if self.answer.passes else {"failed", "unrunnable"}
        return self.grade.verdict in expected

    @property
    def labels_are_named(self) -> bool:
        return self.answer.labels <= self.named

    def __str__(self) -> str:
        wanted = "+".join(sorted(self.answer.labels)) or ("passed" if self.answer.passes else "not passed")
        got = "+".join(sorted(self.named)) or "no label"
        return f"{self.answer.name} (seed {self.grade.seed}): want {wanted}, got {self.grade.verdict}, {got}"


def answers() -> tuple[Answer, ...]:
    """Every answer of every corpus that is there, in a fixed order."""
    return tuple(answer for root in ROOTS if root.is_dir() for answer in answers_in(root))


def sample(of: Iterable[Answer], each: int) -> tuple[Answer, ...]:
    """`each` right and `each` wrong answers of every level, spread evenly over what there is."""
    groups: dict[tuple[str, bool], list[Answer]] = {}
    for answer in of:
        groups.setdefault((answer.kata, answer.passes), []).append(answer)
    return tuple(answer for group in groups.values() for answer in spread(group, each))


def spread(of: Sequence[T], number: int) -> tuple[T, ...]:
    """`number` of them, spread evenly."""
    return tuple(of[place * len(of) // number] for place in range(number))


def judge(
    engine: PrivateEngine, catalog: Catalog, chosen: Iterable[Answer], seeds: Iterable[int]
) -> list[Judgement]:
    """Grade each answer at each seed, a few at once."""

    def one(task: tuple[Answer, int]) -> Judgement:
        answer, seed = task
        source = answer.path.read_bytes()
        digest = hashlib.sha256(source).hexdigest()
        submission = Submission(name=answer.path.name, source=source, sha256=digest)
        return Judgement(
            answer, engine.grade(submission, catalog.get(answer.kata), catalog, Options(seed=seed))
        )

    chosen = tuple(chosen)
    with ThreadPoolExecutor(GRADES_AT_ONCE) as pool:
        return list(pool.map(one, [(answer, seed) for seed in seeds for answer in chosen]))


def answers_in(root: Path, rows: str = "expected.jsonl") -> Iterator[Answer]:
    """The answers that a file of rows lists."""
    for line in (root / rows).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        label = row["mistake"] or row["rule"]
        yield Answer(
            path=root / row["file"],
            kata=row["kata"],
            passes=row["verdict"] == "right" and not row["rule"],
            labels=frozenset(label.split("+")) if label else frozenset(),
        )
