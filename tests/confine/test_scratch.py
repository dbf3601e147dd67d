"""The scratch folder is measured without being followed, and leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.confine.scratch import is_over, make_scratch, remove_scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return make_scratch(tmp_path)


def test_it_is_its_users_alone(scratch: Path) -> None:
    assert scratch.stat().st_mode & 0o777 == 0o700


def test_an_empty_folder_is_fine(scratch: Path) -> None:
    assert not is_over(scratch)


def test_bytes_are_counted_in_all_folders(scratch: Path) -> None:
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "a" / "b" / "f").write_bytes(os.urandom(64 << 10))
    assert is_over(scratch, max_bytes=32 << 10)
    assert not is_over(scratch, max_bytes=256 << 10)


def test_empty_files_are_counted_too(scratch: Path) -> None:
    for number in range(11):
        (scratch / str(number)).touch()
    assert is_over(scratch, max_entries=10)
    assert not is_over(scratch, max_entries=11)


def test_links_are_not_followed(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "f").write_bytes(bytes(1 << 20))
    (scratch / "link").symlink_to(tmp_path / "large")
    assert not is_over(scratch, max_bytes=64 << 10)
    remove_scratch(scratch)
    assert not scratch.exists()
    assert (tmp_path / "large" / "f").exists()


def test_what_vanishes_meanwhile_does_not_count(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_over(scratch / "gone")
    (scratch / "f").touch()
    original = os.scandir

    class Vanishing:
        def __init__(self, path: str) -> None:
            self.entries = list(original(path))

        def __enter__(self) -> None:
            for entry in self.entries:
                Path(entry.path).unlink()

        def __iter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self.entries)

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(os, "scandir", Vanishing)
    assert not is_over(scratch)


def test_removing_what_is_gone_is_no_error(scratch: Path) -> None:
    remove_scratch(scratch)
    remove_scratch(scratch)
