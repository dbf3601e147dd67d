"""Two hundred grades through one engine: no process, descriptor or temporary file more than before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.engine.private import private_engine
from grader.grading import Options
from tests.engine.answers import HANGS, solution, submission, wrong
from tests.engine.test_daemon import until

DIES = b"import os\nos._exit(3)\n"
SCATTERS = b"import tempfile\nleft = [tempfile.mkdtemp() for _ in range(9)]\nraise SystemExit\n"


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in listed.split()]


def holdings(host: int) -> dict[str, int]:
    """What the host and its template hold when nothing is graded."""
    [template] = children(host)
    until(lambda: not children(template))
    return {
        "descriptors of the host": len(list(Path(f"/proc/{host}/fd").iterdir())),
        "descriptors of the template": len(list(Path(f"/proc/{template}/fd").iterdir())),
        "files": len(list(Path(f"/proc/{host}/cwd").resolve().rglob("*"))),
        "our descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208
    }


def grade_some(count: int, catalog: Catalog) -> tuple[dict[str, int], dict[str, int]]:
    """Holdings before and after `count` grades of all kinds; the first of each kind come before."""
    kinds = [
        (solution(catalog, "v1"), "v1", 10.0),
        (wrong(catalog), "v3", 10.0),
        (submission(DIES), "v1", 10.0),
        (submission(SCATTERS), "v1", 10.0),
        (submission(HANGS), "v1", 0.3),
    ]
    with private_engine(catalog) as engine:

        def grade(number: int) -> None:
            answer, kata, seconds = kinds[number % len(kinds)]
            engine.grade(answer, catalog.get(kata), catalog, Options(total_seconds=seconds))

        for number in range(len(kinds)):
            grade(number)
        host = engine.pid
        assert host is not None
        until(lambda: len(children(host)) == 1)
        before = holdings(host)
        for number in range(count):
            grade(number)
        assert engine.pid == host
        until(lambda: len(children(host)) == 1)
        return before, holdings(host)


def test_a_few_grades_of_every_kind_leave_nothing(catalog: Catalog) -> None:
    before, after = grade_some(5, catalog)
    assert after == before


@pytest.mark.slow
def test_two_hundred_grades_leave_nothing(catalog: Catalog) -> None:
    before, after = grade_some(200, catalog)
    assert after == before
