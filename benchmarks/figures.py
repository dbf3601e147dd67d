"""How the benchmarks measure and tell: each figure is a ratio to something measured beside it, in turns."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One line of the table. `value` is compared with `goal`: at most it, or at least it."""

    name: str
    value: float
    goal: float
    at_least: bool = False
    unit: str = "x"
    detail: str = ""

    @property
    def reached(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value <= self.goal


def paired(ours: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds of both, run in turns, so a busy machine slows both; the first round does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for place, work in enumerate((ours, other)):
            began = time.perf_counter()
            work()
            if number:
                times[place].append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])


def ratio(
    name: str, ours: Callable[[], object], other: Callable[[], object], goal: float, rounds: int
) -> Figure:
    """How many times as long ours takes."""
    mine, theirs = paired(ours, other, rounds)
    detail = f"{mine * 1e3:.0f} ms to {theirs * 1e3:.0f} ms"
    return Figure(name, mine / theirs, goal, detail=detail)


def table(figures: Sequence[Figure]) -> str:
    """For people."""
    width = max(len(figure.name) for figure in figures)
    lines = []
    for figure in figures:
        sign = "≥" if figure.at_least else "≤"
        verdict = "reached" if figure.reached else "MISSED"
        values = f"{figure.value:8.2f} {figure.unit:2} {sign} {figure.goal:<7g}"
        lines.append(f"{figure.name:{width}} {values} {verdict:8} {figure.detail}".rstrip())
    return "\n".join(lines)


def write_json(path: Path, figures: Sequence[Figure], more: Mapping[str, object]) -> None:
    """For programs: the figures and the machine."""
    machine = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
    }
    document = {"machine": machine, **more, "figures": [asdict(f) | {"reached": f.reached} for f in figures]}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
