"""What the paths of a command line hold: files, folders, patterns, zip files, and lists of names and files.

Nothing is unpacked to where an archive says, no link is followed, and every size is bounded.
"""

from __future__ import annotations

import csv
import glob
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.catalog import Catalog, Kata
from grader.cohort.entries import Entry
from grader.errors import UsageError
from grader.records import Submission
from grader.snapshot import UnreadableSubmission, is_answer_name, read_submission, submission_of, which_kata

MOST_MEMBERS = 20_000
MOST_ROWS = 20_000
PASSED_OVER = frozenset({"__pycache__", "__MACOSX", "node_modules", "site-packages"})
NAME_COLUMNS = ("name", "candidate", "student", "id", "email")
FILE_COLUMNS = ("file", "path", "submission")


def gather(paths: Sequence[str], folder: Path, catalog: Catalog, kata: Kata | None = None) -> Iterator[Entry]:
    """Every answer below the paths, in a stable order. `kata` is for files that do not say which they answer.

    Raises `UsageError` for a path that holds nothing. What is wrong with one file stands in its entry.
    """
    for path in paths:
        found = False
        for name, file, submission, reason, wanted in _found(path, folder):
            found = True
            answers = wanted or (kata.id if kata else None)
            yield _entry(_text(name), _text(file), submission, reason, catalog, answers)
        if not found:
            raise UsageError(
                f"There are no answers in {path}.",
                "Name .py or .ipynb files, folders, .zip files or a .csv list.",
            )


_Found = tuple[str, str, Submission | None, str | None, str | None]  # name, file, submission, reason, kata


def _found(path: str, folder: Path) -> Iterator[_Found]:
    place = folder / path
    suffix = place.suffix.lower()
    if place.is_dir() and not place.is_symlink():
        yield from _in_folder(place, path)
    elif suffix == ".zip":
        yield from _in_zip(place, path)
    elif suffix == ".csv":
        yield from _in_list(place)
    elif glob.has_magic(path) and not place.exists():
        for match in sorted(glob.glob(path, root_dir=folder, recursive=True)):  # noqa: PTH207 - as it was typed
            if is_answer_name(match) or (folder / match).is_dir():
                yield from _found(glob.escape(match) if glob.has_magic(match) else match, folder)
    else:
        yield _read(place, path, path)


def _in_folder(folder: Path, shown: str) -> Iterator[_Found]:
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER and not name.startswith("."))
        for name in sorted(files):
            if is_answer_name(name) and not name.startswith("."):
                place = Path(parent) / name
                label = str(place.relative_to(folder))
                yield _read(place, label, os.path.join(shown, label))  # noqa: PTH118 - as it was typed


def _in_zip(path: Path, shown: str) -> Iterator[_Found]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _is_answer(member)]
            if len(members) > MOST_MEMBERS:
                raise UsageError(f"{shown} holds more than {MOST_MEMBERS} answers.", "Split it.")
            for member in sorted(members, key=lambda member: member.filename):
                yield _member(archive, member, shown)
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"{shown} cannot be read as a zip file: {error}", "Check the file.") from error


def _is_answer(member: zipfile.ZipInfo) -> bool:
    parts = Path(member.filename).parts
    hidden = any(part in PASSED_OVER or (part.startswith(".") and part != "..") for part in parts)
    return bool(parts) and not member.is_dir() and not hidden and is_answer_name(parts[-1])


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str) -> _Found:
    name, file = member.filename, f"{shown}/{member.filename}"
    base = Path(name).name
    try:
        with archive.open(member) as opened:
            submission = submission_of(Path(base), opened.read)
    except UnreadableSubmission as problem:
        return name, file, None, problem.message, None
    except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError) as problem:
        return name, file, None, f"{base} cannot be unpacked: {problem}", None
    return name, file, submission, None, None


def _in_list(path: Path) -> Iterator[_Found]:
    """A CSV of names and files, with or without a heading; files are found from where the list is."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = [row for row in csv.reader(opened) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path.name} cannot be read as a CSV list: {error}", "Save it as UTF-8.") from error
    if not rows or len(rows) > MOST_ROWS:
        raise UsageError(f"{path.name} has {len(rows)} rows.", f"It needs between 1 and {MOST_ROWS}.")
    name_at, file_at, kata_at, first = _columns(rows[0])
    for number, row in enumerate(rows[first:], first + 1):
        cells = [cell.strip() for cell in row]
        if max(name_at, file_at) >= len(cells) or not cells[file_at]:
            yield cells[0] or f"row {number}", "", None, f"Row {number} of {path.name} names no file.", None
            continue
        kata = cells[kata_at] if kata_at is not None and kata_at < len(cells) else None
        name, file, submission, reason, _ = _read(
            path.parent / cells[file_at], cells[name_at], cells[file_at]
        )
        yield name, file, submission, reason, kata or None


def _columns(row: list[str]) -> tuple[int, int, int | None, int]:
    """Where names, files and katas stand, and the first row of data."""
    heads = [cell.strip().lower() for cell in row]
    name = next((heads.index(head) for head in NAME_COLUMNS if head in heads), None)
    file = next((heads.index(head) for head in FILE_COLUMNS if head in heads), None)
    if file is None:
        return 0, 1, 2, 0
    return (file if name is None else name), file, heads.index("kata") if "kata" in heads else None, 1


def _read(place: Path, name: str, shown: str) -> _Found:
    try:
        return name, shown, read_submission(place), None, None
    except (UsageError, UnreadableSubmission) as problem:
        return name, shown, None, problem.message, None


def _text(name: str) -> str:
    """A name that is not UTF-8 cannot stand in a document as it is."""
    return name.encode("utf-8", "backslashreplace").decode()


def _entry(
    name: str,
    file: str,
    submission: Submission | None,
    reason: str | None,
    catalog: Catalog,
    kata: str | None,
) -> Entry:
    if submission is None:
        return Entry(name=name, file=file, kata=kata, reason=reason)
    try:
        found = catalog.get(kata) if kata else which_kata(submission, catalog)
    except UsageError as problem:
        return Entry(name=name, file=file, reason=problem.message)
    return Entry(name=name, file=file, kata=found.id, submission=submission)
