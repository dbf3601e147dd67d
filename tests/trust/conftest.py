"""The real command line, in folders of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trust.run import Ground, open_ground


@pytest.fixture
def cold() -> Iterator[Ground]:
    """Without an engine."""
    with open_ground("standard") as ground:
        yield ground


@pytest.fixture(scope="session")
def warm() -> Iterator[Ground]:
    """With an engine that all tests of a process share."""
    with open_ground("standard", engine=True) as ground:
        yield ground


@pytest.fixture
def fresh(warm: Ground, tmp_path: Path) -> Ground:
    """The engine that all share, with a home of one's own."""
    return dataclasses.replace(warm, home=tmp_path / "kata")
