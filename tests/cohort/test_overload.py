"""A machine with far more to do than it can: no answer pays for that, and no engine is taken for lost."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.cohort.entries import Row
from grader.cohort.run import grading, run
from grader.cohort.work import Cohort, Finished
from grader.engine.private import private_engine
from grader.records import Options
from tests.load import busy

LOOPS = 20  # for each processor
ANSWERS = 24


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="engines are there on Linux")
def test_at_a_load_of_forty_every_answer_has_its_verdict(
    catalog: Catalog, tmp_path: Path, write: Callable[[str, str | bytes], Path]
) -> None:
    right = catalog.get("v1").solution.read_bytes()
    for number in range(ANSWERS):
        write(f"in/s{number}.py", right + f"\n# {number}\n".encode())
    options = Options()
    cohort = Cohort(tmp_path / "out", catalog, options, "1")
    with private_engine(catalog) as engine, busy(LOOPS * (os.cpu_count() or 1)):
        host = engine.pid
        events = list(
            cohort.grade(
                ["in"],
                tmp_path,
                lambda todo, keys: run(todo, grading(engine.grade, catalog, options, keys), 6),
            )
        )
        assert engine.pid == host
    assert isinstance(events[-1], Finished)
    assert Counter(row.verdict for row in events[-1].rows) == {"passed": ANSWERS}
    assert len({row.file for row in events if isinstance(row, Row)}) == ANSWERS
