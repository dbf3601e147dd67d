"""What the cohorts are compared with has to run: the same checks, one pytest process for each answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalog import Catalog
from tests.sampling import one_in

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("kata", one_in(2, ["v4", "v1"]))
def test_the_plain_grader_runs_all_checks(
    catalog: Catalog, kata: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    from benchmarks.cohorts import ONE_PYTEST

    done = subprocess.run(
        [sys.executable, "-c", ONE_PYTEST, str(catalog.get(kata).solution), kata],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
