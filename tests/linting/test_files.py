"""What is said about a kata from its files alone: each thing that can be wrong, made wrong in a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Catalog, content_root, load_catalog
from grader.errors import UsageError
from grader.linting import Aim, aim, lint
from grader.linting.files import problems_of_files, stray_solutions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of somebody's own, with a copy of v1 in it."""
    shutil.copytree(content_root() / "katas" / "v1", tmp_path / "katas" / "v1", ignore=_caches)
    (tmp_path / "solutions").mkdir()
    shutil.copy(content_root() / "solutions" / "v1.py", tmp_path / "solutions")
    return tmp_path


_caches = shutil.ignore_patterns("__pycache__")


def said(root: Path) -> list[str]:
    """Place and message of every problem that the files show."""
    catalog = load_catalog(root)
    found = [*problems_of_files(catalog.katas[0], catalog), *stray_solutions(catalog)]
    assert all(problem.fix for problem in found)
    return [f"{problem.path.name}: {problem.message}" for problem in found]


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def test_our_own_katas_are_whole(catalog: Catalog) -> None:
    assert [problems_of_files(kata, catalog) for kata in catalog.katas] == [()] * len(catalog.katas)
    assert list(stray_solutions(catalog)) == []


def test_a_whole_copy_is_whole(root: Path) -> None:
    assert said(root) == []


@pytest.mark.parametrize(
    "name", ["brief.md", "stub.py", "blank.py", "hints.md", "checks.py", "questions.toml"]
)
def test_a_missing_file(root: Path, name: str) -> None:
    (root / "katas" / "v1" / name).unlink()
    assert said(root) == [f"{name}: The file is missing."]


def test_a_missing_solution(root: Path) -> None:
    (root / "solutions" / "v1.py").unlink()
    assert said(root) == ["v1.py: The solution is missing."]


def test_stray_files(root: Path) -> None:
    (root / "katas" / "v1" / "notes.txt").touch()
    (root / "solutions" / "v9.py").touch()
    assert said(root) == ["notes.txt: Nothing reads this file.", "v9.py: No kata has this solution."]


def test_a_stub_that_is_no_python_with_its_line(root: Path) -> None:
    (root / "katas" / "v1" / "stub.py").write_text("x = 1\nclass A(\n", encoding="utf-8")
    catalog = load_catalog(root)
    (problem,) = problems_of_files(catalog.katas[0], catalog)
    assert problem.line == 2
    assert problem.message.startswith("It is not valid Python: ")


def test_a_stub_with_nothing_open_or_of_another_class(root: Path) -> None:
    edit(root / "katas" / "v1" / "stub.py", lambda _: "class Other: ...\n")
    assert said(root) == [
        "stub.py: There is no class SelfAttentionV1.",
        "stub.py: Nothing is open: no `raise NotImplementedError` with a text.",
    ]


def test_too_few_hints(root: Path) -> None:
    edit(
        root / "katas" / "v1" / "hints.md",
        lambda text: text.replace("## Hint 3", "### Hint 3").split("## Hint 4")[0],
    )
    assert said(root) == ["hints.md: Too few hints: 2, and at least 3 are needed."]


def test_hints_without_headings(root: Path) -> None:
    edit(root / "katas" / "v1" / "hints.md", lambda _: "Think.\n")
    assert len(said(root)) == 1
    assert "has no heading '## Hint 1'" in said(root)[0]


def test_questions_that_are_few_or_about_nothing(root: Path) -> None:
    question = '[[questions]]\nid = "q"\nconcept = "mask"\nquestion = "?"\nanswer = "."\nkey_points = []\n'
    edit(root / "katas" / "v1" / "questions.toml", lambda _: question)
    assert said(root) == [
        "questions.toml: Too few questions: 1, and at least 5 are needed.",
        "questions.toml: The question q is about `mask`, no concept of this kata.",
    ]


def test_broken_toml_is_a_problem_and_no_traceback(root: Path) -> None:
    edit(root / "katas" / "v1" / "questions.toml", lambda _: "questions = [\n")
    assert len(said(root)) == 1


