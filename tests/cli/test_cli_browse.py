"""`kata list` and `kata show`."""

from __future__ import annotations

import json
from typing import Any

from grader.catalog import Catalog

Terminal = Any  # tests/cli/conftest.py


def ids(terminal: Terminal, *options: str) -> list[str]:
    return [kata["id"] for kata in json.loads(terminal("list", "--json", *options).stdout)["katas"]]


def test_all_katas_are_listed_with_level_title_minutes_and_best_score(
    kata: Terminal, grader: Any, catalog: Catalog
) -> None:
    grader.missed = ("scale",)
    kata("start", "v3")
    kata("grade")
    lines = kata("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["kata", *(one.id for one in catalog.katas)]
    [v3] = [line for line in lines if line.startswith("v3")]
    assert "Mask, dropout and the output projection" in v3
    assert "tried" in v3
    assert "15/17" in v3


def test_the_list_for_programs(kata: Terminal) -> None:
    result = kata("list", "--json")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["version"] == 1
    [v3] = [one for one in document["katas"] if one["id"] == "v3"]
    assert v3 == {
        "id": "v3",
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
    assert "Comes after v2. About 25 minutes." in result.stdout
    assert "kata start v3" in result.stdout


def test_the_first_kata_comes_after_nothing(kata: Terminal) -> None:
    assert "Comes after" not in kata("show", "v1").stdout
