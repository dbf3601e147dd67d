"""The command that runs others beside busy loops."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.engine.cleared import children
from tests.load import main


def test_a_command_runs_as_often_as_is_asked_and_the_loops_end_with_it(tmp_path: Path) -> None:
    before = children(os.getpid())
    counting = [sys.executable, "-c", f"open({str(tmp_path / 'runs')!r}, 'a').write('x')"]
    assert main(["--loops", "1", "--times", "2", "--", *counting]) == 0
    assert (tmp_path / "runs").read_text() == "xx"
    assert main(["--times", "2", "--", sys.executable, "-c", "raise SystemExit(4)"]) == 4
    assert children(os.getpid()) == before
