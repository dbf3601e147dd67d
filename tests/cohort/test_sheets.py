"""Lists as people save them, and a line that says which column was taken for what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.cohort.gather import gather
from grader.cohort.sheets import read_sheet
from grader.errors import UsageError
from tests.cohort.conftest import answer

Write = Callable[[str, str | bytes], Path]
ENCODINGS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_excel_saves(
    catalog: Catalog, write: Write, tmp_path: Path, encoding: str, delimiter: str, end: str
) -> None:
    write("répertoire/ä.py", answer("v1"))
    lines = [
        ["First name", "Last name", "Email address", "ID number", "File"],
        ["Zoë", "Müller", "zoe@example.org", "0042", "répertoire/ä.py"],
    ]
    text = end.join(delimiter.join(line) for line in lines) + end
    write("list.csv", text.encode(encoding))
    found = gather(["list.csv"], tmp_path, catalog)
    [entry] = found.entries
    assert (entry.student, entry.kata, entry.file) == ("Zoë Müller", "v1", "répertoire/ä.py")
    assert (entry.origin.id, entry.origin.email) == ("0042", "zoe@example.org")
    [said] = found.said
    assert ENCODINGS[encoding] in said
    assert "first from 'First name', last from 'Last name', id from 'ID number'" in said


def test_a_line_of_excels_own_names_the_delimiter(write: Write) -> None:
    sheet = read_sheet(write("list.csv", "sep=;\r\nname;file\r\nAda, B.;a,b,c.py\r\n"))
    assert sheet.rows == (("Ada, B.", "a,b,c.py"),)


def test_commas_within_cells_decide_nothing(write: Write) -> None:
    text = 'Name;File\n"Lovelace, Ada";a.py\nBob;b.py\n'
    assert read_sheet(write("list.csv", text)).delimiter == ";"


@pytest.mark.parametrize("content", [b"\n", b"name,file\n\x81\x8d,"])
def test_what_is_no_table_says_so(write: Write, content: bytes) -> None:
    with pytest.raises(UsageError, match=r"list\.csv (has 0 rows|cannot be read)"):
        read_sheet(write("list.csv", content))
