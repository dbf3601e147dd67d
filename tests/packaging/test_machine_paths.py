"""Nothing that leaves this checkout tells where it was written, or where its packages came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# Written in pieces, or this file would be the first to break the rule.
FOLDERS = [
    "/ho" + r"me/\w",
    "/Us" + r"ers/\w",
    "/wo" + "rk/",
    "/ro" + "ot/",
    "/op" + "t/",
    "/t" + "mp/[a-z]+[/-]",
]
HOSTS = ["pypi" + r"\.org", "python" + r"hosted\.org", "download" + r"\.pytorch\.org", "npm" + r"js\.org"]

# Answers that try to read or to write such places, and what keeps them from it, have to name them.
MAY_NAME_FOLDERS = re.compile(r"tests/(attacks|confine|corpus)/|grader/confine/|SECURITY\.md")


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


@pytest.mark.parametrize("pattern", FOLDERS)
def test_no_file_names_a_folder_of_somebodys_machine(unpacked: Path, pattern: str) -> None:
    found = places(unpacked, rf"(?<![\w.~*$}}/-]){pattern}")
    assert [place for place in found if not MAY_NAME_FOLDERS.match(place)] == []


@pytest.mark.parametrize("pattern", HOSTS)
def test_no_file_names_a_package_registry(unpacked: Path, pattern: str) -> None:
    assert places(unpacked, pattern) == []


def test_what_is_looked_through_is_the_whole_project(unpacked: Path) -> None:
    names = {name for name, _ in texts(unpacked)}
    assert {".ci/run", "README.md", "constraints.txt", "grader/records.py", "katas/v1/kata.toml"} <= names


@pytest.mark.parametrize("line", ["see /ho" + "me/ann/x.py", "'/wo" + "rk/main'", "cd /t" + "mp/venv/bin"])
def test_a_folder_of_somebodys_machine_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "notes.md").write_text(f"first\n{line}\n", encoding="utf-8")
    assert [places(tmp_path, rf"(?<![\w.~*$}}/-]){pattern}") for pattern in FOLDERS].count(
        ["notes.md:2"]
    ) == 1
