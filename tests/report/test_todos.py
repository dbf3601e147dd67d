"""Half-done work in every format: what is said of each TODO, and nothing of points."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from grader.catalog import Catalog
from grader.records import Grade, TodoRecord
from grader.report.context import ReportContext
from grader.report.render import FORMATS, Format, render
from grader.report.short import MOST_LINES, short_view
from grader.report.terminal import render_text
from grader.report.view import build_view

TODOS = (
    TodoRecord(number=1, text="set up the module.", status="right"),
    TodoRecord(number=2, text="make *three* tensors.", status="right"),
    TodoRecord(number=3, text="score.", status="wrong", sentence="It was <never> scaled. " * 9, line=2),
    TodoRecord(number=4, text="weigh.", status="written"),
    TodoRecord(number=5, text="mix.", status="open", line=3),
)


@pytest.fixture
def half_done(make_grade: Callable[..., Grade]) -> Grade:
    made = make_grade("v1", missed=("scale",), source="one\ntwo\nthree\n")
    return msgspec.structs.replace(made, points=0, todos=TODOS)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_what_each_is(half_done: Grade, catalog: Catalog, form: Format) -> None:
    page = render(build_view(half_done, catalog.get("v1"), ReportContext(previous_points=13)), form)
    whole = " ".join(page.split())
    assert "TODO 1 and 2 are right, 3 is not right, 4 is written and not reached yet, 5 is open." in whole
    assert "since last time" not in whole
    assert "of 14 points" not in whole
    assert "<never>" not in page or form == "text"


@pytest.mark.parametrize("width", MOST_LINES)
def test_the_short_form_fits_with_the_whole_sentence(half_done: Grade, catalog: Catalog, width: int) -> None:
    text = render_text(short_view(half_done, catalog.get("v1"), ReportContext()), width, beside=3)
    assert len(text.splitlines()) <= MOST_LINES[width] - 3
    assert " ".join(text.split()).count("It was <never> scaled.") == 9
    assert all(len(line) <= width for line in text.splitlines())
    assert "kata run v1" in text
