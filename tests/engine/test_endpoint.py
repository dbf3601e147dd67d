"""Where the engine listens: in a folder of the user's own, under a name that changes with the code."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.engine import endpoint as module
from grader.engine.endpoint import NoPlace, place


def test_the_folder_is_the_users_alone(runtime: Path) -> None:
    where = place(os.environ)
    assert where.folder == runtime / "attention-kata"
    assert where.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("runtime")
def test_the_name_stays_while_nothing_changes() -> None:
    assert place(os.environ) == place(os.environ)


@pytest.mark.usefixtures("runtime")
def test_a_changed_kata_is_another_name(catalog: Catalog, tmp_path: Path) -> None:
    for name in ("katas", "solutions"):
        shutil.copytree(catalog.root / name, tmp_path / name)
    before = place(os.environ, [tmp_path])
    checks = tmp_path / "katas" / "v1" / "checks.py"
    checks.write_text(checks.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = place(os.environ, [tmp_path])
    assert (after.folder, after.environment) == (before.folder, before.environment)
    assert after.socket != before.socket


@pytest.mark.usefixtures("runtime")
def test_other_roots_are_another_engine_that_neither_replaces(catalog: Catalog, tmp_path: Path) -> None:
    ours = place(os.environ)
    assert place(os.environ, catalog.roots) == ours
    both = place(os.environ, (*catalog.roots, tmp_path))
    other = place(os.environ, (*catalog.roots, tmp_path / "other"))
    assert len({ours.socket, both.socket, other.socket}) == 3
    for where in (ours, both, other):
        where.socket.touch()
        assert where.others() == []


@pytest.mark.parametrize("folder", ["readable by others", "a link", "a file"])
def test_a_folder_that_others_could_use_is_not_used(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    wanted = runtime / "attention-kata"
    if folder == "a link":
        wanted.symlink_to(tmp_path)
    elif folder == "a file":
        wanted.touch()
    else:
        wanted.mkdir(mode=0o755)
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(runtime / "tmp"))
    (runtime / "tmp").mkdir()
    assert place(os.environ).folder == runtime / "tmp" / f"attention-kata-{os.geteuid()}"


def test_without_any_folder_there_is_no_place(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(runtime / "nowhere"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    with pytest.raises(NoPlace, match="belongs to somebody else"):
        place(os.environ)


def test_a_name_too_long_for_a_socket_is_no_place(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = runtime / ("d" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(NoPlace, match="too long"):
        place(os.environ)
