"""Everybody who handed in something has a row, whatever it is."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog
from grader.cohort.gather import Wanted, gather
from tests.cohort.conftest import Grader, answer
from tests.cohort.test_gather import archive

Write = Callable[[str, str | bytes], Path]
GradeAll = Callable[..., Any]


@pytest.fixture
def six(write: Write, tmp_path: Path) -> None:
    write("subs/ada/answer.py", answer("v1"))
    write("subs/bob/first.py", answer("v1"))
    write("subs/bob/third.py", answer("v3", "scale"))
    write("subs/cy/report.pdf", b"%PDF-1.7")
    write("subs/di/work.zip", archive({"deep/v2.py": answer("v2"), "photo.jpg": b"\xff\xd8"}))
    write("subs/eve/x.py.txt", answer("v1"))
    (tmp_path / "subs" / "finn").mkdir()


def seen(finished: Any) -> list[tuple[str, str | None, str]]:
    return [(row.student, row.kata, row.verdict) for row in finished.rows]


@pytest.mark.usefixtures("six")
def test_six_folders_are_six_students(grade_all: GradeAll) -> None:
    finished = grade_all("subs")
    assert seen(finished) == [
        ("ada", "v1", "passed"),
        ("bob", "v1", "passed"),
        ("bob", "v3", "failed"),
        ("cy", None, "skipped"),
        ("di", "v2", "passed"),
        ("di", None, "skipped"),
        ("eve", None, "skipped"),
        ("finn", None, "skipped"),
    ]
    reasons = {row.file: row.reason for row in finished.rows if row.verdict == "skipped"}
    assert reasons["subs/finn"] == "The folder is empty."
    assert "neither a .py file nor an .ipynb" in reasons["subs/cy/report.pdf"]
    assert "Save the answer as a .py file" in reasons["subs/eve/x.py.txt"]
    page = finished.page.read_text(encoding="utf-8")
    assert all(f">{name}" in page for name in ("cy/", "eve/", "finn"))


@pytest.mark.usefixtures("six")
def test_the_same_in_a_zip_file_and_as_a_pattern(grade_all: GradeAll, tmp_path: Path) -> None:
    expected = seen(grade_all("subs"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for path in sorted((tmp_path / "subs").rglob("*")):
            opened.write(path, path.relative_to(tmp_path))
    (tmp_path / "class.zip").write_bytes(packed.getvalue())
    assert seen(grade_all("class.zip", output="zipped")) == expected
    assert seen(grade_all("subs/*", output="pattern")) == expected
    assert seen(
        grade_all(
            *(f"subs/{name}" for name in sorted(path.name for path in (tmp_path / "subs").iterdir())),
            output="named",
        )
    )


def test_a_clone_is_one_student_and_its_tools_one_line(grade_all: GradeAll, write: Write) -> None:
    for name in (".git/config", "setup.py", "tests/test_it.py", "README.md", "src/__init__.py"):
        write(f"subs/ada/{name}", "x = 1\n")
    write("subs/ada/src/v1.py", answer("v1"))
    write("subs/bob/setup.py", "")
    rows = grade_all("subs").rows
    assert seen(type("F", (), {"rows": rows})) == [
        ("ada", "v1", "passed"),
        ("ada", None, "aside"),
        ("bob", None, "skipped"),
    ]
    assert rows[1].reason == "Passed over: .git/, README.md, setup.py, src/__init__.py, tests/."
    assert rows[2].reason == "There is no answer here, only setup.py."


def test_zips_are_read_one_level_deep_and_bad_ones_stop_nobody(grade_all: GradeAll, write: Write) -> None:
    inner = archive({"v1.py": answer("v1")})
    write("subs/ada/a.zip", archive({"in.zip": inner, "v3.py": answer("v3")}))
    write("subs/bob/b.zip", b"PK no")
    write("subs/cy/c.zip", archive({"README.md": "x"}))
    write("all.zip", archive({"di/d.zip": inner, "eve/e.py": answer("v1")}))
    rows = {(row.file, row.kata): row for row in grade_all("subs", "all.zip").rows}
    assert rows["subs/ada/a.zip/v3.py", "v3"].verdict == "passed"
    assert rows["all.zip/di/d.zip/v1.py", "v1"].student == "di"
    assert "cannot be read as a zip" in rows["subs/bob/b.zip", None].reason
    assert "holds no answer" in rows["subs/cy/c.zip", None].reason
    assert "a.zip/in.zip" in str([file for file, _ in rows])


def test_two_members_of_one_name_are_two_rows(grade_all: GradeAll, write: Write) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        opened.writestr("ada/v1.py", answer("v1"))
        with pytest.warns(UserWarning, match="Duplicate name"):
            opened.writestr("ada/v1.py", answer("v1", "scale"))
    write("class.zip", packed.getvalue())
    assert sorted(row.verdict for row in grade_all("class.zip").rows) == ["failed", "passed"]


def test_batches_and_weeks_are_not_students(catalog: Catalog, write: Write, tmp_path: Path) -> None:
    """Where it cannot be told, more people rather than fewer."""
    for number in range(6):
        write(f"course/on_time/s{number}.py", answer("v1"))
    write("weeks/one/ada/v1.py", answer("v1"))
    write("weeks/one/bob/v1.py", answer("v1"))
    write("weeks/two/ada/v1.py", answer("v1"))
    write("wrapped.zip", archive({"class/ada.py": answer("v1"), "class/bob.py": answer("v1")}))

    def students(path: str) -> list[str]:
        return [entry.student for entry in gather([path], tmp_path, catalog).entries]

    assert students("course") == [f"s{number}" for number in range(6)]
    assert students("weeks") == ["one/ada", "one/bob", "two"]
    assert students("wrapped.zip") == ["ada", "bob"]


def test_one_file_with_four_katas_has_four_grades(grade_all: GradeAll, write: Write) -> None:
    katas = ("v1", "v2", "v3", "v4")
    cells = [{"cell_type": "code", "source": answer(kata)} for kata in katas]
    write("all4.ipynb", json.dumps({"cells": cells}))
    write("list.csv", "name,file,kata\n" + "".join(f"Ada,all4.ipynb,{kata}\n" for kata in katas))
    for path in ("list.csv", "all4.ipynb"):
        finished = grade_all(path, output=path.partition(".")[0])
        assert [row.kata for row in finished.rows] == list(katas)
        assert len({row.slug for row in finished.rows}) == 4
        assert all(f"-{row.kata}-" in row.slug for row in finished.rows)
    several = grade_all("all4.ipynb", output="some", katas=("v1", "v3"))
    assert [row.kata for row in several.rows] == ["v1", "v3"]


def test_another_kata_and_a_late_batch_add_to_what_there_is(grade_all: GradeAll, write: Write) -> None:
    write("subs/ada/both.py", answer("v1") + answer("v3"))
    grade_all("subs", katas=("v1",))
    assert {row.kata for row in grade_all("subs", katas=("v3",)).rows} == {"v1", "v3"}
    write("late/bob/v3.py", answer("v3"))
    finished = grade_all("late")
    assert {(row.student, row.kata) for row in finished.rows} == {("ada", "v1"), ("ada", "v3"), ("bob", "v3")}
    assert "both.py" in finished.page.read_text(encoding="utf-8")


def test_what_is_not_there_any_more_keeps_its_grade_and_says_so(grade_all: GradeAll, write: Write) -> None:
    old = write("subs/ada/old.py", answer("v1", "scale"))
    write("subs/bob/photo.jpg", b"x")
    grade_all("subs")
    old.rename(old.with_name("new.py"))
    write("subs/bob/answer.py", answer("v1"))
    (old.parent.parent / "bob" / "photo.jpg").unlink()
    rows = {row.file: row for row in grade_all("subs").rows}
    assert rows.keys() == {"subs/ada/old.py", "subs/ada/new.py", "subs/bob/answer.py"}
    assert [rows[f"subs/ada/{name}.py"].gone for name in ("old", "new")] == [True, False]
    old.with_name("new.py").rename(old)
    rows = {row.file: row for row in grade_all("subs").rows}
    assert [rows[f"subs/ada/{name}.py"].gone for name in ("old", "new")] == [False, True]


def test_one_place_has_one_spelling(
    grade_all: GradeAll, write: Write, grader: Grader, tmp_path: Path
) -> None:
    write("subs/ada.py", answer("v1"))
    for path in ("subs", "./subs/", str(tmp_path / "subs"), "subs/../subs", "subs/ada.py", "subs/*.py"):
        assert [row.file for row in grade_all(path).rows] == ["subs/ada.py"]
    assert grader.asked == ["ada.py"]


def test_an_empty_file_has_no_points_and_a_report(
    grade_all: GradeAll, write: Write, grader: Grader, tmp_path: Path
) -> None:
    write("subs/ada/v3.py", "\ufeff \n")
    write("subs/bob/answer.py", "")
    write("subs/cy/answer.py", answer("v3"))
    rows = {row.student: row for row in grade_all("subs").rows}
    for name in ("ada", "bob"):
        row = rows[name]
        assert (row.kata, row.verdict, row.points, row.max_points) == ("v3", "unrunnable", 0, 17)
        assert row.reason == "Nothing was handed in: the file is empty."
        assert (tmp_path / "out" / "reports" / f"{row.slug}.html").is_file()
        document = json.loads((tmp_path / "out" / "gradescope" / row.slug / "results.json").read_bytes())
        assert document["score"] == 0
    assert grader.asked == ["answer.py"]


def test_what_answers_another_kata_than_was_asked_for_is_passed_over(
    catalog: Catalog, write: Write, tmp_path: Path
) -> None:
    write("subs/ada/v1.py", answer("v1"))
    write("subs/ada/v3.py", answer("v3"))
    found = gather(["subs"], tmp_path, catalog, Wanted(katas=(catalog.get("v3"),))).entries
    assert [(entry.kata, entry.aside) for entry in found] == [(None, True), ("v3", False)]
    assert found[0].reason == "v1.py answers v1, which was not asked for."
