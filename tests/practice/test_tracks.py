"""Tracks: their order, where one begins, and what comes next in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from grader.catalog import Catalog
from grader.errors import GraderFault, UsageError
from grader.history import History
from grader.memory.advice import advise
from grader.practice.overview import next_kata
from grader.practice.targets import resolve_target
from grader.records import Grade
from grader.tracks import Track, Tracks, load_tracks
from tests.memory.conftest import Diary
from tests.twenty import twenty_katas


@pytest.fixture
def twenty(catalog: Catalog) -> Catalog:
    return twenty_katas(catalog)


@pytest.fixture
def diary(home: Path, twenty: Catalog, make_grade: Callable[..., Grade]) -> Iterator[Diary]:
    def made(kata: str, *, missed: tuple[str, ...]) -> Grade:
        return msgspec.structs.replace(make_grade("v3", missed=missed), kata=kata)

    opened = Diary(home / "kata" / "history.db", twenty, made)
    yield opened
    opened.close()


def test_a_newcomer_begins_in_the_main_track(twenty: Catalog, diary: Diary) -> None:
    assert twenty.first.id == "v6"
    assert next_kata(twenty, diary.history) == twenty.first
    [advice] = advise(twenty, (), {}, diary.now)
    assert advice.kata == "v6"


def test_what_comes_next_stays_in_the_track_then_goes_on_and_comes_round(twenty: Catalog) -> None:
    ids = [kata.id for kata in twenty.onward("inference")]
    assert ids[:6] == ["window", "online", "cache", "rope", "alibi", "learned"]
    assert ids[6:8] == ["padding", "softmax"]
    assert sorted(ids) == sorted(kata.id for kata in twenty.katas)


def test_the_next_kata_is_one_of_the_track_that_was_practised_last(twenty: Catalog, diary: Diary) -> None:
    diary.sitting("v6")
    diary.wait(days=1)
    diary.sitting("gqa")
    advice = advise(twenty, diary.sittings(), diary.memories(), diary.now)
    assert [one.kata for one in advice if one.reason == "new"] == ["sparse"]
    found = next_kata(twenty, diary.history)
    assert found is not None
    assert found.id == "sparse"


def test_a_kata_waits_for_what_it_comes_after(twenty: Catalog, diary: Diary) -> None:
    diary.sitting("rope")
    new = [one.kata for one in advise(twenty, diary.sittings(), diary.memories(), diary.now)]
    assert "window" in new
    assert "online" not in new


def test_a_track_that_nobody_declared_stands_last_under_its_own_name(twenty: Catalog) -> None:
    assert twenty.tracks.tracks[-1] == Track(id="positions-of-tokens", title="Positions of tokens")
    assert twenty.tracks.get("INFERENCE").title == "Inference"
    with pytest.raises(UsageError, match=r"no track 'head'. Did you mean heads"):
        twenty.tracks.get("head")


def test_tracks_without_a_kata_are_not_shown() -> None:
    declared = Tracks(main="b", tracks=(Track(id="a", title="A"), Track(id="b", title="B")))
    assert declared.of(("b",)) == Tracks(main="b", tracks=(Track(id="b", title="B"),))
    assert declared.of(("a", "a")).main == "a"


@pytest.mark.parametrize("text", ["main = 3\n", "[[tracks]]\nid = 'a'\n", "main = \n"])
def test_a_broken_file_says_where_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tracks.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GraderFault, match=r"tracks\.toml"):
        load_tracks(path)


def test_a_katas_name_means_the_kata_even_where_a_folder_has_it(
    twenty: Catalog, history: History, tmp_path: Path
) -> None:
    for name in ("cache", "window"):
        (tmp_path / name).mkdir()
        file = tmp_path / f"{name}.py"
        file.write_text("class SelfAttentionV3: ...\n", encoding="utf-8")
        assert resolve_target([name], tmp_path, twenty, history).path == file
