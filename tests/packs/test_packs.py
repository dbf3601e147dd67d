"""Packs: where they are found, what they bring, and what is said of one that cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.catalog import Catalog, load_labels
from grader.cli.interview import STEPS
from grader.errors import UsageError
from grader.packs import RESERVED, load_all, load_roots
from tests.packs.making import add_kata, add_label, edit, make_pack


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return make_pack(tmp_path / "pack", "first", "second")


def why_left_out(catalog: Catalog) -> list[str]:
    assert all("\n" not in one.message and one.fix for one in catalog.left_out)
    return [one.message for one in catalog.left_out]


# A good pack


def test_a_packs_katas_stand_behind_ours_in_a_track_of_their_own(pack: Path, catalog: Catalog) -> None:
    found = load_all([pack])
    assert [kata.id for kata in found.katas] == [*(k.id for k in catalog.katas), "demo.first", "demo.second"]
    first = found.get("first")
    assert (first.id, first.pack, first.name, first.track) == ("demo.first", "demo", "first", "demo")
    assert first.solution == pack / "solutions" / "first.py"
    assert found.roots == (catalog.root, pack)
    assert load_roots(found.roots) == found
    assert found.left_out == ()


def test_a_kata_of_a_pack_may_stand_in_one_of_our_tracks_and_come_after_others(pack: Path) -> None:
    toml = pack / "katas" / "second" / "kata.toml"
    edit(toml, "level = 1", 'track = "self-attention"\nlevel = 9')
    edit(toml, "prerequisites = []", 'prerequisites = ["first", "v2"]')
    second = load_all([pack]).get("second")
    assert second.track == "self-attention"
    assert second.prerequisites == ("demo.first", "v2")


def test_katas_of_the_same_name_in_two_packs_are_two(pack: Path, tmp_path: Path) -> None:
    found = load_all([pack, make_pack(tmp_path / "other", "first", name="other")])
    assert found.left_out == ()
    assert found.get("other.first") != found.get("demo.first")
    with pytest.raises(UsageError, match="Several packs have a kata 'first'") as raised:
        found.get("first")
    assert raised.value.fix == "Say which: demo.first or other.first."
    assert found.names("first")


def test_a_path_in_the_environment_holds_packs(pack: Path, tmp_path: Path) -> None:
    other = make_pack(tmp_path / "other", "third", name="other")
    found = load_all(environ={"KATA_PATH": f"{pack}{os.pathsep}{os.pathsep}{other}"})
    assert [(one.name, one.version, one.origin) for one in found.packs] == [
        ("demo", "0.3", "KATA_PATH"),
        ("other", "0.3", "KATA_PATH"),
    ]


def test_one_folder_that_is_named_twice_is_one_pack(pack: Path) -> None:
    found = load_all([pack], {"KATA_PATH": str(pack)})
    assert [one.origin for one in found.packs] == ["--katas"]
    assert found.left_out == ()


def test_an_installed_package_is_found_by_its_entry_point_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pack(tmp_path / "site" / "some_pack", "first")
    (tmp_path / "site" / "some_pack" / "__init__.py").write_text("raise SystemExit('imported')\n")
    _install(tmp_path / "site", "some_pack", "demo = some_pack")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = load_all()
    assert [(one.name, one.origin) for one in found.packs] == [("demo", "the package some_pack")]
    assert "some_pack" not in sys.modules
    assert load_all(environ={}).packs == ()


def test_an_entry_point_that_leads_nowhere_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "gone", "demo = gone.content")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert why_left_out(load_all()) == [
        "the package gone promises katas in gone.content, and there is no such package."
    ]


def _install(site: Path, name: str, entry: str) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[attention_kata.packs]\n{entry}\n", encoding="utf-8")


def test_a_packs_words_are_for_its_own_katas(pack: Path, catalog: Catalog) -> None:
    add_label(pack, "of_the_pack")
    found = load_all([pack])
    ours = set(load_labels(catalog))
    assert set(load_labels(found, "demo")) == ours | {"of_the_pack"}
    assert set(load_labels(found, "")) == ours
    assert "of_the_pack" in load_labels(found)


# A bad one


def test_a_named_folder_that_is_no_pack_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no pack of katas") as raised:
        load_all([tmp_path])
    assert "pack.toml, katas/ and solutions/" in raised.value.fix


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "content_api = 1",
            "content_api = 2",
            "demo 0.3 is written for content API 2, and this attention-kata",
        ),
        ("content_api = 1", "", "Object missing required field `content_api`"),
        ('name = "demo"', 'name = "De-mo"', "a pack cannot be called 'De-mo'"),
        ('name = "demo"', 'name = "common"', "a pack cannot be called 'common'"),
        ('name = "demo"', 'name = "v3"', "'v3' is a kata of attention-kata"),
        ('name = "demo"', "name = ", "Invalid value"),
    ],
)
def test_a_pack_that_cannot_be_used_is_left_out_and_all_else_is_there(
    pack: Path, tmp_path: Path, catalog: Catalog, old: str, new: str, said: str
) -> None:
    edit(pack / "pack.toml", old, new)
    other = make_pack(tmp_path / "other", "third", name="other")
    found = load_all(environ={"KATA_PATH": f"{pack}{os.pathsep}{other}"})
    [why] = why_left_out(found)
    assert said in why
    assert [kata.id for kata in found.katas] == [*(kata.id for kata in catalog.katas), "other.third"]


def test_a_pack_of_an_older_api_is_told_another_way_out(pack: Path) -> None:
    edit(pack / "pack.toml", "content_api = 1", "content_api = 0")
    [left_out] = load_all(environ={"KATA_PATH": str(pack)}).left_out
    assert left_out.fix == "Ask for a newer version of the pack."


def test_two_packs_of_one_name(pack: Path, tmp_path: Path) -> None:
    again = make_pack(tmp_path / "again", "third", version="0.2")
    found = load_all([pack], {"KATA_PATH": str(again)})
    [left_out] = found.left_out
    assert left_out.message == f"The pack demo is there twice: that in {again} (KATA_PATH) is left out."
    assert left_out.fix == f"The one that is used, 0.3, is in {pack} (--katas)."
    assert found.get("first").solution.parent.parent == pack


def test_a_pack_without_a_kata(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no kata"):
        load_all([make_pack(tmp_path / "empty")])


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["forward_missing"], "has words of its own for forward_missing, which attention-kata has"),
        (["own", "own"], "common/mistakes.toml: "),
    ],
)
def test_words_for_a_label_of_ours_or_twice_for_one_take_the_pack_out(
    pack: Path, labels: list[str], said: str
) -> None:
    add_label(pack, *labels)
    [why] = why_left_out(load_all(environ={"KATA_PATH": str(pack)}))
    assert said in why


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "second"', 'id = "v1"', "the id 'v1' is taken by a kata of attention-kata"),
        *(
            ('id = "second"', f'id = "{step}"', f"no kata can be called '{step}'")
            for step in ("submit", "next", "room", "py")
        ),
        ('id = "second"', 'id = "other"', "the id 'other' does not do in the folder second"),
        ('id = "second"', 'id = "Second-1"', "the id 'Second-1' does not do in the folder second"),
        ("minutes = 10", 'minutes = "ten"', "Expected `int`, got `str`"),
        ('title = "The formula"', "title = The formula", "Invalid value"),
    ],
)
def test_one_bad_kata_is_left_out_and_the_others_are_there(pack: Path, old: str, new: str, said: str) -> None:
    edit(pack / "katas" / "second" / "kata.toml", old, new)
    found = load_all([pack])
    [why] = why_left_out(found)
    assert said in why
    assert found.get("first").id == "demo.first"
    with pytest.raises(UsageError) as raised:
        found.get("second")
    assert raised.value.message == why


def test_every_step_of_an_interview_is_reserved() -> None:
    assert {*STEPS, "room"} <= RESERVED


def test_a_pack_may_grow_while_nothing_else_changes(pack: Path) -> None:
    add_kata(pack, "third")
    assert [kata.name for kata in load_all([pack]).in_track("demo")] == ["first", "second", "third"]
