"""A candidate's words in everything that we print or write: shown, and without effect."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.trust.corpus import OWN
from tests.trust.run import Ground

ATTACK = OWN / "raises_with_escapes.py"
NAME = "=cmd|' <b>\x1b[2J\u202eanswer.py"


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """Hostile in name, in what it raises and in what it prints."""
    path = tmp_path / "answers" / NAME
    path.parent.mkdir()
    printing = "print('\\x1b]0;owned\\x07 ```\\n# heading <img src=x onerror=alert(1)>')\n"
    path.write_text(ATTACK.read_text(encoding="utf-8") + printing, encoding="utf-8")
    return path


def is_harmless(text: str) -> bool:
    return not any(sign in text for sign in ("\x1b", "\x07", "\r", "\u202e", "\x9b"))


@pytest.mark.parametrize("words", [(), ("-v",)])
def test_the_terminal(fresh: Ground, answer: Path, words: tuple[str, ...]) -> None:
    done = fresh.kata("grade", answer, "v1", *words)
    assert done.code == 1
    assert is_harmless(done.text)
    assert "ValueError" in done.text or "Passed" in done.text
    assert is_harmless(fresh.kata("history").text)


@pytest.mark.parametrize(("form", "raw"), [("html", ("<script>alert", "<img src=x")), ("md", ())])
def test_a_report(fresh: Ground, answer: Path, tmp_path: Path, form: str, raw: tuple[str, ...]) -> None:
    report = tmp_path / f"report.{form}"
    assert is_harmless(fresh.kata("grade", answer, "v1", "-v", "--report", report).text)
    text = report.read_text(encoding="utf-8")
    assert is_harmless(text)
    assert "alert" in text  # it is shown
    assert [tag for tag in raw if tag in text] == []


def test_markdown_keeps_it_as_text(fresh: Ground, answer: Path, tmp_path: Path) -> None:
    fresh.kata("grade", answer, "v1", "-v", "--report", tmp_path / "report.md")
    lines = (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    inside = False
    for line in lines:
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            assert not line.startswith("# heading")
            assert "<script>" not in line.replace("\\<script\\>", "")
    assert not inside


def test_the_tables_of_a_cohort(fresh: Ground, answer: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = fresh.kata("grade-all", answer, "--kata", "v1", "-o", results)
    assert done.code == 0
    assert is_harmless(done.text)
    with (results / "results.csv").open(encoding="utf-8", newline="") as opened:
        [row] = csv.DictReader(opened)
    assert all(not (cell or "").startswith(("=", "+", "-", "@")) for cell in row.values())
    assert all(is_harmless(cell or "") for cell in row.values())
    page = (results / "index.html").read_text(encoding="utf-8")
    assert is_harmless(page)
    assert "<script>alert" not in page
