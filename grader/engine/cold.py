"""A grade without the engine: import torch once, start the worker, then import the judge.

Where forking with torch is safe (Linux) the worker is a fork of this process, made before anything of the
judge or of a kata is imported; elsewhere, or when the judge is here already, it is a fresh interpreter.
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
from grader.grading import Options
from grader.handles import WorkerHandle
from grader.records import Grade, Submission


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

        grade = judge(submission, kata, catalog, handle, seed=seed, total_seconds=total)
    return _with_total(grade, time.perf_counter() - started)


def _start_worker(folder: Path, level: Level, deny: tuple[Path, ...]) -> WorkerHandle:
    from grader.engine.launch import Launcher, spawn_worker

    harden_judge()
    if sys.platform != "linux" or _judge_is_here():
        return spawn_worker(folder, level, deny)
    launcher = Launcher(folder, deny)
    try:
        launcher.prepare(level)  # before the second and a half that torch takes
        _import_third_parties()
        return launcher.fork(level)
    finally:
        launcher.close()


def _judge_is_here() -> bool:
    """Whether this process holds what a worker must not inherit."""
    return any(name.startswith(("grader.judge", "kata_content", "grader.authoring")) for name in sys.modules)


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
