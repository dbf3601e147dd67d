"""A cohort on a Dask cluster: two worker processes on this machine, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.cohort.cluster import run_on_cluster
from grader.cohort.entries import Entry, Result, Row
from grader.cohort.run import Stopped
from grader.cohort.work import Cohort, KeyFunction
from grader.errors import UsageError
from grader.records import Options
from tests.engine.answers import solution, submission, wrong
from tests.engine.conftest import runtime, shared  # noqa: F401 - fixtures
from tests.patience import until

WORKER = [
    sys.executable,
    "-m",
    "distributed.cli.dask_worker",
    "--nthreads",
    "2",
    "--nworkers",
    "1",
    "--no-nanny",
]


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / "scheduler.json"
        words = ["--scheduler-file", str(file)]
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._start(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", *options, *words], "scheduler"
        )
        until(file.exists)
        self.workers = [
            self._start([*WORKER, "--host", "127.0.0.1", "--no-dashboard", *words], f"worker{n}")
            for n in range(2)
        ]
        self.address = self._address(file)

    def _start(self, command: list[str], name: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)

    def _address(self, file: Path) -> str:
        import json

        from distributed import Client

        address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
        with Client(address) as client:
            client.wait_for_workers(2, timeout=60)
        return address

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(shared: object, tmp_path: Path) -> Iterator[Cluster]:  # noqa: ARG001, F811 - workers find its engine
    with closing(Cluster(tmp_path)) as started:
        yield started


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_no_submission_and_doubles_none(
    cluster: Cluster, catalog: Catalog
) -> None:
    entries = [
        Entry(name=f"{number}", file="", kata="v3", submission=answer)
        for number, answer in enumerate([solution(catalog, "v3"), wrong(catalog)] * 12)
    ]
    entries.append(Entry(name="broken", file="", reason="no kata"))
    results = []
    for result in run_on_cluster(
        entries, cluster.address, catalog, Options(seed=5), lambda entry: entry.name
    ):
        results.append(result)
        if len(results) == 6:
            os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert Counter(result.name for result in results) == Counter(entry.name for entry in entries)
    verdicts = {result.name: result.grade.verdict for result in results if result.grade is not None}
    assert verdicts == {str(number): "passed" if number % 2 == 0 else "failed" for number in range(24)}


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_run_and_keeps_what_is_done(
    cluster: Cluster, catalog: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(40):
        (folder / f"s{number}.py").write_bytes(solution(catalog, "v1").source)
    options = Options(seed=5)
    cohort = Cohort(tmp_path / "out", catalog, options, "1")

    def told() -> Iterator[Row]:
        def runner(todo: Iterable[Entry], keys: KeyFunction) -> Iterator[Result]:
            return run_on_cluster(todo, cluster.address, catalog, options, keys)

        for event in cohort.grade(["in"], tmp_path, runner):
            if isinstance(event, Row):
                yield event

    rows = told()
    for _ in range(3):
        assert next(rows).verdict == "passed"
    cluster.scheduler.kill()
    with pytest.raises(Stopped, match="has gone"):
        list(rows)
    shown = cohort.show()
    assert 3 <= len(shown.rows) == 40 - shown.left < 40
    assert {row.verdict for row in shown.rows} == {"passed"}


@pytest.mark.slow
def test_what_goes_wrong_on_a_machine_is_the_graders_fault(
    cluster: Cluster, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.cohort import cluster as module

    entry = Entry(name="a", file="", kata="v1", submission=submission(b"class SelfAttentionV1: ..."))
    original = module.Task
    monkeypatch.setattr(module, "Task", lambda **words: original(**words, version="0.0"))
    [result] = run_on_cluster([entry], cluster.address, catalog, Options(), lambda entry: entry.name)
    assert result.grade is not None
    assert result.grade.verdict == "grader_error"
    assert "Install the same version" in (result.grade.reason or "")


def test_without_a_scheduler_it_is_wrong_usage(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.cohort.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(UsageError, match="no Dask scheduler"):
        list(run_on_cluster([], "tcp://127.0.0.1:1", catalog, Options(), lambda entry: entry.name))
