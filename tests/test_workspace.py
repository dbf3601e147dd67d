"""The candidate's folder: their work is never overwritten, and nothing else is left there."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader import workspace
from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.history import History

NOW = datetime(2026, 11, 30, 10, 15, tzinfo=UTC)
WORK = "class SelfAttentionV3:\n    '''an hour of work'''\n"


@pytest.fixture
def v3(catalog: Catalog) -> Kata:
    return catalog.get("v3")


def test_start_writes_the_stub_and_nothing_else(v3: Kata, history: History, tmp_path: Path) -> None:
    started = workspace.start(v3, tmp_path, history)
    assert started.path == tmp_path / "self_attention_v3.py"
    assert started.outcome == "written"
    assert started.path.read_text(encoding="utf-8") == v3.text("stub.py")
    assert list(tmp_path.iterdir()) == [started.path]


def test_a_blank_start_leaves_only_the_signature(v3: Kata, history: History, tmp_path: Path) -> None:
    started = workspace.start(v3, tmp_path, history, blank=True)
    assert started.path.read_text(encoding="utf-8") == v3.text("blank.py")


def test_a_folder_that_is_not_there_is_made(v3: Kata, history: History, tmp_path: Path) -> None:
    assert workspace.start(v3, tmp_path / "new" / "practice", history).path.is_file()


def test_work_that_is_there_is_found_not_overwritten(v3: Kata, history: History, tmp_path: Path) -> None:
    file = tmp_path / "self_attention_v3.py"
    file.write_text(WORK)
    started = workspace.start(v3, tmp_path, history)
    assert started.outcome == "found"
    assert file.read_text() == WORK
    assert [start.kind for start in history.starts(path=file)] == ["found"]


def test_starting_twice_says_that_nothing_was_written_yet(v3: Kata, history: History, tmp_path: Path) -> None:
    first = workspace.start(v3, tmp_path, history)
    assert workspace.start(v3, tmp_path, history).outcome == "untouched"
    assert [start.kind for start in history.starts(path=first.path)] == ["start"]


@pytest.mark.parametrize("blank", [True, False])
def test_an_untouched_page_makes_way_for_the_other(
    v3: Kata, tmp_path: Path, history: History, blank: bool
) -> None:
    workspace.start(v3, tmp_path, history, blank=not blank)
    done = workspace.start(v3, tmp_path, history, blank=blank)
    assert done.outcome == "written"
    assert done.path.read_text(encoding="utf-8") == v3.text("blank.py" if blank else "stub.py")
    done.path.write_text("work", encoding="utf-8")
    assert workspace.start(v3, tmp_path, history, blank=not blank).outcome == "found"
    assert done.path.read_text(encoding="utf-8") == "work"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [v3.file_name]


def test_a_folder_is_one_folder_however_it_is_spelt(v3: Kata, history: History, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    started = workspace.start(v3, tmp_path / "link" / ".." / "link", history)
    found = workspace.find(tmp_path / "real", history)
    assert found is not None
    assert found.path == started.path == tmp_path / "real" / "self_attention_v3.py"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_regular_file_is_not_written_through(
    v3: Kata, history: History, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "self_attention_v3.py"
    target = tmp_path / "precious.py"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
    with pytest.raises(UsageError, match="no regular file"):
        workspace.start(v3, tmp_path, history)
    with pytest.raises(UsageError, match="no regular file"):
        workspace.reset(v3, tmp_path, history, NOW)
    assert not target.exists()


def test_a_folder_that_cannot_be_written_is_the_callers_mistake(
    v3: Kata, history: History, tmp_path: Path
) -> None:
    (tmp_path / "a_file").touch()
    with pytest.raises(UsageError, match="Cannot write"):
        workspace.start(v3, tmp_path / "a_file", history)
    with pytest.raises(UsageError, match="Cannot write"):
        workspace.reset(v3, tmp_path / "a_file", history, NOW)


def test_a_disk_that_is_full_leaves_no_half_stub(
    v3: Kata, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        workspace.start(v3, tmp_path, history)
    assert list(tmp_path.iterdir()) == []


def test_the_stub_is_written_even_when_the_history_cannot_be(
    v3: Kata, home: Path, history: History, tmp_path: Path
) -> None:
    (home / "kata").write_text("a file where the folder should be")
    started = workspace.start(v3, tmp_path, history)
    assert started.path.is_file()
    assert started.warning is not None
    assert "may not be written to" in started.warning.message
    started.path.write_text(WORK)
    reset = workspace.reset(v3, tmp_path, history, NOW)
    assert reset.backup is not None
    assert reset.warning is not None


def test_reset_works_beside_a_damaged_history(v3: Kata, history: History, tmp_path: Path) -> None:
    history.path.parent.mkdir()
    history.path.write_bytes(b"no database" * 100)
    (tmp_path / v3.file_name).write_text(WORK)
    reset = workspace.reset(v3, tmp_path, history, NOW)
    assert reset.backup is not None
    assert reset.warning is not None
    assert "is damaged" in reset.warning.message


def test_reset_keeps_the_old_work_beside_the_new_stub(v3: Kata, history: History, tmp_path: Path) -> None:
    file = workspace.start(v3, tmp_path, history).path
    file.write_text(WORK)
    reset = workspace.reset(v3, tmp_path, history, NOW)
    assert reset.backup == tmp_path / "self_attention_v3.2026-11-30T10-15-00.py"
    assert reset.backup.read_text() == WORK
    assert file.read_text(encoding="utf-8") == v3.text("stub.py")
    assert sorted(tmp_path.iterdir()) == [reset.backup, file]


def test_a_backup_never_replaces_another(v3: Kata, history: History, tmp_path: Path) -> None:
    file = workspace.start(v3, tmp_path, history).path
    backups = []
    for number in range(3):
        file.write_text(f"work {number}")
        backups.append(workspace.reset(v3, tmp_path, history, NOW).backup)
    assert [backup.name for backup in backups if backup] == [
        "self_attention_v3.2026-11-30T10-15-00.py",
        "self_attention_v3.2026-11-30T10-15-00-2.py",
        "self_attention_v3.2026-11-30T10-15-00-3.py",
    ]
    assert [backup.read_text() for backup in backups if backup] == ["work 0", "work 1", "work 2"]


def test_reset_makes_no_backup_of_the_stub_itself(v3: Kata, history: History, tmp_path: Path) -> None:
    workspace.start(v3, tmp_path, history)
    assert workspace.reset(v3, tmp_path, history, NOW).backup is None
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("before", [True, False], ids=["from blank", "from stub"])
@pytest.mark.parametrize("after", [True, False], ids=["to blank", "to stub"])
def test_reset_makes_no_backup_of_a_paper_that_nobody_wrote_on(
    v3: Kata, history: History, tmp_path: Path, before: bool, after: bool
) -> None:
    file = workspace.start(v3, tmp_path, history, blank=before).path
    assert workspace.reset(v3, tmp_path, history, NOW, blank=after).backup is None
    assert list(tmp_path.iterdir()) == [file]


def test_reset_without_a_file_is_a_start(v3: Kata, history: History, tmp_path: Path) -> None:
    reset = workspace.reset(v3, tmp_path, history, NOW, blank=True)
    assert reset.backup is None
    assert reset.path.read_text(encoding="utf-8") == v3.text("blank.py")


def test_a_reset_that_fails_half_way_loses_nothing(
    v3: Kata, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace.start(v3, tmp_path, history).path
    file.write_text(WORK)

    def fail(*_: object) -> Path:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match="Input/output error"):
        workspace.reset(v3, tmp_path, history, NOW)
    assert file.read_text() == WORK
    assert all(path.read_text() == WORK for path in tmp_path.iterdir())


def test_find_gives_the_last_started_file_that_is_still_there(
    catalog: Catalog, history: History, tmp_path: Path
) -> None:
    kept = workspace.start(catalog.get("v1"), tmp_path, history).path
    gone = workspace.start(catalog.get("v2"), tmp_path, history).path
    gone.unlink()
    found = workspace.find(tmp_path, history)
    assert found is not None
    assert (found.kata, found.path) == ("v1", kept)
    assert workspace.find(tmp_path, history, catalog.get("v2")) is None
    assert workspace.find(tmp_path / "elsewhere", history) is None
