"""The gradebook: who counts how, what was changed by hand, and the platforms' own tables filled in."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from grader.catalog import Catalog
from grader.cohort.delivery import Delivery
from grader.cohort.entries import Origin, Row
from grader.cohort.gradebook import Rules, Standing, standings
from grader.cohort.overrides import Override, read_overrides
from grader.cohort.people import People, Person
from grader.cohort.templates import fill, spans
from grader.errors import UsageError
from tests.cohort.conftest import Grader, answer
from tests.cohort.downloads import DOWNLOADS

Write = Callable[[str, str | bytes], Path]
GradeAll = Callable[..., Any]
DEADLINE = datetime.fromisoformat("2026-11-30T12:00:00+00:00")


def row(student: str, points: int = 10, kata: str | None = "v1", **more: Any) -> Row:
    origin = Origin(**{name: more.pop(name) for name in list(more) if name in Origin.__struct_fields__})
    verdict = more.pop("verdict", "failed" if kata else "skipped")
    more.setdefault("file", f"{student}.py")
    return Row(
        name=student, slug=student, student=student, kata=kata, verdict=verdict, points=points, max_points=12,
        origin=origin, **more,
    )  # fmt: skip


def one(rows: list[Row], rules: Rules | None = None, *overrides: Override) -> Standing:
    [standing] = standings(rows, (), overrides, rules)
    return standing


def books(folder: Path, name: str = "gradebook.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / name).read_text(encoding="utf-8-sig"))))


@pytest.mark.parametrize(
    ("rows", "attempts", "points", "choice"),
    [
        (
            [row("a", 3), row("a", 9, file="b")],
            "latest", 9, "the best of 2 files that nothing tells the order of",
        ),
        ([row("a", 9, attempt=1), row("a", 3, attempt=2, file="b")], "latest", 3, "the latest of 2 files"),
        ([row("a", 9, attempt=1), row("a", 3, attempt=2, file="b")], "best", 9, "the best of 2 files"),
        (
            [row("a", 3, submitted="2026-11-30T10:00:00+00:00"),
             row("a", 9, submitted="2026-11-29T10:00:00+00:00", file="b")],
            "latest", 3, "the latest of 2 files",
        ),
        ([row("a", 9, gone=True), row("a", 3, file="b")], "latest", 3, "the latest of 2 files"),
        ([row("a", 4), row("a", 0, kata=None, file="x.pdf")], "latest", 4, "not graded beside it: x.pdf"),
    ],
)  # fmt: skip
def test_of_several_files_one_counts_and_it_is_said(
    rows: list[Row], attempts: Any, points: int, choice: str
) -> None:
    found = one(rows, Rules(attempts=attempts))
    assert (found.points, found.choice) == (points, choice)


def test_all_attempts_are_a_row_each() -> None:
    rows = [row("a", 9), row("a", 3, file="b")]
    assert [found.points for found in standings(rows, rules=Rules(attempts="all"))] == [9, 3]


@pytest.mark.parametrize(("missing", "points"), [(None, None), (0, 0)])
def test_what_is_not_there_is_empty_and_never_nothing(missing: float | None, points: float | None) -> None:
    known = [Person(name="Ada"), Person(name="Bob"), Person(name="Cy"), Person(name="Di")]
    rows = [row("Ada"), row("Bob", kata=None, reason="a PDF"), row("Di", verdict="grader_error")]
    found = {one.person.name: one for one in standings(rows, known, rules=Rules(missing=missing))}
    assert {name: one.points for name, one in found.items()} == {
        "Ada": 10, "Bob": points, "Cy": points, "Di": points,
    }  # fmt: skip
    assert found["Bob"].comment == "a PDF"
    assert found["Cy"].comment == "Nothing was handed in."


@pytest.mark.parametrize(
    ("submitted", "points", "late"),
    [
        ("2026-11-30T12:00:00+00:00", 10, ""),
        ("2026-11-30T12:00:01+00:00", 9, "1 day, 10 % off"),
        ("2026-12-02T11:00:00+00:00", 8, "2 days, 20 % off"),
        ("2027-11-30T12:00:00+00:00", 0, "365 days, 100 % off"),
        ("", 10, "time unknown"),
    ],
)
def test_late_is_only_what_the_platform_timed(submitted: str, points: float, late: str) -> None:
    found = one([row("a", submitted=submitted)], Rules(deadline=DEADLINE, late=0.1))
    assert (found.points, found.late) == (points, late)


def test_a_change_by_hand_is_said_and_comes_last() -> None:
    rows = [row("Ada", concepts=(("scale", "failed", 0), ("mask", "passed", 3)))]
    change = Override(person=Person(name="Lovelace, Ada"), kata="v1", points=11.5, comment="a typo of mine")
    found = one([row("Ada Lovelace")], None, change)
    assert found.points == 11.5
    assert found.comment == "changed by hand to 11.5 (the machine: 10 points): a typo of mine"
    part = Override(person=Person(name="Ada"), kata="v1", points=2, concept="scale")
    found = one(rows, None, part)
    assert (found.points, dict(found.concepts)["scale"]) == (12, 2)


def test_changes_survive_regrades_and_a_wrong_name_is_told(
    grade_all: GradeAll, write: Write, tmp_path: Path
) -> None:
    write("subs/ada.py", answer("v1"))
    grade_all("subs")
    write("out/overrides.csv", "student;kata;points;comment\nada;v1;3,5;agreed\nnobody;v1;1;\n")
    for fresh in (False, True):
        said = " ".join(grade_all("subs", fresh=fresh).said)
        [found] = books(tmp_path / "out")
        assert (found["points"], found["machine_points"]) == ("3.5", "14")
        assert "agreed" in found["comment"]
        assert "1 changed by hand" in said
        assert "nobody here is meant: nobody, v1" in said


@pytest.mark.parametrize(
    "text",
    [
        "student,points\na,1\n",
        "student,kata,points\n,v1,2\n",
        "student,kata,points\na,v1,x\n",
        "student,kata,concept,points\na,v1,mask,1\n",
        "student,kata,points\na,v99,1\n",
    ],
)
def test_a_change_that_says_nothing_is_wrong_usage(catalog: Catalog, write: Write, text: str) -> None:
    with pytest.raises(UsageError):
        read_overrides(write("overrides.csv", text), catalog)


def test_people_are_found_by_what_tables_share() -> None:
    people = People(
        [
            Person(name="Ada Lovelace", email="ada@example.org"),
            Person(name="Zoë Müller", id="0042"),
            Person(name="Anna Schmidt", id="1"),
            Person(name="Anna Schmidt", id="2"),
        ]
    )
    asked = {
        "Lovelace, Ada": 0, "lovelaceada": 0, "ada": 0, "ADA@example.org": 0, "Muller Zoe": 1, "0042": 1,
        "Anna Schmidt": None, "Nobody": None,
    }  # fmt: skip
    assert {name: people.find(Person(name=name)) for name in asked} == asked
    assert people.find(Person(name="Anna Schmidt", id="2")) == 3


@pytest.fixture
def moodle(write: Write) -> None:
    for name, text in DOWNLOADS["moodle"][0].items():
        write(f"m/{name}", text)


MOODLE = (
    'Identifier,"Full name","Email address",Status,{grade},"Maximum Grade",Modified,"Feedback comments"\r\n'
    'Participant 123,"Ada Lovelace",ada@x.org,"Submitted, ""on time""",{ada},24.00,"Monday, 5",{of_ada}\r\n'
    "Participant 124,Zoë Müller,zoe@example.org,  Submitted  ,{zoe},24.00,,{of_zoe}\r\n"
    "Participant 125,=Bob,,No submission,,24.00,-,\r\n"
)
EXPORTED = {"grade": "Grade", "ada": "", "of_ada": "", "zoe": "-", "of_zoe": "old"}
FILLED = {
    "grade": "Grade",
    "ada": "24",
    "of_ada": '"v1: 14 of 14 points. Passed."',
    "zoe": "24",
    "of_zoe": '"v3: 17 of 17 points. Passed."',
}


