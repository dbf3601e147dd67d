"""A cohort from paths to page: graded once, resumed, and written so that nobody's name can do harm."""

from __future__ import annotations

import csv
import io
import json
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.cohort.store import FILE_NAME
from grader.cohort.work import Finished
from tests.cohort.conftest import Grader, answer

Write = Callable[[str, str | bytes], Path]
GradeAll = Callable[..., Any]

EVIL = "=cmd|' /C calc'!A0<script>alert(1)</script>&\x1b[2J"


@pytest.fixture
def three(write: Write) -> None:
    write("in/ada.py", answer("v1"))
    write("in/bob.py", answer("v3", "scale"))
    write("in/cy.py", answer("v3", "scale", "mask"))


@pytest.mark.usefixtures("three")
def test_every_answer_has_a_row_and_a_report(grade_all: GradeAll, tmp_path: Path) -> None:
    finished = grade_all("in")
    assert isinstance(finished, Finished)
    verdicts = [(row.name, row.kata, row.verdict, row.mistakes) for row in finished.rows]
    assert verdicts == [
        ("ada.py", "v1", "passed", ()),
        ("bob.py", "v3", "failed", ("no_scale",)),
        ("cy.py", "v3", "failed", ("no_scale", "no_mask")),
    ]
    for row in finished.rows:
        assert (tmp_path / "out" / "reports" / f"{row.slug}.html").is_file()
        document = json.loads((tmp_path / "out" / "gradescope" / row.slug / "results.json").read_text())
        assert (document["score"], document["extra_data"]["verdict"]) == (row.points, row.verdict)
    page = finished.page.read_text(encoding="utf-8")
    assert page.count("no_scale") >= 2
    assert "1</b>passed" in page


@pytest.mark.usefixtures("three")
def test_a_second_run_grades_only_what_changed(grade_all: GradeAll, grader: Grader, write: Write) -> None:
    grade_all("in")
    write("in/bob.py", answer("v3"))
    write("in/di.py", answer("v2"))
    grader.asked.clear()
    finished = grade_all("in")
    assert sorted(grader.asked) == ["bob.py", "di.py"]
    assert [row.verdict for row in finished.rows] == ["passed", "passed", "failed", "passed"]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    "other", [{"code": "2"}, {"options": {"seed": 5}}, {"options": {"isolation": "process"}}, {"fresh": True}]
)
def test_another_grader_and_other_options_grade_again(
    grade_all: GradeAll, grader: Grader, other: dict[str, Any]
) -> None:
    grade_all("in")
    grader.asked.clear()
    grade_all("in", **other)
    assert len(grader.asked) == 3


@pytest.mark.usefixtures("three")
def test_a_run_that_was_killed_goes_on(grade_all: GradeAll, grader: Grader, tmp_path: Path) -> None:
    grade_all("in", stop_after=2)  # planned, and two results; then nobody asks any more
    store = tmp_path / "out" / FILE_NAME
    lines = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(b"".join(lines[:1]) + lines[1][:40])  # the second one was cut off
    grader.asked.clear()
    finished = grade_all("in")
    assert len(grader.asked) == 2
    assert [row.verdict for row in finished.rows] == ["passed", "failed", "failed"]
    again = grade_all("in")
    assert len(grader.asked) == 2
    assert again.rows == finished.rows


def test_one_bad_file_stops_nobody(grade_all: GradeAll, write: Write, grader: Grader) -> None:
    write("in/a.py", answer("v1"))
    write("in/b.py", b"\xff\xff")
    write("in/c.py", answer("v1", "fault"))
    write("in/d.py", "")
    rows = {row.name: row for row in grade_all("in").rows}
    assert {name: row.verdict for name, row in rows.items()} == {
        "a.py": "passed",
        "b.py": "skipped",
        "c.py": "grader_error",
        "d.py": "unrunnable",
    }
    assert "it broke" in rows["c.py"].reason
    grader.asked.clear()
    grade_all("in")
    assert set(grader.asked) == {"c.py"}  # the grader's own fault is tried again


