"""A runtime folder of the test's own, so that no test meets the user's engine, nor another test's."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine.shared import SharedEngine


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Short, because the address of a socket is; `tmp_path` is not."""
    folder = Path(tempfile.mkdtemp(prefix="kata-rt-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("KATA_ENGINE")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def shared(runtime: Path) -> Iterator[SharedEngine]:
    """The engine of this test; it is not running yet, and does not outlive the test."""
    assert os.environ["XDG_RUNTIME_DIR"] == str(runtime)
    engine = SharedEngine.of(os.environ)
    assert engine is not None
    yield engine
    for place in (engine.where, *engine.where.others()):  # also one that the test did not mean to start
        SharedEngine(place).stop()
