"""What confinement costs a worker: forks that confine themselves beside forks that do not, in one run.

    python benchmarks/confine_cost.py [rounds]

Both kinds are forked by one warm process with torch imported, in turns, so a busy machine slows both.
Printed are medians in milliseconds from the fork to the collected exit, and their ratio; then the same with a
forward and a backward pass in the fork, which is what the cost should be seen against. Linux only.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from grader.confine.apply import Prepared, confine, prepare
from grader.confine.policy import Level, worker_policy

ROUNDS = 200


def milliseconds(child: Callable[[], object]) -> float:
    """From fork to collected exit of a child that does `child`."""
    begin = time.perf_counter()
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
    return (time.perf_counter() - begin) * 1e3


def attention() -> None:
    """One forward and backward pass, (2, 16, 64), the size of a check."""
    layer = torch.nn.Linear(64, 64)
    x = torch.randn(2, 16, 64)
    (torch.softmax(layer(x) @ layer(x).transpose(-1, -2) / 8, dim=-1) @ layer(x)).sum().backward()


def compare(rounds: int, prepared: Prepared, work: Callable[[], object]) -> tuple[float, float]:
    """Median milliseconds of plain and of confined forks that do `work`."""

    def confined() -> None:
        confine(prepared)
        work()

    plain: list[float] = []
    inside: list[float] = []
    for _ in range(rounds):
        plain.append(milliseconds(work))
        inside.append(milliseconds(confined))
    return statistics.median(plain), statistics.median(inside)


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(1)
    attention()  # the first backward pass of a process costs a hundred times the second
    levels: tuple[Level, ...] = ("strict", "process")
    print(f"{'level':10} {'in the fork':20} {'plain ms':>9} {'confined ms':>12} {'ratio':>6} {'cost ms':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for level in levels:
            policy = worker_policy(Path(folder), level=level)
            begin = time.perf_counter()
            prepared = prepare(policy)
            once = (time.perf_counter() - begin) * 1e3
            gc.collect()
            gc.freeze()
            for name, work in (("nothing", gc.isenabled), ("forward and backward", attention)):
                plain, inside = compare(rounds, prepared, work)
                ratio = inside / plain
                print(f"{level:10} {name:20} {plain:9.2f} {inside:12.2f} {ratio:6.2f} {inside - plain:8.2f}")
            print(f"{level:10} {'prepared once':20} {once:9.2f} ms")
            prepared.close()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
