"""Two hundred grades through one engine: no process, descriptor or temporary file more than before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.engine.messages import Request
from grader.engine.private import HostProcess
from grader.records import Options
from tests.engine.answers import HANGS, solution, submission, wrong
from tests.engine.cleared import children, descriptors, grade_and_clear, host_process

DIES = b"import os\nos._exit(3)\n"
SCATTERS = b"import tempfile\nleft = [tempfile.mkdtemp() for _ in range(900)]\nraise SystemExit\n"


@pytest.fixture(scope="module")
def host(catalog: Catalog) -> Iterator[HostProcess]:
    with host_process(catalog) as started:
        yield started


def holdings(host: HostProcess) -> dict[str, int]:
    """What the host and its template hold when nothing is graded."""
    pid = host.process.pid
    template, *workers = children(pid)
    return {
        "descriptors of the host": descriptors(pid),
        "descriptors of the template": descriptors(template),
        "our descriptors": descriptors(os.getpid()),
        "workers": len(workers),
        "judges": len(children(template)),
        "files": len(list(Path(host.folder).rglob("*"))),
    }


def grade_some(host: HostProcess, count: int, catalog: Catalog) -> tuple[dict[str, int], dict[str, int]]:
    """Holdings before and after `count` grades of all kinds; the first of each kind come before."""
    kinds = [
        (solution(catalog, "v1"), "v1", 10.0),
        (wrong(catalog), "v3", 10.0),
        (submission(DIES), "v1", 10.0),
        (submission(SCATTERS), "v1", 10.0),
        (submission(HANGS), "v1", 0.3),
    ]

    def grade(number: int) -> None:
        answer, kata, seconds = kinds[number % len(kinds)]
        options = Options(total_seconds=seconds)
        grade_and_clear(host, Request.of(answer, catalog.get(kata), catalog, options))

    for number in range(len(kinds)):
        grade(number)
    before = holdings(host)
    for number in range(count):
        grade(number)
    return before, holdings(host)


def test_a_few_grades_of_every_kind_leave_nothing(host: HostProcess, catalog: Catalog) -> None:
    before, after = grade_some(host, 5, catalog)
    assert after == before


@pytest.mark.slow
def test_two_hundred_grades_leave_nothing(host: HostProcess, catalog: Catalog) -> None:
    before, after = grade_some(host, 200, catalog)
    assert after == before


def test_a_grade_is_cleared_away_when_what_came_beside_its_connection_is_closed(
    host: HostProcess, catalog: Catalog
) -> None:
    """It takes the host a while to remove so many files, and the client has its answer long before."""
    before = holdings(host)
    for _ in range(3):
        grade_and_clear(host, Request.of(submission(SCATTERS), catalog.get("v1"), catalog, Options()))
        assert holdings(host) == before
