"""Downloads as they come: whose each file is, what the platform wrote, the same names in the gradebook."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog
from grader.cohort.gather import Wanted, gather
from grader.cohort.gradescope import submitters
from grader.cohort.layouts import moment
from grader.errors import UsageError
from tests.cohort.conftest import answer
from tests.cohort.downloads import DOWNLOADS
from tests.cohort.test_gather import archive

Write = Callable[[str, str | bytes], Path]


@pytest.fixture(params=["folder", "zip"])
def download(request: pytest.FixtureRequest, write: Write) -> Callable[[str], str]:
    def download(layout: str) -> str:
        files = DOWNLOADS[layout][0]
        if request.param == "zip":
            write("download.zip", archive(dict(files)))
            return "download.zip"
        for name, text in files.items():
            write(f"download/{name}", text)
        return "download"

    return download


@pytest.mark.parametrize("layout", DOWNLOADS)
@pytest.mark.parametrize("named", [True, False])
def test_everybody_is_found_with_what_the_platform_wrote(
    catalog: Catalog, download: Callable[[str], str], tmp_path: Path, layout: Any, named: bool
) -> None:
    wanted = Wanted(layout=layout) if named else None
    entries = gather([download(layout)], tmp_path, catalog, wanted).entries
    _, expected, (student, known) = DOWNLOADS[layout]
    own = [entry for entry in entries if not entry.aside]
    assert {(entry.student, entry.kata) for entry in own} == expected
    assert all(entry.submission or entry.reason for entry in own)
    origin = msgspec.structs.asdict(next(entry.origin for entry in own if entry.student == student))
    assert {name: origin[name] for name in known} == known


@pytest.mark.parametrize("layout", DOWNLOADS)
def test_the_names_of_the_download_are_those_of_the_gradebook(
    grade_all: Callable[..., Any], download: Callable[[str], str], tmp_path: Path, layout: str
) -> None:
    grade_all(download(layout))
    text = (tmp_path / "out" / "gradebook.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = DOWNLOADS[layout][1]
    assert {row["student"] for row in rows} == {student for student, _ in expected}
    graded = {(row["student"], row["kata"]) for row in rows if row["points"]}
    assert graded == {(student, kata) for student, kata in expected if kata}


def test_two_of_one_name_are_two_people(catalog: Catalog, write: Write, tmp_path: Path) -> None:
    for number in (1, 2):
        write(f"m/Anna Schmidt_{number}_assignsubmission_file/v1.py", answer("v1"))
    found = gather(["m"], tmp_path, catalog).entries
    assert [entry.student for entry in found] == ["Anna Schmidt (1)", "Anna Schmidt (2)"]


def test_a_layout_that_is_not_there_is_wrong_usage(catalog: Catalog, write: Write, tmp_path: Path) -> None:
    write("subs/ada/v1.py", answer("v1"))
    with pytest.raises(UsageError, match="do not lie as in a download of 'canvas'"):
        gather(["subs"], tmp_path, catalog, Wanted(layout="canvas"))


@pytest.mark.parametrize("text", [b"- a\n", b"a: [", b"\xff\xfe\x00"])
def test_metadata_that_is_none_says_so(text: bytes) -> None:
    with pytest.raises(UsageError, match=r"submission_metadata\.yml"):
        submitters(text)


def test_metadata_makes_no_objects() -> None:
    text = b"submission_1: {':submitters': [{':name': !!python/name:os.abort ''}]}"
    assert [person.name for person in submitters(text)["submission_1"]] == ["submission_1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30 15:58:23.948203 UTC", "2026-11-30T15:58:23+00:00"),
        ("2026-11-30T15:58:23+05:30", "2026-11-30T10:28:23+00:00"),
        ("2026-11-30 15:58:23", "2026-11-30T15:58:23+00:00"),
        ("2026-13-30 15:58:23", ""),
        ("yesterday", ""),
    ],
)
def test_times_are_those_that_were_written(text: str, expected: str) -> None:
    assert moment(text) == expected