def test_the_same_file_by_two_ways_is_graded_once(grade_all: GradeAll, write: Write, grader: Grader) -> None:
    write("ada.py", answer("v1"))
    assert len(grade_all("ada.py", "*.py").rows) == 1
    assert len(grader.asked) == 1


def test_a_name_can_do_no_harm(grade_all: GradeAll, write: Write, tmp_path: Path) -> None:
    write("a.py", answer("v1", "scale"))
    cells = io.StringIO()
    csv.writer(cells).writerows([["name", "file"], [EVIL, "a.py"], ["../../up", "a.py"], ["+1", "a.py"]])
    write("roster.csv", cells.getvalue())
    finished = grade_all("roster.csv")
    out = tmp_path / "out"

    table = list(csv.DictReader(io.StringIO((out / "results.csv").read_text(encoding="utf-8"))))
    assert [row["name"][0] for row in table] == ["'", ".", "'"]
    assert all("\x1b" not in value for row in table for value in row.values())

    suites = ET.fromstring((out / "junit.xml").read_text(encoding="utf-8"))
    assert [case.get("name") for case in suites.iter("testcase")][1:] == ["../../up", "+1"]
    assert len(list(suites.iter("failure"))) == 3

    page = finished.page.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\x1b" not in page
    assert {path.parent for path in out.rglob("*.html")} == {out, out / "reports"}


def test_a_name_that_is_not_utf8_has_a_row_like_any_other(grade_all: GradeAll, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "in")
    Path(os.fsdecode(folder)).mkdir()
    names = {b"caf\xe9.py": answer("v1"), b"b\xff\xfe.py": "", b"d.py": answer("v3", "scale")}
    for name, text in names.items():
        Path(os.fsdecode(folder + b"/" + name)).write_text(text)
    for path in ("in", "in/*.py", os.fsdecode(b"in/caf\xe9.py")):
        rows = {row.name.rpartition("/")[2]: row.verdict for row in grade_all(path, fresh=True).rows}
        assert rows.pop("caf\\udce9.py") == "passed"
    out = tmp_path / "out"
    finished = grade_all("in")
    assert [row.verdict for row in finished.rows] == ["skipped", "passed", "failed"]
    for name in ("index.html", "results.csv", "junit.xml", FILE_NAME):
        text = (out / name).read_bytes().decode("utf-8")
        assert all(shown in text for shown in ("udce9.py", "udcff", "d.py")), name
    assert len(list((out / "reports").iterdir())) >= 2


def test_the_pages_one_script_is_the_one_its_policy_names(grade_all: GradeAll, write: Write) -> None:
    import base64
    import hashlib
    import re

    write("a.py", answer("v1"))
    page = grade_all("a.py").page.read_text(encoding="utf-8")
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "://" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


MINE = """
    def forward(self, x):
        mine = self.theta(x)
        return mine @ x.softmax(-1) * my_own_scale + our_mix(x, y, z)
"""
LONG = "\n    def forward(self, x):\n" + "".join(
    f"        part_{number} = self.theta_{number}(x) @ x.softmax(-{number}) * scale_{number}\n"
    for number in range(12)
)
OTHER = """
    def other(self, q):
        a, b, c = 1, 2, 3
        return q, a, b, c, q[a:b]
"""


def test_nearly_the_same_answers_are_flagged(grade_all: GradeAll, write: Write) -> None:
    write("in/ada.py", answer("v1", body=MINE))
    write("in/bob.py", "# copied\n" + answer("v1", body=MINE))
    write("in/cy.py", answer("v1", body=OTHER))
    write("in/di.py", answer("v1", body=LONG + "    more = our_mix\n"))
    write("in/eve.py", answer("v1", body=LONG))
    page = grade_all("in").page.read_text(encoding="utf-8")
    same = page.partition("The same</h2>")[2].partition("</section>")[0]
    assert "ada.py" in same
    assert "bob.py" in same
    assert "the same words. Any two others of the 5 share at most" in same
    assert "cy.py" not in same
    twins = page.partition("Nearly the same")[2].partition("</section>")[0]
    assert "di.py" in twins
    assert "cy.py" not in twins
