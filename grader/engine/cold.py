"""A grade without the engine: import torch once, start the worker, then import the judge.

For a fresh interpreter (`once.py`): it holds nothing of the caller's, and when the judge misses its deadline
it is that interpreter which ends. Where forking with torch is safe (Linux) the worker is a fork of this
process, made before anything of the judge or of a kata is imported; elsewhere it is one more interpreter.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from pathlib import Path

from grader import paths
from grader.catalog import Catalog, Kata
from grader.confine.policy import Level
from grader.confine.process import harden_judge
from grader.engine import deadline
from grader.grading import Options
from grader.handles import WorkerHandle
from grader.records import Grade, Submission

START_SECONDS = 120.0  # for a worker in a fresh interpreter: `import torch` from a cold disk


def grade_cold(submission: Submission, kata: Kata, catalog: Catalog, options: Options) -> Grade:
    """Grade in this process, the candidate in one of its own."""
    started = time.perf_counter()
    seed = random.SystemRandom().randrange(1, 2**31) if options.seed is None else options.seed
    total = kata.deadlines.total if options.total_seconds is None else options.total_seconds
    deny = (paths.home(), catalog.root)
    from grader.engine.launch import temporary_folder

    with temporary_folder() as folder:
        handle = _start_worker(folder, options.isolation, deny)
        from grader.judge.session import judge

        deadline.begin(kata, total, START_SECONDS)
        grade = judge(submission, kata, catalog, handle, seed=seed, total_seconds=total)
        deadline.end()
    return _with_total(grade, time.perf_counter() - started)


def _start_worker(folder: Path, level: Level, deny: tuple[Path, ...]) -> WorkerHandle:
    from grader.engine.launch import Launcher, spawn_worker

    harden_judge()
    if sys.platform != "linux":
        return spawn_worker(folder, level, deny)
    launcher = Launcher(folder, deny)
    try:
        launcher.prepare(level)  # before the second and a half that torch takes
        _import_third_parties()
        return launcher.fork(level)
    finally:
        launcher.close()


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


def _with_total(grade: Grade, seconds: float) -> Grade:
    import msgspec

    return msgspec.structs.replace(grade, seconds={"total": round(seconds, 4), **grade.seconds})
