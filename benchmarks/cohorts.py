"""Whole cohorts through one engine: rate, cost as it grows, memory, and what is left behind."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from figures import Figure

from grader.catalog import Catalog, load_catalog
from grader.cohort.entries import Entry
from grader.cohort.run import grading, run, usual_jobs
from grader.cohort.store import grader_digest
from grader.cohort.work import Cohort, Finished, Row
from grader.engine.private import PrivateEngine, private_engine
from grader.records import Options, Submission

DEADLINE = 2.0
HANGS_EVERY = 100
LEAK_ROUNDS = 200

# What an autograder usually is: a process that imports PyTorch and pytest, and runs the checks on one answer.
ONE_PYTEST = """
import sys
from pathlib import Path
import torch
from grader.catalog import load_catalog
from grader.judge.instruments import Bench
from grader.judge.candidate import Candidate
from grader.judge.content import load_content
from grader.judge.plugin import run_checks
from grader.protocol import PREFIX, encode, frame_lengths
from grader.worker.main import Worker

class InProcess:
    def __init__(self):
        self.worker = Worker()
    def post(self, request, tensors, seconds):
        frame = encode(request, tensors)
        header, _ = frame_lengths(frame[:PREFIX.size])
        answer = self.worker.answer(frame[PREFIX.size:PREFIX.size + header], frame[PREFIX.size + header:])
        return lambda: answer

path, kata = Path(sys.argv[1]), sys.argv[2]
catalog = load_catalog()
content = load_content(catalog.get(kata), catalog)
source = path.read_bytes()
candidate = Candidate(content, InProcess(), 1, source, path.name)
if candidate.load_problem is None and candidate.rig().problem is None:
    run_checks(content.checks, Bench.around(candidate, source.decode()))
