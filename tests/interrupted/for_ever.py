"""No test of the suite: runs that are ended from outside are made of these."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

from tests.trust.run import open_ground


def test_with_an_engine() -> None:
    with open_ground("standard", engine=True):
        tempfile.mkdtemp()
        Path(os.environ["BEGUN"]).touch()
        threading.Event().wait()


def test_alone() -> None:
    threading.Event().wait()


def test_that_ends() -> None:
    pass
