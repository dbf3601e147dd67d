"""Plays in processes of their own: `python -m grader.linting.oracle_pool` plays a `Part`, trial by trial.

A fresh interpreter, not a fork: the caller runs threads.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from grader.catalog import Catalog
from grader.errors import GraderFault
from grader.linting.records import Trial
from grader.packs import load_roots
from grader.records import Record


class Part(Record):
    """What one process plays: places in the catalogues of these katas."""

    roots: tuple[str, ...]
    places: dict[str, tuple[int, ...]]
    seed: int


def parts(catalog: Catalog, places: dict[str, tuple[int, ...]], count: int, seed: int) -> tuple[Part, ...]:
    """All places dealt out to `count` processes, alike in length."""
    return tuple(
        Part(
            roots=tuple(map(str, catalog.roots)),
            seed=seed,
            places={kata: of[start::count] for kata, of in places.items()},
        )
        for start in range(count)
    )


def play_apart(part: Part, tried: Callable[[], None] = lambda: None) -> tuple[Trial, ...]:
    """The trials of a part, in a process of its own; `tried` hears of each."""
    trials = []
    with tempfile.TemporaryFile() as said:
        command = [
            sys.executable,
            "-P",
            "-m",
            "grader.linting.oracle_pool",
            msgspec.json.encode(part).decode(),
        ]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                trials.append(msgspec.json.decode(line, type=Trial))
                tried()
        said.seek(0)
        last = said.read().decode(errors="replace").strip().splitlines()[-1:]
    if process.returncode:
        raise GraderFault(f"The catalogue could not be judged: {' '.join(last)}", "Please report this.")
    return tuple(trials)


def main() -> None:
    """The part of the command line; a trial a line on standard output."""
    import torch

    from grader.judge.content import load_content
    from grader.linting.oracle_trials import play

    part = msgspec.json.decode(sys.argv[1], type=Part)
    torch.set_num_threads(1)
    catalog = load_roots([Path(root) for root in part.roots])
    contents = {name: load_content(catalog.get(name), catalog) for name in part.places}
    gc.collect()
    gc.freeze()
    for name, wanted in part.places.items():
        for trial in play(contents[name], wanted, part.seed):
            sys.stdout.buffer.write(msgspec.json.encode(trial) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
