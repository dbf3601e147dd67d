"""Standing, hints, questions, solutions, reports and the tour's material."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader import workspace
from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.errors import GraderFault, UsageError
from grader.history import History
from grader.practice.attempts import Graded
from grader.practice.demo import without_the_root
from grader.practice.hints import all_hints, hint_texts, next_hint
from grader.practice.overview import next_kata, overview, standings
from grader.practice.questions import questions, some_questions
from grader.practice.reports import document, format_for, format_of, write_report
from grader.practice.solutions import solution
from grader.records import Grade, Submission
from grader.report.context import ReportContext

MakeGrade = Callable[..., Grade]


@pytest.fixture
def v3(catalog: Catalog) -> Kata:
    return catalog.get("v3")


@pytest.fixture
def scratch(v3: Kata, tmp_path: Path) -> Kata:
    """A kata whose folder is empty."""
    return msgspec.structs.replace(v3, folder=tmp_path, solution=tmp_path / "v3.py")


def commands(catalog: Catalog, history: History, folder: Path) -> list[str]:
    return [suggestion.command for suggestion in overview(catalog, history, folder).suggestions]


# Standing


def test_a_kata_is_new_then_started_then_tried_then_passed(
    v3: Kata,
    catalog: Catalog,
    history: History,
    tmp_path: Path,
    make_grade: MakeGrade,
    submission: Submission,
) -> None:
    seen = []
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: workspace.start(v3, tmp_path, history),
        lambda: history.record_attempt(make_grade(missed=("scale",)), submission, None),
        lambda: history.record_attempt(make_grade(), submission, None),
    ]
    for step in steps:
        step()
        seen += [standing.progress for standing in standings(catalog, history) if standing.kata.id == "v3"]
    assert seen == ["new", "started", "tried", "passed"]


def test_the_next_kata_is_the_first_that_is_not_passed(
    catalog: Catalog, history: History, make_grade: MakeGrade, submission: Submission
) -> None:
    def ahead(after: str | None = None) -> str | None:
        found = next_kata(catalog, history, None if after is None else catalog.get(after))
        return None if found is None else found.id

    first, second, third, *_, last = (kata.id for kata in catalog.onward())
    assert ahead() == first
    history.record_attempt(make_grade(second), submission, None)
    assert [ahead(), ahead(first), ahead(last)] == [first, third, first]
    for kata in catalog.katas:
        history.record_attempt(make_grade(kata.id), submission, None)
    assert ahead() is None


def test_suggestions_follow_the_candidate(
    catalog: Catalog, history: History, tmp_path: Path, make_grade: MakeGrade, submission: Submission
) -> None:
    assert commands(catalog, history, tmp_path) == ["kata demo", "kata start v1"]
    workspace.start(catalog.get("v1"), tmp_path, history)
    assert commands(catalog, history, tmp_path) == ["kata grade", "kata hint v1"]
    history.record_attempt(make_grade("v1", missed=("scale",)), submission, None)
    assert commands(catalog, history, tmp_path) == ["kata grade", "kata hint v1", "kata report --open"]
    history.record_attempt(make_grade("v1"), submission, None)
    assert commands(catalog, history, tmp_path) == ["kata start v2", "kata debug v1"]
    for kata in catalog.katas:
        history.record_attempt(make_grade(kata.id), submission, None)
    assert commands(catalog, history, tmp_path) == [f"kata reset {catalog.katas[-1].id} --blank"]


# Hints and questions


def test_every_kata_has_hints_and_questions(catalog: Catalog) -> None:
    for kata in catalog.katas:
        assert len(hint_texts(kata)) >= 3
        assert len(questions(kata)) >= 5
        assert len(some_questions(kata)) == 3


def test_hints_stop_at_the_next_heading(scratch: Kata) -> None:
    text = "# Hints\n\n## Hint 1\n\nOne.\n\n### Not a hint\n\n## Hint 2\nTwo.\n"
    (scratch.folder / "hints.md").write_text(text)
    assert hint_texts(scratch) == ("One.\n\n### Not a hint", "Two.")


def test_broken_content_is_named(scratch: Kata) -> None:
    (scratch.folder / "hints.md").write_text("# Hints\n")
    (scratch.folder / "questions.toml").write_text("[[questions]]\nid = 3\n")
    with pytest.raises(GraderFault, match=r"hints\.md has no heading"):
        hint_texts(scratch)
    with pytest.raises(GraderFault, match=r"questions\.toml: Expected `str`"):
        questions(scratch)


def test_the_last_hint_comes_again_and_says_so(v3: Kata, history: History) -> None:
    total = len(hint_texts(v3))
    given = [next_hint(v3, history) for _ in range(total + 1)]
    assert [hint.number for hint in given] == [*range(1, total + 1), total]
    assert [hint.again for hint in given] == [False] * total + [True]


def test_all_hints_are_taken_at_once(v3: Kata, history: History) -> None:
    total = len(hint_texts(v3))
    assert [hint.number for hint in all_hints(v3, history)] == list(range(1, total + 1))
    assert history.hints_taken("v3") == total


# Solutions


def test_a_solution_is_recorded_as_given_up_or_earned(
    v3: Kata, history: History, tmp_path: Path, make_grade: MakeGrade, submission: Submission
) -> None:
    with pytest.raises(UsageError):
        solution(v3, tmp_path, history, give_up=False)
    assert history.solutions_seen() == {}
    assert solution(v3, tmp_path, history, give_up=True).own is None
    assert list(history.solutions_seen()) == ["v3"]
    history.record_attempt(make_grade(source="what was graded"), submission, None)
    found = solution(v3, tmp_path, history, give_up=False)
    assert found.own == "what was graded"
    assert "class SelfAttentionV3" in found.text


def test_the_file_in_the_folder_comes_before_what_was_graded(
    v3: Kata, history: History, tmp_path: Path, make_grade: MakeGrade, submission: Submission
) -> None:
    history.record_attempt(make_grade(source="what was graded"), submission, None)
    (tmp_path / v3.file_name).write_text("what is there now")
    assert solution(v3, tmp_path, history, give_up=False).own == "what is there now"
    (tmp_path / v3.file_name).write_text("")
    assert solution(v3, tmp_path, history, give_up=False).own == "what was graded"


def test_a_grade_without_source_leaves_the_solution_alone(
    v3: Kata, history: History, tmp_path: Path, make_grade: MakeGrade
) -> None:
    history.record_attempt(msgspec.structs.replace(make_grade(), source=None), None, None)
    assert solution(v3, tmp_path, history, give_up=False).own is None


def test_giving_up_works_without_a_history_and_says_so(
    v3: Kata, history: History, home: Path, tmp_path: Path
) -> None:
    (home / "kata").write_text("a file where the folder should be")
    assert isinstance(solution(v3, tmp_path, history, give_up=True).warning, HistoryUnavailable)


def test_a_kata_without_a_solution_is_a_fault_of_the_content(scratch: Kata, history: History) -> None:
    with pytest.raises(GraderFault, match="v3 has no solution"):
        solution(scratch, scratch.folder, history, give_up=True)


# Reports


@pytest.fixture
def graded(v3: Kata, make_grade: MakeGrade) -> Graded:
    return Graded(kata=v3, grade=make_grade(missed=("scale",)), context=ReportContext())


def test_the_json_report_is_the_grade_itself(graded: Graded) -> None:
    found = json.loads(document(graded, "json"))
    assert (found["version"], found["kata"], found["verdict"]) == (1, "v3", "failed")


def test_a_text_has_the_width_and_colours_that_are_asked_for(graded: Graded) -> None:
    plain = document(graded, "text", width=60)
    assert "\x1b" not in plain
    assert max(len(line) for line in plain.splitlines()) <= 60
    assert "\x1b[" in document(graded, "text", color=True)
    assert document(graded, "text", unicode=False).isascii()


def test_a_format_is_a_word_or_the_end_of_a_path() -> None:
    assert format_of("HTML") == ("html", None)
    assert format_of("out/Page.HTM") == ("html", Path("out/Page.HTM"))
    assert format_of("notes.markdown") == ("md", Path("notes.markdown"))
    for wrong in ("pdf", "page", "answer.py"):
        with pytest.raises(UsageError, match="What kind of report"):
            format_of(wrong)
    assert format_for(None, "html") == "html"
    assert format_for(Path("a.md"), "html") == "md"
    assert format_for(Path("README"), "text") == "text"


def test_a_report_without_an_attempt_is_named_after_its_seed(graded: Graded, home: Path) -> None:
    assert write_report(graded, "md", None, home) == home / "reports" / "v3-20481.md"


# The tour


def test_the_tours_mistake_divides_by_the_width(v3: Kata) -> None:
    right = v3.solution.read_text(encoding="utf-8")
    wrong = without_the_root(right)
    changed = [
        pair for pair in zip(right.splitlines(), wrong.splitlines(), strict=True) if pair[0] != pair[1]
    ]
    assert len(changed) == 1
    assert "math.sqrt(self.hidden_dim)" in changed[0][0]
    assert "/ self.hidden_dim" in changed[0][1]


def test_a_solution_without_the_root_cannot_make_a_tour() -> None:
    with pytest.raises(GraderFault, match="no single math"):
        without_the_root("scores / d ** 0.5")
