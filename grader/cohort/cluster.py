"""A cohort on a Dask cluster: the same grade, on whichever machine has room. Extra `attention-kata[cluster]`.

A task runs in a thread of a Dask worker, which must never fork: it asks its machine's engine, and starts one
for the tasks that come after, or takes a fresh interpreter. Every machine grades with its own katas. What a
lost worker had begun, Dask gives to another; results are counted by entry here, so each is there once. A lost
scheduler ends the run as an interruption would: what is done stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from grader import __version__
from grader.cohort.entries import Entry, Result
from grader.cohort.run import Stopped, fault, graded, skipped
from grader.errors import GraderFault, KataError, UsageError
from grader.records import Grade, Options, Record, Submission

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Future

    from grader.catalog import Catalog

CONNECT_SECONDS = 10.0
AHEAD = 8  # tasks given out for each thread of the cluster


class Task(Record):
    """What is sent to a worker. The version is checked there: two graders would give two kinds of grades."""

    submission: Submission
    kata: str
    options: Options
    version: str = __version__


class Outcome(Record):
    """What comes back: a grade, or the grader's fault."""

    grade: Grade | None = None
    message: str = ""
    fix: str = ""


def grade_task(document: bytes) -> bytes:
    """Runs on a worker of the cluster. Bytes in and bytes out, so that only this name is pickled."""
    from grader.engine.messages import Request
    from grader.engine.running import Running
    from grader.engine.shared import SharedEngine
    from grader.packs import load_all

    try:
        task = msgspec.msgpack.decode(document, type=Task)
        if task.version != __version__:
            raise GraderFault(
                f"A machine of the cluster has attention-kata {__version__}, not {task.version}.",
                "Install the same version everywhere.",
            )
        catalog = load_all()
        request = Request.of(task.submission, catalog.get(task.kata), catalog, task.options)
        engine = SharedEngine.of(os.environ, catalog.roots) if task.options.engine else None
        outcome = Outcome(grade=Running(request, engine).result())
    except KataError as problem:
        outcome = Outcome(message=problem.message, fix=problem.fix)
    return msgspec.msgpack.encode(outcome)


def run_on_cluster(
    entries: Iterable[Entry], scheduler: str, catalog: Catalog, options: Options, keys: Callable[[Entry], str]
) -> Iterator[Result]:
    """The results in the order in which they come. Raises `UsageError` when there is no such cluster."""
    try:
        from distributed import Client, as_completed
        from distributed.client import ClosedClientError
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise UsageError(
            "A cluster needs Dask, which is not installed here.", "pip install 'attention-kata[cluster]'"
        ) from error
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(
            f"There is no Dask scheduler at {scheduler}: {error}", "Start one: dask scheduler"
        ) from error
    lost = Stopped(f"The Dask scheduler at {scheduler} has gone.")
    with client:
        waiting: dict[str, Entry] = {}
        left = iter(entries)
        results = as_completed()
        try:
            yield from _give_out(client, left, results, waiting, options, _room(client))
            for future in results:
                if future.cancelled():  # nobody here cancels any: the connection was lost
                    raise lost
                yield _result(future, waiting.pop(future.key), catalog, options, keys)
                yield from _give_out(client, left, results, waiting, options, 1)
        except (ClosedClientError, CommClosedError) as error:
            raise lost from error


def _room(client: object) -> int:
    threads: dict[str, int] = client.nthreads()  # type: ignore[attr-defined]
    return max(1, sum(threads.values())) * AHEAD


def _give_out(
    client: object,
    left: Iterator[Entry],
    results: object,
    waiting: dict[str, Entry],
    options: Options,
    count: int,
) -> Iterator[Result]:
    """As many tasks as there is room for; entries that cannot be graded are results at once."""
    for entry in left:
        if entry.submission is None or entry.kata is None:
            yield skipped(entry)
            continue
        task = Task(submission=entry.submission, kata=entry.kata, options=options)
        document = msgspec.msgpack.encode(task)
        future = client.submit(grade_task, document, pure=False, retries=2)  # type: ignore[attr-defined]
        waiting[future.key] = entry
        results.add(future)  # type: ignore[attr-defined]
        count -= 1
        if not count:
            return


def _result(
    future: Future[Any], entry: Entry, catalog: Catalog, options: Options, keys: Callable[[Entry], str]
) -> Result:
    kata = catalog.get(entry.kata or "")
    error = future.exception()
    if error is not None:
        problem = GraderFault(f"The cluster lost it: {type(error).__name__}: {error}", "Run it again.")
        return graded(entry, fault(kata, problem, options), keys(entry))
    outcome = msgspec.msgpack.decode(future.result(), type=Outcome)
    if outcome.grade is None:
        problem = GraderFault(outcome.message, outcome.fix)
        return graded(entry, fault(kata, problem, options), keys(entry))
    return graded(entry, outcome.grade, keys(entry))
