"""What paths hold: files, folders, patterns, archives and lists; what is wrong stands in its entry."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.cohort.entries import Entry
from grader.cohort.gather import Wanted, gather
from grader.errors import UsageError
from tests.cohort.conftest import answer

Write = Callable[[str, str | bytes], Path]
Gather = Callable[..., list[Entry]]


@pytest.fixture
def found(tmp_path: Path, catalog: Catalog) -> Gather:
    def found(*paths: str, kata: str | None = None) -> list[Entry]:
        katas = (catalog.get(kata),) if kata else ()
        return list(gather(paths, tmp_path, catalog, Wanted(katas=katas)).entries)

    return found


def archive(members: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, text in members.items():
            opened.writestr(name, text)
    return made.getvalue()


def test_each_file_says_which_kata_it_answers(found: Gather, write: Write) -> None:
    write("a/ada.py", answer("v1"))
    write("a/b/bob.ipynb", '{"cells": [{"source": ["class SelfAttentionV3(nn.Module):\\n"]}]}')
    write("a/notes.txt", "no answer")
    entries = found("a")
    assert [(entry.name, entry.student, entry.file, entry.kata) for entry in entries] == [
        ("ada.py", "ada", "a/ada.py", "v1"),
        ("b/bob.ipynb", "b", "a/b/bob.ipynb", "v3"),
        ("notes.txt", "notes", "a/notes.txt", None),
    ]
    assert "neither a .py file nor" in (entries[2].reason or "")


def test_hidden_and_installed_folders_are_passed_over(found: Gather, write: Write) -> None:
    write("a/ada.py", answer("v1"))
    for name in (".venv/x.py", "__pycache__/y.py", "node_modules/z.py", ".hidden.py"):
        write(f"a/{name}", answer("v1"))
    ada, rest = found("a")
    assert (ada.name, ada.aside) == ("ada.py", False)
    assert (rest.aside, rest.reason) == (
        True,
        "Passed over: .hidden.py, .venv/, __pycache__/, node_modules/.",
    )


def test_patterns(found: Gather, write: Write) -> None:
    write("a/ada.py", answer("v1"))
    write("b/bob.py", answer("v2"))
    assert [entry.kata for entry in found("*/*.py")] == ["v1", "v2"]


def test_an_archive_is_read_and_not_unpacked(found: Gather, write: Write, tmp_path: Path) -> None:
    members = {
        "ada/v1.py": answer("v1"),
        "../../outside.py": answer("v2"),
        "__MACOSX/._v1.py": "x",
        "big.py": b"#" * 300_000,
        "odd.py": b"\xff",
    }
    write("class.zip", archive(members))
    entries = {entry.name: entry for entry in found("class.zip")}
    assert entries["ada/v1.py"].kata == "v1"
    assert entries["ada/v1.py"].file == "class.zip/ada/v1.py"
    assert entries["../../outside.py"].submission.name == "outside.py"  # type: ignore[union-attr]
    assert "larger than" in (entries["big.py"].reason or "")
    assert "UTF-8" in (entries["odd.py"].reason or "")
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]


def test_a_broken_member_stops_no_other(found: Gather, write: Write) -> None:
    whole = archive({"a.py": answer("v1"), "b.py": answer("v2")})
    broken = whole.replace(b"SelfAttentionV1", b"SelfAttentionVX")  # the checksum tells
    entries = found(write("class.zip", broken).name)
    assert [entry.kata for entry in entries] == [None, "v2"]
    assert "cannot be unpacked" in (entries[0].reason or "")


@pytest.mark.parametrize("heading", ["name,file,kata\n", "Student,Path,Kata\n", ""])
def test_a_list_names_people_and_files(found: Gather, write: Write, heading: str) -> None:
    write("lists/one.py", answer("v1"))
    write("lists/both.py", answer("v1") + answer("v2"))
    write("lists/roster.csv", f"\ufeff{heading}Ada Lovelace,one.py,\nBob,both.py,v2\nCy,nowhere.py,\nDi,,\n")
    entries = found("lists/roster.csv")
    assert [(entry.name, entry.kata) for entry in entries] == [
        ("Ada Lovelace", "v1"),
        ("Bob", "v2"),
        ("Cy", None),
        ("Di", None),
    ]
    assert "There is no file" in (entries[2].reason or "")
    assert "names no file" in (entries[3].reason or "")


def test_a_file_has_an_entry_for_each_kata_and_says_so_when_there_is_none(
    found: Gather, write: Write
) -> None:
    write("a/helper.py", "def help(): ...\n")
    write("a/both.py", answer("v1") + answer("v2"))
    entries = {(entry.name, entry.kata): entry for entry in found("a")}
    assert entries.keys() == {("both.py", "v1"), ("both.py", "v2"), ("helper.py", None)}
    assert "defines no class" in (entries["helper.py", None].reason or "")
    assert {entry.kata for entry in found("a", kata="v2")} == {"v2"}


def test_links_are_not_followed(found: Gather, write: Write, tmp_path: Path) -> None:
    write("elsewhere/secret.py", answer("v1"))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link.py").symlink_to(tmp_path / "elsewhere" / "secret.py")
    (tmp_path / "a" / "folder").symlink_to(tmp_path / "elsewhere")
    entries = found("a")
    assert [entry.file for entry in entries] == ["a/folder", "a/link.py"]
    assert all(entry.submission is None and "symbolic link" in (entry.reason or "") for entry in entries)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.zip", archive({}), "no answers"),
        ("broken.zip", b"PK no", "cannot be read as a zip"),
        ("empty.csv", b"\n", "0 rows"),
        ("broken.csv", b"\xff\xfe,", "cannot be read as a CSV"),
    ],
)
def test_paths_that_hold_nothing_are_wrong_usage(
    found: Gather, write: Write, name: str, content: bytes, message: str
) -> None:
    write(name, content)
    with pytest.raises(UsageError, match=message):
        found(name)


def test_a_pattern_that_matches_nothing_is_wrong_usage(found: Gather) -> None:
    with pytest.raises(UsageError, match="no answers"):
        found("nothing/*.py")
