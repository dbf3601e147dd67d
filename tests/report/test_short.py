"""The short form: what is wrong and where, on one screen; how to mend it only on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.judge.content import KataContent
from grader.linting.answers import edited
from grader.records import CheckRecord, ConceptRecord, Diagnosis, Grade, SourceRecord
from grader.report.context import ReportContext
from grader.report.short import MOST_LINES, short_view
from grader.report.terminal import render_text
from tests.judge import stage
from tests.sampling import some

SAMPLE = 36  # of all katas and kinds, in a normal run
BESIDE = 4  # lines of notes on standard error


class Made(NamedTuple):
    """A single mistake of the catalogue: a form that the oracle plays, or an answer that is run."""

    kata: str
    kind: str
    number: int


def contents() -> Iterator[KataContent]:
    for kata in stage.CATALOG.katas:
        yield stage.content(kata.id)


def wrong(content: KataContent) -> list[str]:
    solution = content.kata.solution.read_text(encoding="utf-8")
    return [edited(solution, example) for example in content.examples]


def every() -> list[Made]:
    return [
        Made(content.kata.id, kind, number)
        for content in contents()
        for kind, many in (
            ("form", content.values),
            ("training", content.training),
            ("answer", wrong(content)),
        )
        for number in range(len(many))
    ]


def graded(made: Made, engine: PrivateEngine) -> Grade:
    content = stage.content(made.kata)
    if made.kind == "answer":
        return stage.graded(engine, made.kata, wrong(content)[made.number])
    forms = content.values if made.kind == "form" else content.training
    return stage.played(made.kata, forms[made.number])


def words(text: str) -> str:
    """The text as one line, without the frame around code."""
    return " ".join(text.split())


def assert_says_it(grade: Grade, catalog: Catalog) -> None:
    kata = catalog.get(grade.kata)
    context = ReportContext(file="answer.py", attempt=12, previous_points=0, fixes_on_request=True)
    view = short_view(grade, kata, context)
    for width, most in MOST_LINES.items():
        text = render_text(view, width, beside=BESIDE)
        assert len(text.splitlines()) <= most - BESIDE, text
        assert all(len(line) <= width for line in text.splitlines()), text
        assert "Fix" not in text
        assert "NOT PASSED YET" in text or "COULD NOT BE RUN" in text
        assert "kata report" in text
        if grade.diagnosis:
            first = grade.diagnosis[0]
            assert words(first.sentence) in words(text)
            assert first.line is None or f"answer.py:{first.line}" in text
            assert all(item.fix not in words(text) for item in grade.diagnosis)
        else:
            failed = [check for check in grade.checks if check.status == "failed"]
            said = [words(check.message or check.title) for check in failed] or [words(grade.reason or "")]
            assert any(one[:200] in words(text) for one in said), text


@pytest.mark.parametrize(("kata", "kind", "number"), some(SAMPLE, every()))
def test_a_single_mistake_is_said_on_one_screen(
    engine: PrivateEngine, catalog: Catalog, kata: str, kind: str, number: int
) -> None:
    grade = graded(Made(kata, kind, number), engine)
    if grade.verdict != "passed":  # a mistake that costs optional points only
        assert_says_it(grade, catalog)


@pytest.fixture
def much(make_grade: type[Grade], catalog: Catalog) -> Grade:
    """Everything is wrong, and each sentence is long."""
    item = Diagnosis(
        mistakes=("scale_by_dk",), concept="scale", sentence="scale " * 60, fix="MEND IT", line=2
    )
    checks = tuple(
        CheckRecord(id=one.id, concept=one.id, title=one.title, status="failed", message="long " * 40)
        for one in catalog.get("v3").concepts
    )
    return msgspec.structs.replace(
        make_grade("v3", missed=("scale", "mask"), source="one\n" + "two " * 60 + "\n"),
        diagnosis=(item, *(msgspec.structs.replace(item, mistakes=(f"m{n}",)) for n in range(9))),
        checks=checks,
    )


@pytest.mark.parametrize("width", [200, 120, 80, 79, 60, 41])
def test_the_worst_case_keeps_what_matters(much: Grade, catalog: Catalog, width: int) -> None:
    view = short_view(much, catalog.get("v3"), ReportContext(file="a.py", fixes_on_request=True))
    text = render_text(view, width, beside=BESIDE, unicode=False)
    if width >= 60:
        assert len(text.splitlines()) <= MOST_LINES[80 if width >= 80 else 60] - BESIDE
    assert text.isascii()
    assert "NOT PASSED YET" in text
    assert "a.py:2" in text
    assert "more: kata report" in text
    assert "MEND IT" not in text


def test_what_else_is_wrong_is_counted_in_full(much: Grade, catalog: Catalog) -> None:
    view = short_view(much, catalog.get("v3"), ReportContext())
    text = render_text(view, 80)
    shown = [line for line in text.splitlines() if line.startswith(" ✕ ") and "NOT" not in line]
    others = 9 + len(catalog.get("v3").concepts) - 1
    assert f"and {others - len(shown)} more" in text


def test_a_fix_that_was_asked_for_is_shown(much: Grade, catalog: Catalog) -> None:
    asked = ReportContext(fixes_on_request=True, fixes=("scale_by_dk",))
    assert "MEND IT" in render_text(short_view(much, catalog.get("v3"), asked))


def test_a_concept_is_named_where_nothing_else_is_known(make_grade: type[Grade], catalog: Catalog) -> None:
    grade: Grade = make_grade("v3", missed=("scale",))
    lost = next(concept for concept in grade.concepts if concept.status == "failed")
    assert isinstance(lost, ConceptRecord)
    assert lost.title in render_text(short_view(grade, catalog.get("v3"), ReportContext()))


def test_a_line_of_a_notebook_is_told_by_its_cell(much: Grade, catalog: Catalog) -> None:
    source = SourceRecord(name="a.ipynb", sha256="0" * 64, text="one\n\n\ntwo\nthree\n")
    item = msgspec.structs.replace(much.diagnosis[0], line=5, sentence="It is wrong.")
    grade = msgspec.structs.replace(
        much, source=source, diagnosis=(item,), reason="a.ipynb:5: NameError in forward."
    )
    context = ReportContext(file="work/a.ipynb", cells=(1, 4))
    text = render_text(short_view(grade, catalog.get("v3"), context))
    assert "work/a.ipynb, cell 2, line 2" in text
    assert "▶   2 │ three" in text
