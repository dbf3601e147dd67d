"""What confinement costs: a worker that confines itself beside one that does not, then a warm grade.

    python benchmarks/isolation.py [--rounds 200] [--grades 30]

One warm process with torch imported forks both kinds in turns, so a busy machine slows both; printed are
medians in milliseconds from the fork to the collected exit. Then an engine grades the solution of v3 at the
levels `process` and `strict` in turns. The last line is the cost of a worker's confinement as a share of a
warm grade: the goal is 10 ms and 10 %. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from grader.catalog import load_catalog
from grader.confine.apply import Prepared, confine, prepare
from grader.confine.policy import Level, worker_policy
from grader.engine.private import private_engine
from grader.records import Options, Submission

LEVELS: tuple[Level, ...] = ("process", "strict")


def milliseconds(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return (time.perf_counter() - begin) * 1e3


def fork(child: Callable[[], object]) -> None:
    """A child that does `child`, collected."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("a child failed: the numbers would say nothing")


def attention() -> None:
    """One forward and backward pass, (2, 16, 64), the size of a check."""
    layer = torch.nn.Linear(64, 64)
    x = torch.randn(2, 16, 64)
    (torch.softmax(layer(x) @ layer(x).transpose(-1, -2) / 8, dim=-1) @ layer(x)).sum().backward()


def workers(rounds: int, prepared: Prepared, work: Callable[[], object]) -> tuple[float, float]:
    """Median milliseconds of plain and of confined forks that do `work`."""

    def confined() -> None:
        confine(prepared)
        work()

    times = [(milliseconds(lambda: fork(work)), milliseconds(lambda: fork(confined))) for _ in range(rounds)]
    return statistics.median(plain for plain, _ in times), statistics.median(inside for _, inside in times)


def grades(rounds: int) -> dict[Level, float]:
    """Median milliseconds of a warm grade of v3's solution at each level."""
    catalog = load_catalog()
    kata = catalog.get("v3")
    answer = Submission(name=kata.file_name, source=kata.solution.read_bytes(), sha256="0" * 64)
    times: dict[Level, list[float]] = {level: [] for level in LEVELS}
    with private_engine(catalog) as engine:
        for level in LEVELS:
            engine.grade(answer, kata, catalog, Options(isolation=level))
        for _ in range(rounds):
            for level, taken in times.items():
                options = Options(isolation=level)
                taken.append(
                    milliseconds(lambda options=options: engine.grade(answer, kata, catalog, options))
                )  # type: ignore[misc]
    return {level: statistics.median(taken) for level, taken in times.items()}


def main(rounds: int, graded: int) -> None:
    torch.set_num_threads(1)
    attention()  # the first backward pass of a process costs a hundred times the second
    cost = 0.0
    print(f"{'level':10} {'in the worker':20} {'plain ms':>9} {'confined ms':>12} {'cost ms':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            begin = time.perf_counter()
            prepared = prepare(worker_policy(Path(folder), level=level))
            once = (time.perf_counter() - begin) * 1e3
            gc.collect()
            gc.freeze()
            for name, work in (("nothing", gc.isenabled), ("forward and backward", attention)):
                plain, inside = workers(rounds, prepared, work)
                cost = inside - plain
                print(f"{level:10} {name:20} {plain:9.2f} {inside:12.2f} {cost:8.2f}")
            print(f"{level:10} {'prepared once':20} {once:9.2f}")
            prepared.close()
    warm = grades(graded)
    for level, taken in warm.items():
        print(f"{level:10} {'a warm grade of v3':20} {taken:9.1f}")
    print(f"confinement: {cost:.1f} ms a worker, {cost / warm['strict']:.1%} of a warm grade")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--grades", type=int, default=30)
    asked = parser.parse_args()
    main(asked.rounds, asked.grades)
