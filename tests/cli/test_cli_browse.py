"""`kata list` and `kata show`."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog
from tests.twenty import TWENTY, twenty_katas

Terminal = Any  # tests/cli/conftest.py


def ids(terminal: Terminal, *options: str) -> list[str]:
    return [kata["id"] for kata in json.loads(terminal("list", "--json", *options).stdout)["katas"]]


def test_all_katas_are_listed_by_track_with_title_minutes_and_best_score(
    kata: Terminal, grader: Any, catalog: Catalog
) -> None:
    grader.missed = ("scale",)
    kata("start", "v3")
    kata("grade")
    lines = kata("list").stdout.splitlines()
    shown = ["  kata"]
    for track in catalog.tracks.tracks:
        shown += [track.title, *(f"  {one.id}" for one in catalog.in_track(track.id))]
    assert [line[: len(begin)] for line, begin in zip(lines, shown, strict=True)] == shown
    [v3] = [line for line in lines if line.startswith("  v3")]
    assert "Mask, dropout and the output projection" in v3
    assert "tried" in v3
    assert "15/17" in v3


@pytest.fixture
def twenty(kata: Terminal, catalog: Catalog) -> Terminal:
    kata.app.__dict__["catalog"] = twenty_katas(catalog)
    return kata


def test_twenty_katas_are_readable_at_eighty_columns(
    twenty: Terminal, make_grade: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tried = msgspec.structs.replace(make_grade("v3", missed=("scale",)), kata="online")
    twenty.app.history.record_attempt(tried, None, None)
    twenty("solution", "online", "--give-up")
    names = sorted(name for _, name in TWENTY)
    for words in (["list"], []):
        lines = twenty(*words).stdout.splitlines()
        assert all(len(line) <= 80 for line in lines)
        for title in ("Warm-up", "Self-attention", "Heads", "Inference", "Positions of tokens"):
            assert title in lines
        rows = [line for line in lines if line.startswith("  ") and line.split()[0] in names]
        assert sorted(line.split()[0] for line in rows) == names
        [online] = [line for line in rows if "online" in line]
        assert "○ tried, solution seen" in online
        assert "15/17" in online
        assert len({line.rindex(" 25 ") for line in rows}) == 1  # the columns of all tracks are one


def test_tracks_stand_in_their_order_and_katas_by_level(twenty: Terminal) -> None:
    tracks = list(dict.fromkeys(track for track, _ in TWENTY))
    expected = [name for track in tracks for own, name in reversed(TWENTY) if own == track]
    assert ids(twenty) == expected


def test_the_list_of_one_track(twenty: Terminal) -> None:
    assert ids(twenty, "--track", "warm-up") == ["padding", "softmax"]
    assert len(ids(twenty, "--track", "Heads", "--track", "inference", "--todo")) == 10
    result = twenty("list", "--track", "interference")
    assert result.exit_code == 2
    assert "Did you mean inference?" in result.stderr


def test_the_list_for_programs(kata: Terminal) -> None:
    result = kata("list", "--json")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["version"] == 1
    [v3] = [one for one in document["katas"] if one["id"] == "v3"]
    assert v3 == {
        "id": "v3",
        "track": "self-attention",
        "level": 3,
        "title": "Mask, dropout and the output projection",
        "minutes": 25,
        "max_points": 17,
        "progress": "new",
        "attempts": 0,
        "best": None,
        "solution_seen": False,
    }


def test_the_list_can_be_narrowed(kata: Terminal, catalog: Catalog) -> None:
    kata("start", "v1")
    kata("grade")
    assert ids(kata, "--passed") == ["v1"]
    assert ids(kata, "--todo") == [one.id for one in catalog.katas if one.id != "v1"]
    between = [one.id for one in catalog.katas if one.level in (2, 3)]
    assert ids(kata, "--level", "2", "--level", "3") == between
    assert "v1" not in ids(kata, "--level", "1", "--todo")


def test_a_solution_that_was_seen_shows_in_the_list(kata: Terminal) -> None:
    kata("solution", "v2", "--give-up")
    assert "solution seen" in kata("list").stdout


def test_the_brief_says_the_task_its_signature_and_the_points(kata: Terminal) -> None:
    result = kata("show", "v3")
    assert result.exit_code == 0
    assert "class SelfAttentionV3(nn.Module)" in result.stdout
    assert "Scores are divided by √hidden_dim" in result.stdout
    assert "(optional)" in result.stdout
    assert "Self-attention, level 3. Comes after v2. About 25 minutes." in result.stdout
    assert "kata start v3" in result.stdout


def test_the_first_kata_comes_after_nothing(kata: Terminal) -> None:
    assert "Comes after" not in kata("show", "v1").stdout
