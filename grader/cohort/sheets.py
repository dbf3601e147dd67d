"""Tables as people save them: CSV with commas, semicolons or tabs, in UTF-8, UTF-16 or Windows' own encoding.

What was taken for what is said, so that a wrong guess is seen.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from grader.errors import UsageError
from grader.records import Record

SUFFIXES = frozenset({".csv", ".tsv"})
MOST_ROWS = 20_000
LARGEST = 64 * 1024 * 1024
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEP_LINE = re.compile(r'"?sep=([,;\t])"?\r?\n', re.IGNORECASE)  # Excel's own, above the heading
_LOOKED_AT = 50  # rows

# The usual headings, without what is neither letter nor digit.
HEADINGS: dict[str, tuple[str, ...]] = {
    "name": ("name", "fullname", "student", "studentname", "candidate", "participant", "displayname"),
    "first": ("firstname", "givenname", "forename", "vorname", "prenom"),
    "last": ("lastname", "surname", "familyname", "nachname", "nom"),
    "id": (
        "id", "studentid", "sid", "idnumber", "studentnumber", "number", "sisuserid", "sisid", "identifier",
        "username", "user", "login", "loginid", "sisloginid", "githubusername", "matrikelnummer",
    ),
    "email": ("email", "emailaddress", "mail", "emailadresse"),
    "file": ("file", "filename", "path", "submission", "answer", "datei"),
    "kata": ("kata", "exercise", "level", "task"),
    "points": ("points", "score", "grade", "mark"),
    "concept": ("concept",),
    "comment": ("comment", "comments", "reason", "note", "feedback"),
}  # fmt: skip
_NEEDED = ("name", "last", "id", "email", "file")


class Sheet(Record):
    """A table that was read. `columns` says where each meaning stands; none when there is no heading."""

    name: str
    columns: dict[str, int]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    encoding: str
    delimiter: str

    def cell(self, row: Sequence[str], meaning: str) -> str:
        """What the row says of it; nothing when it has no such column."""
        at = self.columns.get(meaning)
        return row[at].strip() if at is not None and at < len(row) else ""

    def person(self, row: Sequence[str]) -> str:
        """Whose row it is, in the words of the table."""
        parts = (self.cell(row, "first"), self.cell(row, "last"))
        return self.cell(row, "name") or " ".join(filter(None, parts))

    def said(self) -> str:
        """Which column was taken for what, in a sentence."""
        how = f"read as {self.encoding}, columns apart by {_DELIMITERS[self.delimiter]}"
        if not self.heads:
            return f"{self.name}: {how}; no heading, so names are first, files second, katas third."
        taken = ", ".join(f"{meaning} from '{self.heads[at]}'" for meaning, at in self.columns.items())
        return f"{self.name}: {how}; {taken}."


def read_sheet(path: Path) -> Sheet:
    """The table in the file; raises `UsageError` when there is none that can be read."""
    try:
        with path.open("rb") as opened:
            content = opened.read(LARGEST)
        text, encoding = decoded(content)
        rows, delimiter = _split(text)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path.name} cannot be read as a CSV list: {error}", "Save it as UTF-8.") from error
    if not rows or len(rows) > MOST_ROWS:
        raise UsageError(f"{path.name} has {len(rows)} rows.", f"It needs between 1 and {MOST_ROWS}.")
    columns = meanings(rows[0])
    has_heading = not columns.keys().isdisjoint(_NEEDED)
    return Sheet(
        name=path.name,
        columns=columns if has_heading else {},
        heads=tuple(cell.strip() for cell in rows[0]) if has_heading else (),
        rows=tuple(tuple(row) for row in rows[has_heading:]),
        encoding=encoding,
        delimiter=delimiter,
    )


def decoded(content: bytes) -> tuple[str, str]:
    """The text, and the encoding it was read as; raises `UnicodeDecodeError`."""
    if content.startswith(_UTF16):
        return content.decode("utf-16"), "UTF-16"
    try:
        return content.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:
        return content.decode("cp1252"), "Windows-1252"


def delimiter_of(text: str) -> str:
    """What sets the columns apart: that which gives most of the first rows the same number of them."""
    if named := _SEP_LINE.match(text):
        return named[1]

    def fits(delimiter: str) -> tuple[float, int]:
        try:
            rows = [row for row in _first_rows(text, delimiter) if row]
        except csv.Error:
            return 0.0, 0
        widths = [len(row) for row in rows]
        wide = [width for width in widths if width == widths[0] and width > 1]
        return len(wide) / max(1, len(widths)), widths[0] if widths else 0

    return max(_DELIMITERS, key=fits)


def meanings(heads: Sequence[str]) -> dict[str, int]:
    """Which column a heading makes of what; the first that fits."""
    plain = [re.sub(r"[\W_]", "", head.lower()) for head in heads]
    found: dict[str, int] = {}
    for meaning, names in HEADINGS.items():
        at = next((plain.index(name) for name in names if name in plain), None)
        if at is not None:
            found[meaning] = at
    return found


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    return [row for _, row in zip(range(_LOOKED_AT), reader, strict=False)]


def _split(text: str) -> tuple[list[list[str]], str]:
    delimiter = delimiter_of(text)
    named = _SEP_LINE.match(text)
    body = io.StringIO(text[named.end() :] if named else text, newline="")
    rows = csv.reader(body, delimiter=delimiter)
    return [row for row in rows if any(cell.strip() for cell in row)], delimiter
