"""`python -m grader.worker CHANNEL OUTPUT`: a worker in an interpreter of its own."""

from __future__ import annotations

import sys

import torch

from grader.worker.main import enter

if __name__ == "__main__":
    torch.set_num_threads(1)
    enter(int(sys.argv[1]), int(sys.argv[2]))
