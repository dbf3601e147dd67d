"""Distributions of this checkout, built once a session."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.packaging.project import ROOT, build


def as_packed(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    """What we have packed ourselves is unpacked as it is."""
    del path
    return member


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist's top folder: every file of the project that is not ignored."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = as_packed  # by keyword only since Python 3.11.4
        archive.extractall(folder)
    (top,) = folder.iterdir()
    return top
