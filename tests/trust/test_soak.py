"""Many hostile files through one engine: whatever they do, it stays as large as it was, and right."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import msgspec
import pytest

from grader.catalog import Catalog, Deadlines
from grader.engine.private import PrivateEngine, private_engine
from grader.grading import Options
from grader.records import Submission
from grader.snapshot import read_submission
from tests.trust.arena import open_arena
from tests.trust.corpus import OWN, Case, load

HANGS = ("never_ends", "prints_for_ever")
PATIENT = Deadlines(call=30.0, total=90.0)  # honest files that import much, on a busy machine
MIB = 1 << 20


@dataclass(frozen=True)
class Size:
    """What an engine holds: private memory of its two processes, descriptors, processes, temporary files."""

    bytes: int
    descriptors: int
    processes: int
    files: int


def size(engine: PrivateEngine, temporary: Path) -> Size:
    gc.collect()
    assert engine.pid is not None
    host = engine.pid
    tree = _tree(host)
    ends_at = time.monotonic() + 5.0
    while len(tree) > 2 and time.monotonic() < ends_at:  # the last judge is on its way out
        tree = _tree(host)
    own = tree[:2]
    return Size(
        sum(_private_bytes(pid) for pid in own),
        sum(len([*Path(f"/proc/{pid}/fd").iterdir()]) for pid in (*own, os.getpid())),
        len(tree),
        len([*temporary.rglob("*")]),
    )


def _tree(host: int) -> list[int]:
    below = _children(host)
    return [host, *below, *(child for parent in below for child in _children(parent))]


def _children(pid: int) -> list[int]:
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:  # it has ended
        return []
    return [int(word) for word in words]


def _private_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


@pytest.fixture
def answers() -> Iterator[list[tuple[Case, Submission]]]:
    """Our own sample, armed."""
    with tempfile.TemporaryDirectory() as short:  # pytest's own paths are too long for a Unix socket
        Path(short).chmod(0o755)
        with open_arena(Path(short)) as arena:
            yield [(case, read_submission(arena.put(case.file))) for case in load(OWN)]


def soak(
    engine: PrivateEngine, catalog: Catalog, answers: list[tuple[Case, Submission]], count: int
) -> list[str]:
    """Grade the files in turn, `count` times in all, three at once; what came out wrong."""

    def one(pair: tuple[Case, Submission]) -> str:
        case, answer = pair
        # The time of a grade that hangs is no matter here.
        options = Options(isolation="strict", total_seconds=0.5 if case.name in HANGS else 90.0)
        kata = msgspec.structs.replace(catalog.get(case.kata), deadlines=PATIENT)
        grade = engine.grade(answer, kata, catalog, options)
        right = (grade.verdict == "passed") is case.passes and grade.verdict != "grader_error"
        return "" if right else f"{case.name}: {grade.verdict}, {grade.reason}"

    with ThreadPoolExecutor(3) as threads:
        return [wrong for wrong in threads.map(one, islice(cycle(answers), count)) if wrong]


@pytest.mark.parametrize(
    ("first", "then"), [(20, 20), pytest.param(200, 2000, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_nothing_grows(
    catalog: Catalog,
    answers: list[tuple[Case, Submission]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: int,
    then: int,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with private_engine(catalog) as engine:
        assert soak(engine, catalog, answers, first) == []
        host, before = engine.pid, size(engine, temporary)
        assert soak(engine, catalog, answers, then) == []
        after = size(engine, temporary)
        assert engine.pid == host  # the same one all along
    assert after.bytes < before.bytes + 8 * MIB
    assert (after.descriptors, after.processes, after.files) == (
        before.descriptors,
        before.processes,
        before.files,
    )
    assert list(temporary.iterdir()) == []
