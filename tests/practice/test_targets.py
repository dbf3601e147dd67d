"""Which file is meant, and which kata it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import workspace
from grader.catalog import Catalog
from grader.errors import UsageError
from grader.history import History
from grader.practice.targets import Target, resolve_target

V2 = "class SelfAttentionV2: ...\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, name: str, text: str = V2) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_and_an_id_are_taken_at_their_word(folder: Path, catalog: Catalog, history: History) -> None:
    file = write(folder, "a.py")
    assert resolve_target(["a.py", "v3"], folder, catalog, history) == Target(
        path=file, kata=catalog.get("v3")
    )


def test_a_file_is_taken_even_if_it_is_not_there_yet(
    folder: Path, catalog: Catalog, history: History
) -> None:
    assert resolve_target(["gone.py", "v3"], folder, catalog, history).path == folder / "gone.py"


def test_an_absolute_path_is_a_file(folder: Path, catalog: Catalog, history: History) -> None:
    file = write(folder, "a.py")
    assert resolve_target([str(file)], folder / "..", catalog, history).path == file


def test_a_file_without_id_answers_the_kata_it_was_started_for(
    folder: Path, catalog: Catalog, history: History
) -> None:
    file = write(folder, "a.py")
    history.record_start("v3", file, "start")
    target = resolve_target(["a.py"], folder, catalog, history)
    assert target.kata.id == "v3"
    assert target.submission is None


def test_a_file_that_is_not_known_is_read_once_and_its_class_tells(
    folder: Path, catalog: Catalog, history: History
) -> None:
    write(folder, "a.py")
    target = resolve_target(["a.py"], folder, catalog, history)
    assert target.kata.id == "v2"
    assert target.submission is not None
    assert target.submission.source == V2.encode()


def test_a_file_of_a_kata_that_is_gone_is_told_by_its_class(
    folder: Path, catalog: Catalog, history: History
) -> None:
    history.record_start("third-party", write(folder, "a.py"), "start")
    assert resolve_target(["a.py"], folder, catalog, history).kata.id == "v2"
    assert resolve_target([], folder, catalog, history).kata.id == "v2"


def test_a_file_that_cannot_be_read_needs_an_id(folder: Path, catalog: Catalog, history: History) -> None:
    write(folder, "a.py", "")
    with pytest.raises(UsageError, match=r"a\.py is empty"):
        resolve_target(["a.py"], folder, catalog, history)


def test_a_folder_named_like_nothing_else_is_a_file_of_the_wrong_kind(
    folder: Path, catalog: Catalog, history: History
) -> None:
    (folder / "answers").mkdir()
    with pytest.raises(UsageError, match="answers is a folder"):
        resolve_target(["answers"], folder, catalog, history)


def test_an_id_wins_over_a_folder_of_that_name(folder: Path, catalog: Catalog, history: History) -> None:
    (folder / "v2").mkdir()
    file = write(folder, "self_attention_v2.py")
    assert resolve_target(["v2"], folder, catalog, history).path == file


def test_an_id_means_what_was_started_here_then_the_usual_name_then_elsewhere(
    folder: Path, catalog: Catalog, history: History
) -> None:
    (folder / "here").mkdir()
    (folder / "there").mkdir()
    here = folder / "here"
    elsewhere = workspace.start(catalog.get("v2"), folder / "there", history).path
    assert resolve_target(["v2"], here, catalog, history).path == elsewhere
    usual = write(here, "self_attention_v2.py")
    assert resolve_target(["v2"], here, catalog, history).path == usual
    named = write(here, "mine.py")
    history.record_start("v2", named, "start")
    assert resolve_target(["v2"], here, catalog, history).path == named


def test_an_id_without_any_file_says_how_to_begin(folder: Path, catalog: Catalog, history: History) -> None:
    with pytest.raises(UsageError, match="no work on v2 here") as raised:
        resolve_target(["v2"], folder, catalog, history)
    assert raised.value.fix == "Begin with: kata start v2"


def test_nothing_means_what_was_last_started_here(folder: Path, catalog: Catalog, history: History) -> None:
    workspace.start(catalog.get("v1"), folder, history)
    last = workspace.start(catalog.get("v2"), folder, history).path
    assert resolve_target([], folder, catalog, history) == Target(path=last, kata=catalog.get("v2"))


def test_nothing_means_the_one_answer_in_the_folder(folder: Path, catalog: Catalog, history: History) -> None:
    write(folder, "helpers.py", "x = 1\n")
    write(folder, "empty.py", "")
    write(folder, "notes.txt")
    file = write(folder, "z.py")
    target = resolve_target([], folder, catalog, history)
    assert (target.path, target.kata.id) == (file, "v2")


def test_several_answers_in_the_folder_are_named(folder: Path, catalog: Catalog, history: History) -> None:
    write(folder, "a.py")
    write(folder, "b.py", "class SelfAttentionV1: ...\n")
    with pytest.raises(UsageError, match=r"answer a kata: a\.py, b\.py") as raised:
        resolve_target([], folder, catalog, history)
    assert raised.value.fix.endswith("kata grade a.py")


def test_an_empty_folder_says_how_to_begin(folder: Path, catalog: Catalog, history: History) -> None:
    with pytest.raises(UsageError, match="Nothing to grade"):
        resolve_target([], folder, catalog, history)


@pytest.mark.parametrize("words", [["a.py", "b.py"], ["v1", "v2"], ["a.py", "v1", "v2"]])
def test_more_than_one_is_too_many(
    folder: Path, catalog: Catalog, history: History, words: list[str]
) -> None:
    with pytest.raises(UsageError, match="One file and one kata"):
        resolve_target(words, folder, catalog, history)


def test_a_word_that_is_neither_is_taken_for_a_misspelt_id(
    folder: Path, catalog: Catalog, history: History
) -> None:
    with pytest.raises(UsageError, match=r"no kata 'v33'\. Did you mean v3"):
        resolve_target(["v33"], folder, catalog, history)


def test_a_history_that_cannot_be_read_leaves_the_files_themselves(
    folder: Path, catalog: Catalog, home: Path, history: History
) -> None:
    (home / "kata").mkdir()
    history.path.write_bytes(b"no database" * 100)
    file = write(folder, "self_attention_v2.py")
    for words in ([], ["v2"], ["self_attention_v2.py"]):
        target = resolve_target(words, folder, catalog, history)
        assert (target.path, target.kata.id) == (file, "v2")
