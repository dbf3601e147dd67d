"""A grade without the engine, in an interpreter of its own: torch first, then the worker, then the judge.

For a fresh interpreter (`subprocess_grade.py`): it holds nothing of the caller's, and when the judge misses
its deadline it is that interpreter which ends. Where forking with torch is safe (Linux) the worker is a
fork, made before the request is read and before anything of the judge is imported; elsewhere it is one more
interpreter.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

from grader.confine.policy import Level
from grader.confine.process import harden_judge
from grader.engine import deadline
from grader.engine.messages import Answer, Request
from grader.handles import WorkerHandle
from grader.records import Grade, Trial

START_SECONDS = 120.0  # for a worker in a fresh interpreter: `import torch` from a cold disk


@contextlib.contextmanager
def cold_worker(level: Level, deny: tuple[str, ...]) -> Iterator[WorkerHandle]:
    """A worker that inherits nothing of anybody's: neither request nor judge are here yet."""
    from grader.engine.launch import Launcher, spawn_worker, temporary_folder

    harden_judge()
    with temporary_folder() as folder:
        if sys.platform != "linux":
            yield spawn_worker(folder, level, deny)
            return
        launcher = Launcher(folder, deny)
        try:
            launcher.prepare(level)  # before the second and a half that torch takes
            _import_third_parties()
            handle = launcher.fork(level)
        finally:
            launcher.close()
        yield handle


def answer_cold(request: Request, handle: WorkerHandle) -> Answer:
    """What a request asks for, in this process, the candidate in `handle`'s."""
    return Answer(trial=_trial(request, handle)) if request.trial else Answer(grade=_grade(request, handle))


def _grade(request: Request, handle: WorkerHandle) -> Grade:
    from grader.judge.session import judge

    work, total = (request.submission, request.kata, request.catalog, handle), request.total_seconds
    deadline.begin(request.kata, total, START_SECONDS)
    grade = judge(*work, seed=request.seed(), total_seconds=total, extra=request.extra())
    deadline.end()
    return grade


def _trial(request: Request, handle: WorkerHandle) -> Trial:
    from grader.judge.trial import try_out

    work, total = (request.submission, request.kata, request.catalog, handle), request.total_seconds
    deadline.begin(request.kata, total, START_SECONDS)
    trial = try_out(*work, total_seconds=total, measure=request.measured)
    deadline.end()
    return trial


def _import_third_parties() -> None:
    """torch and pytest, once for both sides, without the collector walking over every new object."""
    enabled = gc.isenabled()
    gc.disable()
    import pytest  # noqa: F401
    import safetensors.torch  # noqa: F401
    import torch

    import grader.worker.main  # noqa: F401

    torch.set_num_threads(1)
    gc.freeze()
    if enabled:
        gc.enable()
