"""What the paths of a command line hold: files, folders, patterns, zip files, and lists of names and files.

Everybody who handed in something has an entry, and so has everything that was handed in: one for each kata
that a file answers, or one that says why it is not graded.
"""

from __future__ import annotations

import glob
import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from grader import paths as places
from grader.catalog import Catalog, Kata
from grader.cohort import handed
from grader.cohort.entries import Entry, Origin, several
from grader.cohort.handed import Handed, text_of
from grader.cohort.layouts import Owner, owners
from grader.cohort.names import Layout
from grader.cohort.sheets import SUFFIXES, read_sheet
from grader.errors import UsageError
from grader.records import Record, Submission
from grader.snapshot import katas_in, which_kata

MOST_SAID = 6  # names of files in one sentence


class Gathered(Record):
    """The entries, each once; `scopes` are the places that were looked through, `said` how they were read."""

    entries: tuple[Entry, ...]
    scopes: tuple[str, ...]
    said: tuple[str, ...]


class Wanted(Record):
    """How to look: the katas that are asked for (none: all), and how the files lie."""

    katas: tuple[Kata, ...] = ()
    layout: Layout = "auto"


def gather(
    paths: Sequence[str],
    folder: Path,
    catalog: Catalog,
    wanted: Wanted | None = None,
    base: Path | None = None,
) -> Gathered:
    """Everything below the paths, in a stable order. Places are told from `base`, the folder of the course.

    Raises `UsageError` for a path that holds nothing. What is wrong with one file stands in its entry.
    """
    finder = _Finder(catalog, wanted or Wanted(), folder if base is None else base)
    finder.look(_expanded(paths, folder))
    entries = {entry.identity: entry for entry in _with_reasons(finder.found)}
    return Gathered(
        entries=tuple(_with_katas(list(entries.values()))),
        scopes=tuple(finder.scopes),
        said=tuple(dict.fromkeys(finder.said)),
    )


def _expanded(paths: Sequence[str], folder: Path) -> Iterator[Path]:
    """The places, with patterns replaced by what they match."""
    for path in paths:
        if not glob.has_magic(path) or os.path.lexists(folder / path):
            yield folder / path
            continue
        found = sorted(glob.glob(path, root_dir=folder, recursive=True))  # noqa: PTH207 - as it was typed
        if not found:
            raise _nothing(path)
        yield from (folder / match for match in found)