@pytest.mark.usefixtures("moodle")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_moodles_worksheet_is_filled_and_all_else_stays(
    grade_all: GradeAll, write: Write, tmp_path: Path, encoding: str, delimiter: str
) -> None:
    def saved(cells: dict[str, str]) -> bytes:
        lines = spans(MOODLE.format(**cells), ",")
        texts = [[MOODLE.format(**cells)[span.start : span.end] for span in line] for line in lines]
        return "".join(delimiter.join(line) + "\r\n" for line in texts).encode(encoding)

    template = write("worksheet.csv", saved(EXPORTED))
    finished = grade_all("m", delivery=Delivery(book="moodle", template=template))
    assert (tmp_path / "out" / "gradebook-moodle.csv").read_bytes() == saved(FILLED)
    assert any("Points were brought from 14 to 24, from 17 to 24" in line for line in finished.said)


@pytest.mark.usefixtures("moodle")
@pytest.mark.parametrize(
    ("written", "late"),
    [
        ("Monday, 30 November 2026, 11:59 AM", ""),
        ("Monday, 30 November 2026, 12:01 PM", "1 day, 10 % off"),
        ("Tuesday, 1 December 2026, 13:00", "2 days, 20 % off"),
        ("-", "time unknown"),
    ],
)
def test_moodles_times_are_those_of_its_worksheet(
    grade_all: GradeAll, write: Write, tmp_path: Path, written: str, late: str
) -> None:
    text = MOODLE.format(**EXPORTED).replace(",Modified,", ",Last modified (submission),")
    template = write("worksheet.csv", text.replace('"Monday, 5"', f'"{written}"'))
    rules = Rules(deadline=datetime.fromisoformat("2026-11-30T12:00:00").astimezone(), late=0.1)
    grade_all("m", delivery=Delivery(rules=rules, book="moodle", template=template))
    told = {line["student"]: line for line in books(tmp_path / "out") if line["points"]}
    assert told["Ada Lovelace"]["late"] == late
    assert told["Zoë Müller"]["late"] == "time unknown"


