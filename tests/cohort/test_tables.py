"""A cohort's results for other programs and on its page: no cell is a formula, and each holds one thing."""

from __future__ import annotations

import csv
import io

import pytest

from grader.catalog import Catalog
from grader.cohort.entries import Row
from grader.cohort.overview import overview, render_overview
from grader.cohort.similarity import Found
from grader.cohort.tables import csv_table


def cells(**texts: str) -> dict[str, str]:
    """One result as a spreadsheet reads it."""
    row = Row(**{"name": "ada", "file": "a.py", "slug": "ada", "kata": "v1", "verdict": "failed"} | texts)
    (read,) = csv.DictReader(io.StringIO(csv_table([row]), newline=""))
    return read


@pytest.mark.parametrize("column", ["name", "file", "reason"])
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_cell_that_a_spreadsheet_would_compute_is_text(column: str, start: str) -> None:
    assert cells(**{column: f"{start}1+1"})[column] == f"'{start}1+1"


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r\n", "\u00a0", "\u2003"], ids=repr)
def test_no_blank_hides_the_beginning_of_a_formula(blank: str) -> None:
    """Some programs pass over blanks."""
    shown = cells(name=f"{blank}=1+1")["name"]
    assert shown.startswith("'")
    assert len(shown.splitlines()) == 1


def test_other_cells_are_as_they_are() -> None:
    row = cells(name="ada = lovelace", reason="1 + 1 is not 3")
    assert (row["name"], row["reason"]) == ("ada = lovelace", "1 + 1 is not 3")


def test_a_cell_that_narrow_pages_lay_out_as_a_grid_holds_one_element(catalog: Catalog) -> None:
    """Code and text in a sentence would each become a cell of their own."""
    row = Row(name="ada", file="a.py", slug="ada", kata="v1", verdict="failed", reason="Call `eval()` first.")
    page = render_overview(overview([row], Found(), catalog, "one"), catalog.root / "templates")
    assert '<td data-label="reason"><span>Call <code>eval()</code> first.</span></td>' in page
    silent = Row(name="bob", file="b.py", slug="bob", kata="v1", verdict="failed")
    page = render_overview(overview([silent], Found(), catalog, "one"), catalog.root / "templates")
    assert '<td data-label="reason"></td>' in page