class _Finder:
    """Looks at the places, and keeps what it found: entries, where it looked, and how it read that."""

    def __init__(self, catalog: Catalog, wanted: Wanted, base: Path) -> None:
        self._catalog = catalog
        self._wanted = wanted
        self._base = places.identity(base)
        self.found: list[Entry] = []
        self.scopes: list[str] = []
        self.said: list[str] = []

    def look(self, named: Iterable[Path]) -> None:
        """Folders and files that were named one by one, as a pattern gives them, are looked at together."""
        files: list[Path] = []
        folders: dict[Path, list[Handed]] = {}
        for path in named:
            place = places.identity(Path(os.path.normpath(path)))
            if place.is_dir() and not place.is_symlink():
                folders[place] = list(handed.in_folder(place))
            elif place.suffix.lower() == ".zip" and place.is_file():
                self._add(place, _archive(place))
            elif place.suffix.lower() in SUFFIXES:
                self._list(place)
            else:
                files.append(place)
        if folders and not files and not self.found and all(map(_is_empty, folders.values())):
            raise _nothing(", ".join(_inside(place, self._base) for place in folders))
        for parent in dict.fromkeys(place.parent for place in folders):
            self._folders(parent, {place: own for place, own in folders.items() if place.parent == parent})
        if files:
            root = Path(os.path.commonpath([place.parent for place in files]))
            self._add(root, [handed.one_file(place, _inside(place, root)) for place in files], whole=False)

    def _folders(self, parent: Path, folders: dict[Path, list[Handed]]) -> None:
        """Each by itself, unless they are the folders of students: then they lie beside one another."""
        one_each = [self._is_one_each(files) for files in folders.values()]
        if len(folders) == 1 or one_each.count(True) <= one_each.count(False):
            for place, files in folders.items():
                if _is_empty(files):
                    self._add(parent, [Handed(path=f"{text_of(place.name)}/", empty=True)], whole=False)
                else:
                    self._add(place, files)
            return
        together = [
            msgspec.structs.replace(file, path=f"{text_of(place.name)}/{file.path.removeprefix('./')}")
            for place, files in folders.items()
            for file in files
        ]
        self._add(parent, together, whole=False)
        self.scopes += [self._shown(place, "") for place in folders]

    def _is_one_each(self, files: list[Handed]) -> bool | None:
        """Whether a folder holds no two answers to the same kata; None when it holds none at all."""
        submissions = [file.submission for file in files if file.submission is not None]
        answered = [kata.id for submission in submissions for kata in katas_in(submission, self._catalog)]
        return len(answered) == len(set(answered)) if answered else None

    def _add(self, root: Path, files: list[Handed], *, whole: bool = True) -> None:
        """Entries for files below one place; `whole` says that there is nothing else below it."""
        told, layout = owners(files, self._wanted.layout, self._catalog)
        if layout not in ("folders", "files"):
            self.said.append(f"{text_of(root.name)}: as a download of {layout}.")
        if whole:
            self.scopes.append(self._shown(root, ""))
        nobodys = []
        for file, people in zip(files, told, strict=True):
            if not people and not file.note:
                nobodys.append(file.path)
            for owner in people:
                self.found += self._entries(file, self._shown(root, file.path), owner)
        if nobodys:
            place = self._shown(root, "") or "."
            reason = f"Passed over: {several(nobodys, MOST_SAID)}."
            self.found.append(Entry(name=place, file=place, reason=reason, aside=True))

    def _list(self, path: Path) -> None:
        """People and files from a table; files are found from where it is."""
        sheet = read_sheet(path)
        self.said.append(sheet.said())
        headless = not sheet.columns
        if headless:
            sheet = msgspec.structs.replace(sheet, columns={"name": 0, "file": 1, "kata": 2})
        for number, row in enumerate(sheet.rows, 1 if headless else 2):
            file = sheet.cell(row, "file")
            name = text_of(sheet.person(row) or sheet.cell(row, "email") or sheet.cell(row, "id") or file)
            origin = Origin(id=sheet.cell(row, "id"), email=sheet.cell(row, "email"))
            owner = Owner(student=name or f"row {number}", label=name or f"row {number}", origin=origin)
            if not file:
                reason = f"Row {number} of {path.name} names no file."
                self.found.append(_entry(owner, "", reason=reason, file=f"{path.name}#{number}"))
                continue
            place = path.parent / file
            shown = self._shown(places.identity(Path(os.path.normpath(place))), "")
            kata = sheet.cell(row, "kata").lower()
            self.found += self._entries(handed.one_file(place, file), shown, owner, kata)

    def _entries(self, file: Handed, shown: str, owner: Owner, kata: str = "") -> Iterator[Entry]:
        """One for each kata that the file answers, or one that says why there is none."""
        if file.submission is None:
            yield _entry(owner, kata, reason=file.reason, file=shown, aside=file.aside)
            return
        try:
            answered = self._answered(file.submission, kata)
        except UsageError as problem:
            yield _entry(owner, "", reason=problem.message, file=shown)
            return
        if answered is None:
            known = ", ".join(kata.id for kata in katas_in(file.submission, self._catalog))
            reason = f"{file.submission.name} answers {known}, which was not asked for."
            yield _entry(owner, "", reason=reason, file=shown, aside=True)
            return
        for one in answered or ("",):
            yield _entry(owner, one, file=shown, submission=file.submission)

    def _answered(self, submission: Submission, listed: str) -> list[str] | None:
        """The ids of the katas; none for an empty file that says nothing, `None` for others' katas only."""
        if listed:
            return [self._catalog.get(listed).id]
        wanted = [kata.id for kata in self._wanted.katas]
        found = [kata.id for kata in katas_in(submission, self._catalog)]
        if not wanted and found:
            return found
        if both := [kata for kata in found if kata in wanted]:
            return both
        if found:
            return None
        if len(wanted) == 1:
            return wanted
        if not submission.source:
            return [kata.id for kata in self._catalog.katas if _says(submission.name, kata)][:1]
        return [which_kata(submission, self._catalog).id]  # it says why there is none

    def _shown(self, root: Path, path: str) -> str:
        """The place as it is called in the results: from the course's folder, where it lies below that."""
        whole = text_of(str(root.relative_to(self._base) if root.is_relative_to(self._base) else root))
        inside = path.removeprefix("./")
        return "/".join(part for part in ("" if whole == "." else whole, inside) if part)


