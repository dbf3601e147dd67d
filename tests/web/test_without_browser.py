"""Without a browser its tests are left out, and a line says so; where one is demanded, the run fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browsers import REQUIRED
from tests.packaging.project import ROOT
from tests.sampling import some


@pytest.mark.parametrize("required", some(1, [True, False]))
def test_tests_that_need_a_browser(tmp_path: Path, required: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if name != REQUIRED} | {
        "PATH": str(tmp_path)
    }
    if required:
        environment[REQUIRED] = "required"
    words = [sys.executable, "-m", "pytest", "tests/web/test_in_browser.py", "-n", "0"]
    run = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if required:
        assert run.returncode == pytest.ExitCode.USAGE_ERROR
        assert "there is no browser" in run.stderr
    else:
        assert run.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
        assert "need a browser and were left out: apt-get install chromium" in run.stdout
