"""Nothing that leaves this checkout tells where it was written, or where its packages came from."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.project import ROOT

# Written in pieces, or this file would be the first to break the rule.
WORKPLACES = ["/wo" + "rk/", "/ro" + r"ot/\.", "/op" + "t/", r"\.py" + r"env\b"]
HOMES = ["/ho" + r"me/\w", "/Us" + r"ers/\w", r"[A-Z]:\\Us" + "ers", "/t" + r"mp/\w"]
HOSTS = ["pypi" + r"\.org", "python" + r"hosted\.org", "download" + r"\.pytorch\.org", "npm" + r"js\.org"]

# Answers that reach for such places, and what keeps them from it, have to name them.
HOSTILE = re.compile(r"tests/(attacks|confine|corpus)/|grader/confine/|SECURITY\.md")
TESTS = re.compile(r"tests/")  # may invent a user and a home


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The project's text files as (path inside the project, text)."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture, or an answer that is broken on purpose


def places(folder: Path, pattern: str) -> list[str]:
    """`path:line` of everything that matches."""
    return [
        f"{name}:{number}"
        for name, text in texts(folder)
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]


def paths(folder: Path, pattern: str) -> list[str]:
    """The places where an absolute path begins with `pattern`."""
    return places(folder, rf"(?<![\w.~*$}}/-]){pattern}")


@pytest.mark.parametrize("path", [str(ROOT), sys.prefix])
def test_no_file_names_the_folders_it_is_tested_in(unpacked: Path, path: str) -> None:
    assert places(unpacked, re.escape(path)) == []


@pytest.mark.parametrize("pattern", WORKPLACES)
def test_no_file_names_a_workplace(unpacked: Path, pattern: str) -> None:
    assert [place for place in paths(unpacked, pattern) if not HOSTILE.match(place)] == []


@pytest.mark.parametrize("pattern", HOMES)
def test_no_file_but_a_test_names_a_home(unpacked: Path, pattern: str) -> None:
    found = [place for place in paths(unpacked, pattern) if not HOSTILE.match(place)]
    assert [place for place in found if not TESTS.match(place)] == []


@pytest.mark.parametrize("pattern", HOSTS)
def test_no_file_names_a_package_registry(unpacked: Path, pattern: str) -> None:
    assert places(unpacked, pattern) == []


def test_what_is_looked_through_is_the_whole_project(unpacked: Path) -> None:
    names = {name for name, _ in texts(unpacked)}
    assert {".ci/run", "README.md", "constraints.txt", "grader/records.py", "katas/v1/kata.toml"} <= names


@pytest.mark.parametrize("line", ["see /ho" + "me/ann/x.py", "'/wo" + "rk/main'", "cd /t" + "mp/venv/bin"])
def test_a_folder_of_somebodys_machine_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "notes.md").write_text(f"first\n{line}\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG" + line.encode())
    found = [paths(tmp_path, pattern) for pattern in (*WORKPLACES, *HOMES)]
    assert [place for place in found if place] == [["notes.md:2"]]
