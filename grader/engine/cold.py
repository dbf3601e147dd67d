"""A grade without the engine, in an interpreter of its own: torch first, then the worker, then the judge.

For a fresh interpreter (`once.py`): it holds nothing of the caller's, and when the judge misses its deadline
it is that interpreter which ends. Where forking with torch is safe (Linux) the worker is a fork, made before
the request is read and before anything of the judge is imported; elsewhere it is one more interpreter.
"""

from __future__ import annotations

import contextlib
import gc
import random
import sys
from collections.abc import Iterator

from grader.catalog import Catalog, Kata
from grader.confine.policy import Level
from grader.confine.process import harden_judge
from grader.engine import deadline
from grader.grading import Options
from grader.handles import WorkerHandle
from grader.records import Grade, Submission

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


def grade_cold(
    submission: Submission, kata: Kata, catalog: Catalog, options: Options, handle: WorkerHandle
) -> Grade:
    """Grade in this process, the candidate in `handle`'s."""
    seed = random.SystemRandom().randrange(1, 2**31) if options.seed is None else options.seed
    total = kata.deadlines.total if options.total_seconds is None else options.total_seconds
    from grader.judge.session import judge

    deadline.begin(kata, total, START_SECONDS)
    grade = judge(submission, kata, catalog, handle, seed=seed, total_seconds=total)
    deadline.end()
    return grade


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
