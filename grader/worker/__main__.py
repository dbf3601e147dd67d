"""`python -m grader.worker CHANNEL OUTPUT LEVEL SCRATCH [DENIED…]`: a worker in an interpreter of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import get_args

import torch

from grader.confine.apply import Applied, confine, prepare
from grader.confine.policy import Level, worker_policy
from grader.worker.main import enter


def main(channel_fd: int, output_fd: int, level: Level, scratch: Path, *denied: str) -> None:
    def bind() -> Applied:
        prepared = prepare(worker_policy(scratch, denied, level))
        return confine(prepared, keep=(channel_fd, output_fd), parent=os.getppid())

    torch.set_num_threads(1)
    enter(channel_fd, output_fd, bind)


if __name__ == "__main__":
    channel, output, name, folder, *unnamed = sys.argv[1:]
    levels: dict[str, Level] = {level: level for level in get_args(Level)}
    main(int(channel), int(output), levels[name], Path(folder), *unnamed)