def test_nothing_to_ask_and_an_empty_brief(root: Path) -> None:
    edit(root / "katas" / "v1" / "clarify.toml", lambda _: "clarifications = []\n")
    edit(root / "katas" / "v1" / "brief.md", lambda _: "\n")
    assert said(root) == [
        "brief.md: The brief is empty.",
        "clarify.toml: Nothing can be asked before starting.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("points = 2", "points = 0", "has no points."),
        ('id = "scores"', 'id = "scale"', "The concept scale stands there twice."),
        (
            "self_attention_v1.py",
            "self_attention_v1",
            "SelfAttentionV1 in self_attention_v1 cannot be written",
        ),
        ("prerequisites = []", 'prerequisites = ["v0"]', "The prerequisite v0 is no kata."),
    ],
)
def test_what_kata_toml_can_say_wrongly(root: Path, old: str, new: str, message: str) -> None:
    path = root / "katas" / "v1" / "kata.toml"
    if old not in path.read_text(encoding="utf-8"):
        edit(path, lambda text: text.replace("minutes =", f"{old}\nminutes =", 1))
    edit(path, lambda text: text.replace(old, new, 1))
    assert any(message in problem for problem in said(root))


def test_a_folder_of_another_name(root: Path) -> None:
    (root / "katas" / "v1").rename(root / "katas" / "first")
    assert said(root) == ["kata.toml: The id is v1, and the folder is called first."]


def test_a_broken_kata_toml_and_a_folder_without_katas(root: Path, tmp_path: Path) -> None:
    edit(root / "katas" / "v1" / "kata.toml", lambda _: 'id = "v1"\n')
    (broken,) = lint(Aim(root=root)).problems
    assert broken.path == root / "katas" / "v1" / "kata.toml"
    (nothing,) = lint(Aim(root=tmp_path / "nowhere")).problems
    assert nothing.message == "There is no kata here."
    assert all(problem.fix for problem in (broken, nothing))


def test_a_kata_with_broken_files_is_not_graded(root: Path) -> None:
    (root / "katas" / "v1" / "brief.md").unlink()
    assert lint(Aim(root=root)).tallies == ()


def test_one_kata_alone_by_its_id_or_its_folder(root: Path) -> None:
    shutil.copytree(root / "katas" / "v1", root / "katas" / "second")
    (root / "katas" / "v1" / "brief.md").unlink()
    (root / "katas" / "second" / "hints.md").unlink()
    said = {
        what: [problem.path for problem in lint(aim(what, root / "katas")).problems]
        for what in ("v1", "second")
    }
    assert said["v1"] == [root / "katas" / "v1" / "brief.md"]
    assert said["second"] == [root / "katas" / "second" / "hints.md", root / "katas" / "second" / "kata.toml"]


def test_an_id_is_one_of_our_own_and_another_is_wrong_usage(root: Path) -> None:
    assert aim("v3", root) == Aim(only="v3")
    assert aim("katas/v1", root) == Aim(root=root.resolve(), only="v1")
    assert aim(".", root) == Aim(root=root)
    with pytest.raises(UsageError, match="no kata 'v7'"):
        lint(Aim(root=root, only="v7"))


def test_one_kata_of_katas_that_do_not_load_says_which_does_not(root: Path) -> None:
    edit(root / "katas" / "v1" / "kata.toml", lambda _: 'id = "v1"\n')
    assert [problem.path.name for problem in lint(Aim(root=root, only="v1")).problems] == ["kata.toml"]


def test_a_copy_changed_as_contributing_says_is_whole(tmp_path: Path, catalog: Catalog) -> None:
    level = 1 + max(kata.level for kata in catalog.in_track(catalog.get("v3").track))
    new_id, new_class = f"v{level}", f"SelfAttentionV{level}"
    for name in ("katas", "solutions"):
        shutil.copytree(content_root() / name, tmp_path / name, ignore=_caches)
    copy, answer = tmp_path / "katas" / new_id, tmp_path / "solutions" / f"{new_id}.py"
    shutil.copytree(tmp_path / "katas" / "v3", copy)
    shutil.copy(tmp_path / "solutions" / "v3.py", answer)
    for old, new in (
        ('id = "v3"', f'id = "{new_id}"'),
        ("level = 3", f"level = {level}"),
        ("attention_v3", f"attention_{new_id}"),
    ):
        edit(copy / "kata.toml", lambda text, old=old, new=new: text.replace(old, new, 1))
    for path in (copy / "kata.toml", copy / "stub.py", copy / "blank.py", copy / "brief.md", answer):
        edit(path, lambda text: text.replace("SelfAttentionV3", new_class))
    more = load_catalog(tmp_path)
    assert {kata.id for kata in more.katas} == {new_id, *(kata.id for kata in catalog.katas)}
    assert problems_of_files(more.get(new_id), more) == ()
    assert list(stray_solutions(more)) == []
