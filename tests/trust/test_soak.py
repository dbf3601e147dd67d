"""Many hostile files through one engine: whatever they do, it stays as large as it was, and right."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.engine.messages import Request
from grader.engine.private import HostProcess
from grader.records import Options, Submission
from grader.snapshot import read_submission
from tests.engine.answers import patient
from tests.engine.cleared import children, descriptors, grade_and_clear, host_process
from tests.trust.arena import open_arena
from tests.trust.corpus import OWN, Case, load

ENDLESS = ("never_ends", "prints_for_ever", "right_but_too_slow")
MIB = 1 << 20


@dataclass(frozen=True)
class Size:
    """What an engine holds: private memory of its two processes, descriptors, processes, temporary files."""

    bytes: int
    descriptors: int
    processes: int
    files: int


def size(host: HostProcess, temporary: Path) -> Size:
    """When all grades are cleared away: the engine's two processes are all that it has."""
    gc.collect()
    pid = host.process.pid
    below = children(pid)
    tree = [pid, *below, *(child for parent in below for child in children(parent))]
    return Size(
        sum(_private_bytes(one) for one in tree[:2]),
        sum(descriptors(one) for one in (*tree[:2], os.getpid())),
        len(tree),
        len([*temporary.rglob("*")]),
    )


def _private_bytes(pid: int) -> int:
    """What it has written. Clean pages are of files: private when no other process happens to map them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_Dirty:"))


@pytest.fixture
def answers() -> Iterator[list[tuple[Case, Submission]]]:
    """Our own sample, armed."""
    with tempfile.TemporaryDirectory() as short:  # pytest's own paths are too long for a Unix socket
        Path(short).chmod(0o755)
        with open_arena(Path(short)) as arena:
            yield [(case, read_submission(arena.put(case.file))) for case in load(OWN)]


def soak(
    host: HostProcess, catalog: Catalog, answers: list[tuple[Case, Submission]], count: int
) -> list[str]:
    """Grade the files in turn, `count` times in all, three at once; what came out wrong."""

    def one(pair: tuple[Case, Submission]) -> str:
        case, answer = pair
        # Right answers have all the time that they need; those that use up any have little.
        options = Options(isolation="strict", total_seconds=0.5 if case.name in ENDLESS else None)
        grade = grade_and_clear(host, Request.of(answer, patient(catalog.get(case.kata)), catalog, options))
        right = (grade.verdict == "passed") is case.passes and grade.verdict != "grader_error"
        return "" if right else f"{case.name}: {grade.verdict}, {grade.reason}"

    with ThreadPoolExecutor(3) as threads:
        return [wrong for wrong in threads.map(one, islice(cycle(answers), count)) if wrong]


@pytest.mark.parametrize(
    ("each", "first", "then"),
    [(4, 10, 10), pytest.param(1, 200, 2000, marks=pytest.mark.slow)],
    ids=["short", "long"],
)
def test_nothing_grows(
    catalog: Catalog,
    answers: list[tuple[Case, Submission]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    each: int,
    first: int,
    then: int,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with host_process(catalog) as host:
        some = [pair for place, pair in enumerate(answers) if place % each == 0 or pair[0].name in ENDLESS]
        assert soak(host, catalog, some, first) == []
        before = size(host, temporary)
        assert soak(host, catalog, some, then) == []
        after = size(host, temporary)
    assert after.bytes < before.bytes + 8 * MIB
    assert (after.descriptors, after.processes, after.files) == (
        before.descriptors,
        before.processes,
        before.files,
    )
    assert list(temporary.iterdir()) == []
