"""A grade without the engine: import torch once, start the worker, then import the judge.

Where forking with torch is safe (Linux) the worker is a fork of this process, made before anything of the
judge or of a kata is imported; elsewhere, or when the judge is here already, it is a fresh interpreter.
"""

from __future__ import annotations

import gc
import random
import sys
import time

from grader.catalog import Catalog, Kata
from grader.grading import Options
from grader.handles import WorkerHandle
from grader.records import Grade, Submission


def grade_cold(submission: Submission, kata: Kata, catalog: Catalog, options: Options) -> Grade:
    """Grade in this process, the candidate in one of its own."""
    started = time.perf_counter()
    seed = random.SystemRandom().randrange(1, 2**31) if options.seed is None else options.seed
    total = kata.deadlines.total if options.total_seconds is None else options.total_seconds
    handle = _start_worker()
    from grader.judge.session import judge

    grade = judge(submission, kata, catalog, handle, seed=seed, total_seconds=total)
    return _with_total(grade, time.perf_counter() - started)


def _start_worker() -> WorkerHandle:
    if sys.platform == "linux" and not _judge_is_here():
        _import_third_parties()
        from grader.engine.launch import fork_worker

        return fork_worker()
    from grader.engine.launch import spawn_worker

    return spawn_worker()


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
