"""Plays in processes of their own: `python -m grader.linting.players` reads a `Part` and writes its trials.

A fresh interpreter, not a fork: the caller runs threads.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import msgspec

from grader.catalog import Catalog, load_catalog
from grader.errors import GraderFault
from grader.linting.records import Trial
from grader.records import Record


class Part(Record):
    """What one process plays: places in the catalogues of these katas."""

    root: str
    places: dict[str, tuple[int, ...]]
    seed: int


def parts(catalog: Catalog, places: dict[str, tuple[int, ...]], count: int, seed: int) -> tuple[Part, ...]:
    """All places dealt out to `count` processes, alike in length."""
    return tuple(
        Part(
            root=str(catalog.root), seed=seed, places={kata: of[start::count] for kata, of in places.items()}
        )
        for start in range(count)
    )


def play_apart(part: Part) -> tuple[Trial, ...]:
    """The trials of a part, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader.linting.players"],
        input=msgspec.json.encode(part),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise GraderFault(f"The catalogue could not be judged: {' '.join(last)}", "Please report this.")
    return msgspec.json.decode(done.stdout, type=tuple[Trial, ...])


def main() -> None:
    """Standard input to standard output."""
    import torch

    from grader.judge.content import load_content
    from grader.linting.plays import play

    part = msgspec.json.decode(sys.stdin.buffer.read(), type=Part)
    torch.set_num_threads(1)
    catalog = load_catalog(Path(part.root))
    contents = {name: load_content(catalog.get(name), catalog) for name in part.places}
    gc.collect()
    gc.freeze()
    trials = [
        trial for name, wanted in part.places.items() for trial in play(contents[name], wanted, part.seed)
    ]
    sys.stdout.buffer.write(msgspec.json.encode(trials))


if __name__ == "__main__":
    main()
