"""Whatever stands in an answer, it is read in one go: every pattern, and every function that takes its text.

The patterns are found in the program's own text, so that a new one is tried by itself. All runs in a process
that has seconds of processor time for each: what backtracks is ended by the kernel, and its name stands last.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import hostile_text
from tests.sampling import some

ROOT = Path(__file__).parent.parent


# The whole at every size is slow; what backtracks shows at a sixteenth of it as well.
SIZES = [hostile_text.SIZE // 16, pytest.param(hostile_text.SIZE, marks=pytest.mark.slow)]


def ran(part: str, size: int) -> list[str]:
    command = [sys.executable, "-m", "tests.hostile_text", "--size", str(size), part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended at {done.stdout.splitlines()[-1:]}: {done.stderr[-2000:]}"
    return done.stdout.splitlines()


@pytest.mark.parametrize("size", SIZES)
def test_every_pattern_reads_in_one_go(size: int) -> None:
    found = [str(used) for used in hostile_text.used_patterns()]
    assert len(found) > 40
    assert ran("patterns", size) == found


def test_no_pattern_is_out_of_sight() -> None:
    """A pattern that is put together at run time belongs to a function that is tried below."""
    assert hostile_text.unseen_patterns() == hostile_text.TRIED_WITH_THEIR_FUNCTION


@pytest.mark.parametrize("size", SIZES)
def test_every_reader_of_an_answer_reads_in_one_go(size: int) -> None:
    assert ran("readers", size) == list(hostile_text.READERS)


@pytest.mark.parametrize("pattern", some(1, [r"out\w*\s*=\s*nn\.Linear", r"self(\.\w+)*\.train\("]))
def test_what_backtracks_is_found(pattern: str) -> None:
    command = [sys.executable, "-m", "tests.hostile_text", "one", pattern]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode < 0