def _archive(place: Path) -> list[Handed]:
    try:
        with place.open("rb") as opened:
            files = list(handed.in_zip(opened))
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise UsageError(f"{place.name} cannot be read as a zip file: {error}", "Check the file.") from error
    except handed.TooMany as error:
        raise UsageError(f"{place.name} cannot be read: {error}.", "Split it.") from error
    if not files:
        raise _nothing(place.name)
    return files


def _nothing(path: str) -> UsageError:
    return UsageError(
        f"There are no answers in {path}.", "Name .py or .ipynb files, folders, .zip files or a .csv list."
    )


def _is_empty(files: Sequence[Handed]) -> bool:
    return all(file.path == "./" and file.aside for file in files)


def _inside(place: Path, root: Path) -> str:
    return text_of(place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place))


def _entry(
    owner: Owner,
    kata: str,
    *,
    file: str,
    reason: str | None = None,
    submission: Submission | None = None,
    aside: bool = False,
) -> Entry:
    return Entry(
        name=owner.label, file=file, student=owner.student, kata=kata or None, submission=submission,
        reason=reason, aside=aside, origin=owner.origin,
    )  # fmt: skip


def _says(name: str, kata: Kata) -> bool:
    """Whether the file's name is that of the kata's stub, or has the kata's id as a word."""
    stem = name.rpartition(".")[0].lower()
    return stem == Path(kata.file_name).stem.lower() or kata.id in re.split(r"[\W_]+", stem)


def _with_reasons(found: Sequence[Entry]) -> Iterator[Entry]:
    """The entries, what was passed over in one for each student; who has nothing else is not graded."""
    aside: dict[str, list[Entry]] = defaultdict(list)
    others = {entry.student for entry in found if not entry.aside}
    for entry in found:
        if entry.aside and not entry.reason:
            aside[entry.student].append(entry)
        else:
            yield entry
    for student, entries in aside.items():
        yield _passed_over(student, entries, alone=student not in others)


def _passed_over(student: str, entries: Sequence[Entry], *, alone: bool) -> Entry:
    """One entry for all, at the student's own folder."""
    unit, first = f"/{entries[0].origin.unit}/", f"/{entries[0].file.rstrip('/')}/"
    folder = first[: first.rfind(unit) + len(unit) - 1].lstrip("/") if unit in first else entries[0].file
    names = [entry.file.removeprefix(f"{folder}/") for entry in entries]
    shown = several([name for name in names if name], MOST_SAID)
    reason = f"Passed over: {shown}." if not alone else f"There is no answer here, only {shown}."
    return Entry(
        name=student,
        file=folder,
        student=student,
        reason=reason if shown else "The folder is empty.",
        aside=not alone,
        origin=entries[0].origin,
    )


def _with_katas(entries: Sequence[Entry]) -> Iterator[Entry]:
    """An empty file that does not say which kata it is for is for the only one that there is here."""
    answered = {entry.kata for entry in entries if entry.kata}
    for entry in entries:
        if entry.submission is None or entry.kata is not None:
            yield entry
        elif len(answered) == 1:
            yield msgspec.structs.replace(entry, kata=next(iter(answered)))
        else:
            name = entry.submission.name
            reason = f"{name} is empty, and nothing says which kata it is for: name one with --kata."
            yield msgspec.structs.replace(entry, submission=None, reason=reason)
