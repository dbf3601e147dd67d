"""The place where confined processes are tried: folders with canaries, and a host that forks on request."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.confine.process import clean_environment

ROOT = Path(__file__).resolve().parents[2]
CANARY = "CANARY-5d1f"


@dataclass
class Host:
    """A process that forks a child for each snippet; see `host.py`."""

    arena: Path
    process: subprocess.Popen[str]

    def run(self, code: str, level: str = "strict", user: str = "same", **limits: int) -> dict[str, Any]:
        """What came of `code` in a child that confined itself to `level` ("none": it did not)."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"code": code, "level": level, "user": user, "limits": limits}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@contextmanager
def open_arena(arena: Path) -> Iterator[Host]:
    """Canaries in every folder, open to everybody: nobody's confinement rests on file modes."""
    arena.chmod(0o755)
    for name in ("home", "outside", "denied", "scratch", "scratch/another-worker"):
        (arena / name).mkdir()
        (arena / name / "canary").write_text(CANARY, encoding="utf-8")
        (arena / name).chmod(0o777)
        (arena / name / "canary").chmod(0o666)
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("host.py")), str(arena)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=arena,
        env={**clean_environment(arena / "home"), "PYTHONPATH": str(ROOT), "SECRET": CANARY},
    )
    try:
        yield Host(arena, process)
    finally:
        process.communicate()
