"""`kata new`: a copy that is whole, but for what only its author can say."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalog import Catalog, load_catalog, load_labels_of
from grader.drafting import draft
from grader.errors import UsageError
from grader.judge.content import load_content
from grader.linting.files import open_points, problems_of_files, stray_solutions
from grader.packs import load_all
from tests.packs.making import make_pack


@pytest.mark.parametrize("like", [kata.id for kata in load_catalog().katas])
def test_a_draft_has_no_problems_but_its_open_points(tmp_path: Path, catalog: Catalog, like: str) -> None:
    done = draft("my_kata", catalog.get(like), tmp_path / "My pack-1", catalog)
    assert done.files[0].read_text(encoding="utf-8").startswith('name = "my_pack_1"\n')
    found = load_all([done.pack])
    kata = found.get("my_kata")
    assert (kata.id, kata.track, kata.level) == ("my_pack_1.my_kata", "my_pack_1", 1)
    own = "MyKata" if kata.defines == "class" else "my_kata"
    assert (kata.class_name, kata.file_name) == (own, "my_kata.py")
    assert problems_of_files(kata, found) == ()
    assert list(stray_solutions(found, done.pack)) == []
    points = [(point.path.name, point.message) for point in open_points(kata)]
    assert [name for name, _ in points] == ["brief.md", "kata.toml", "kata.toml"]
    assert all(message.startswith("Still to do: ") for _, message in points)
    content = load_content(kata, found)
    assert content.labels == load_labels_of(catalog.get(like), catalog)
    assert own in kata.solution.read_text(encoding="utf-8")
    assert content.checks.__name__ == "kata_content.my_pack_1.my_kata.checks"


def test_a_second_kata_joins_the_pack_that_is_there(tmp_path: Path, catalog: Catalog) -> None:
    root = make_pack(tmp_path / "pack", "first", name="demo")
    before = (root / "pack.toml").read_bytes()
    done = draft("second", load_all([root]).get("first"), root, catalog)
    assert (root / "pack.toml").read_bytes() == before
    assert all(path.name != "pack.toml" for path in done.files)
    assert [kata.id for kata in load_all([root]).in_track("demo")] == ["demo.first", "demo.second"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("v3", "attention-kata has a kata 'v3'"),
        ("submit", "No kata can be called 'submit'"),
        ("My-kata", "No kata can be called 'My-kata'"),
        ("first", "is there already"),
    ],
)
def test_what_cannot_be_drafted_changes_nothing(
    tmp_path: Path, catalog: Catalog, name: str, said: str
) -> None:
    root = make_pack(tmp_path / "pack", "first")
    before = sorted(root.rglob("*"))
    with pytest.raises(UsageError, match=said):
        draft(name, catalog.get("v1"), root, catalog)
    assert sorted(root.rglob("*")) == before


def test_a_folder_that_cannot_be_written_to_says_so(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="Cannot write"):
        draft("mine", catalog.get("v1"), tmp_path / "file", catalog)