"""


def answers(catalog: Catalog, count: int) -> Iterator[Entry]:
    """v1 to v4, right and wrong in many ways, each with a text of its own; one in a hundred hangs."""
    kinds: list[tuple[str, str]] = []
    for kata in catalog.katas:
        right = kata.solution.read_text(encoding="utf-8")
        kinds.append((kata.id, right))
        for old, new in WRONG:
            if old in right:
                kinds.append((kata.id, right.replace(old, new)))
    for number in range(count):
        kata_id, text = kinds[number % len(kinds)]
        if number % HANGS_EVERY == HANGS_EVERY - 1:
            text = text.replace(
                "def forward(",
                "def forward(self, *_):\n        while True:\n            pass\n\n    def unused(",
            )
        source = f"{text}\n# {number}\n".encode()
        submission = Submission(name="answer.py", source=source, sha256=hashlib.sha256(source).hexdigest())
        yield Entry(name=f"answer {number}", file="", kata=kata_id, submission=submission)


WRONG = (
    ("math.sqrt(self.hidden_dim)", "self.hidden_dim"),
    ("math.sqrt(self.hidden_dim)", "1.0"),
    ("dim=-1", "dim=1"),
    (".masked_fill(attention_mask == 0", ".masked_fill(attention_mask != 0"),
    ("self.attention_dropout(", "("),
    ("class SelfAttention", "import nothing_like_this\nclass SelfAttention"),
    ("def forward(", "def froward("),
)


def graded(engine: PrivateEngine, catalog: Catalog, count: int) -> float:
    """Seconds for a cohort of that size, with reports, tables and page."""
    options = Options(total_seconds=DEADLINE, isolation="strict")
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as folder:
        cohort = Cohort(Path(folder), catalog, options, grader_digest(catalog.roots))
        roster = Path(folder) / "in"
        roster.mkdir()
        for number, entry in enumerate(answers(catalog, count)):
            assert entry.submission is not None
            (roster / f"{number:05}-{entry.kata}.py").write_bytes(entry.submission.source)
        began = time.perf_counter()
        faults = 0
        for event in cohort.grade(
            ["in"],
            Path(folder),
            lambda todo, keys: run(todo, grading(engine.grade, catalog, options, keys), usual_jobs()),
        ):
            faults += isinstance(event, Row) and event.verdict == "grader_error"
        assert isinstance(event, Finished)
        if faults:
            raise SystemExit(f"{faults} of {count} were faults of the grader: the numbers would say nothing")
        return time.perf_counter() - began


def one_by_one(catalog: Catalog, count: int) -> float:
    """Seconds for each of some answers, one pytest process after another."""
    times = []
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as folder:
        path = Path(folder) / "answer.py"
        for entry in answers(catalog, count):
            assert entry.submission is not None
            path.write_bytes(entry.submission.source)
            began = time.perf_counter()
            command = [sys.executable, "-c", ONE_PYTEST, str(path), str(entry.kata)]
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
    return median(times)


def rates(sizes: list[int]) -> list[Figure]:
    """The rate at the second size, and what one answer costs at each."""
    catalog = load_catalog()
    with private_engine(catalog) as engine:
        graded(engine, catalog, 20)
        naive = one_by_one(catalog, 24)
        costs, memories = [], []
        for size in sizes:
            costs.append(graded(engine, catalog, size) / size)
            memories.append(private_bytes(engine))
        naive = median([naive, one_by_one(catalog, 24)])
    at = 1 if len(sizes) > 1 else 0
    said = ", ".join(f"{size}: {cost * 1e3:.0f} ms" for size, cost in zip(sizes, costs, strict=True))
    figures = [
        Figure(f"grade-all, {sizes[at]} answers, a second", 1 / costs[at], 10, at_least=True, unit="/s"),
        Figure(
            "one pytest process for each",
            naive / costs[at],
            20,
            at_least=True,
            detail=f"{naive * 1e3:.0f} ms each",
        ),
    ]
    if len(sizes) > 1:
        figures.append(Figure("cost of one as the cohort grows", max(costs[1:]) / costs[0], 1.1, detail=said))
        grown = memories[-1] / memories[0]
        megabytes = " → ".join(f"{memory / 2**20:.0f} MB" for memory in memories)
        figures.append(Figure("engine's memory as the cohort grows", grown, 1.1, detail=megabytes))
    return figures


def leaks() -> list[Figure]:
    """What 200 grades leave behind, and what a worker has for itself at its largest."""
    catalog = load_catalog()
    options = Options(isolation="strict", total_seconds=DEADLINE)
    with private_engine(catalog) as engine:
        entries = list(answers(catalog, LEAK_ROUNDS + 10))
        grade = grading(engine.grade, catalog, options, lambda _: "")
        for entry in entries[:10]:
            grade(entry)
        assert engine.pid is not None
        before, largest = left(engine.pid), Largest(engine.pid)
        with largest:
            for entry in entries[10:]:
                grade(entry)
        threading.Event().wait(0.5)  # the last worker is collected after its answer was given
        after = left(engine.pid)
    more = sum(max(0, after[name] - before[name]) for name in before)
    said = ", ".join(f"{name} {before[name]} → {after[name]}" for name in before)
    megabytes = largest.bytes / 2**20
    return [
        Figure(f"left behind by {LEAK_ROUNDS} grades", more, 0, unit="", detail=said),
        Figure("a worker's own memory, the largest", megabytes, 60, unit="MB"),
    ]


def left(host: int) -> dict[str, int]:
    """Processes, descriptors and temporary files of an engine."""
    tree = family(host)
    return {
        "processes": len(tree),
        "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in tree),  # noqa: PTH208
        "files": sum(1 for _ in Path(f"/proc/{host}/cwd").resolve().rglob("*")),
    }


def family(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for parent in found:
        for thread in Path(f"/proc/{parent}/task").glob("*/children"):
            found += map(int, thread.read_text(encoding="ascii").split())
    return found


def private_bytes(engine: PrivateEngine) -> int:
    """What the engine holds for itself: its pages, each counted once."""
    assert engine.pid is not None
    return sum(rollup(pid, "Pss") for pid in family(engine.pid))


def rollup(pid: int, *fields: str) -> int:
    total = 0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    for line in lines:
        name, _, value = line.partition(":")
        if name in fields:
            total += int(value.split()[0]) * 1024
    return total


class Largest(threading.Thread):
    """Looks at the host's workers again and again, for the most that one has for itself."""

    def __init__(self, host: int) -> None:
        super().__init__(daemon=True)
        self.bytes = 0
        self._host = host
        self._stop_it = threading.Event()

    def run(self) -> None:
        while not self._stop_it.wait(0.01):
            children = (
                Path(f"/proc/{self._host}/task/{self._host}/children").read_text(encoding="ascii").split()
            )
            for pid in map(int, children[1:]):  # the first is the judges' template
                self.bytes = max(self.bytes, rollup(pid, "Private_Clean", "Private_Dirty"))

    def __enter__(self) -> Largest:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_it.set()
        self.join()