CANVAS = (
    "Student,ID,SIS Login ID,Section,Attention (991),Notes\n"
    "    Points Possible,,,,12,\n"
    '"Lovelace, Ada",12345,ada,A,,"+1"\n'
    '"Müller, Zoë",12346,zoe,A,,\n'
    '"Bob, B",12347,bob,A,,\n'
)


def test_canvas_export_is_filled_and_all_else_stays(
    grade_all: GradeAll, write: Write, tmp_path: Path
) -> None:
    for name, text in DOWNLOADS["canvas"][0].items():
        write(f"c/{name}", text)
    template = write("export.csv", CANVAS)
    grade_all("c", delivery=Delivery(book="canvas", template=template, feedback=True))
    made = (tmp_path / "out" / "gradebook-canvas.csv").read_text(encoding="utf-8")
    assert made == CANVAS.replace('ada,A,,"+1"', 'ada,A,12,"+1"').replace("zoe,A,,", "zoe,A,12,")
    with zipfile.ZipFile(tmp_path / "out" / "feedback.zip") as archive:
        assert archive.namelist() == [
            "lovelaceada_12345_678_answer.html",
            "müllerzoë_LATE_12346_679_v3-2.html",
        ]


def test_which_of_canvas_columns_is_asked(write: Write) -> None:
    template = write("export.csv", CANVAS.replace("Notes", "Other (992)"))
    with pytest.raises(UsageError, match="Which column"):
        fill(template, "canvas", [])
    assert fill(template, "canvas", [], "Other (992)").content == template.read_bytes()
    with pytest.raises(UsageError, match="has no column 'Nothing'"):
        fill(template, "canvas", [], "Nothing")


@pytest.mark.usefixtures("moodle")
def test_feedback_goes_back_into_moodles_folders(grade_all: GradeAll, tmp_path: Path, write: Write) -> None:
    write("m/Ada Lovelace_123_assignsubmission_file/second.py", answer("v2", "scale"))
    grade_all("m", delivery=Delivery(feedback=True))
    with zipfile.ZipFile(tmp_path / "out" / "feedback.zip") as archive:
        assert archive.namelist() == [
            "Ada Lovelace_123_assignsubmission_file/feedback.html",
            "Zoë Müller_124_assignsubmission_file/feedback.html",
        ]
        page = archive.read(archive.namelist()[0]).decode()
    assert page.count("<main>") == 2
    assert page.count("</html>") == 1


@pytest.mark.usefixtures("moodle")
def test_who_is_on_the_roster_and_handed_in_nothing_is_listed(
    grade_all: GradeAll, write: Write, tmp_path: Path, grader: Grader
) -> None:
    roster = write(
        "course.csv", "Vorname;Nachname;E-Mail\nAda;Lovelace;ada@example.org\nCy;Young;cy@example.org\n"
    )
    finished = grade_all("m", delivery=Delivery(roster=roster))
    [line] = [line for line in finished.said if line.startswith("Not handed in")]
    assert line == "Not handed in: Ada Lovelace (v3), Cy Young."
    rows = {(line["student"], line["kata"]): line for line in books(tmp_path / "out")}
    assert rows["Cy Young", "v1"]["verdict"] == "missing"
    assert rows["Cy Young", "v1"]["points"] == ""
    assert rows["Ada Lovelace", "v1"]["points"] == "14"
    assert "Cy Young" in finished.page.read_text(encoding="utf-8")
    assert grader.asked


def test_a_name_can_be_no_formula_anywhere(grade_all: GradeAll, write: Write, tmp_path: Path) -> None:
    write("a.py", answer("v1"))
    for sign in "=+-@\t\r":
        write("list.csv", f'name,file,email\n"{sign}cmd()",a.py,"{sign}x"\n')
        grade_all("list.csv", output=f"out{ord(sign)}")
        [found] = books(tmp_path / f"out{ord(sign)}")
        assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in found.values())


def test_a_platforms_book_needs_its_export() -> None:
    with pytest.raises(UsageError, match="needs its own export"):
        Delivery(book="moodle").check()
    with pytest.raises(UsageError, match="There is no file"):
        Delivery(roster=Path("nowhere.csv")).check()
