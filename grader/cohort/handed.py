"""All that a folder or a zip file holds, each file once: an answer that was read, or why there is none.

Nothing is unpacked to where an archive says, no link is followed, and every size is bounded. A zip file in
a folder or in a zip file is opened, one in that is not.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from grader.errors import UsageError
from grader.records import Record, Submission
from grader.snapshot import EmptyAnswer, UnreadableSubmission, read_submission, submission_of

MOST_FILES = 20_000
LARGEST_ZIP = 64 * 1024 * 1024  # of one in another
LARGEST_NOTE = 16 * 1024 * 1024
METADATA = "submission_metadata.yml"  # Gradescope's
TIMESTAMP = "timestamp.txt"  # nbgrader's
NOTES = frozenset({METADATA, TIMESTAMP})
_ROOT_OF_CLONE = frozenset({".git", "setup.py", "pyproject.toml", "setup.cfg"})
_TOOLS = frozenset({"__pycache__", "__MACOSX", "node_modules", "site-packages", "venv"})
_OF_A_CLONE = frozenset({"tests", "test", "docs", "build", "dist"})  # where it is no student's own folder
_FILES_ASIDE = re.compile(
    r"\..*|setup\.py|conftest\.py|noxfile\.py|__init__\.py|.*\.pyc|readme(\.\w{1,8})?|licen[sc]e(\.\w{1,8})?"
    r"|requirements[\w-]{0,30}\.txt|pyproject\.toml|setup\.cfg|makefile|thumbs\.db|desktop\.ini",
    re.IGNORECASE,
)
_BROKEN = (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError, zlib.error)


class Handed(Record):
    """One file. `path` is below what was named, its parts apart by `/`; that of a whole folder ends with one.

    With neither a `submission` nor a `reason` it was passed over: `aside`.
    """

    path: str
    submission: Submission | None = None
    reason: str | None = None
    note: bytes = b""  # what the platform wrote beside the answers
    empty: bool = False  # a folder with nothing in it

    @property
    def aside(self) -> bool:
        return self.submission is None and self.reason is None


class TooMany(Exception):
    """There is more than can be looked at."""


def in_folder(folder: Path) -> Iterator[Handed]:
    """All below the folder, in a stable order; an empty folder is there as well."""
    return _walk(folder, "", clone=False)


def in_zip(opened: IO[bytes]) -> Iterator[Handed]:
    """All that the archive holds; raises `BadZipFile`, `OSError` or `TooMany`."""
    return _members(opened, "", nested=False)


def one_file(place: Path, path: str) -> Handed:
    """The file that was named itself; it is never passed over."""
    return _answer(path, lambda: read_submission(place))


def _walk(folder: Path, prefix: str, *, clone: bool) -> Iterator[Handed]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Handed(path=prefix or "./", reason=f"The folder cannot be opened: {error.strerror}.")
        return
    names = {entry.name for entry in found}
    clone = clone or bool(prefix) or not _ROOT_OF_CLONE.isdisjoint(names)
    if not found or {"results.jsonl", "index.html"} <= names:  # nothing at all, or results of ours
        yield Handed(path=prefix or "./", empty=not found)
        return
    for entry in found:
        path = prefix + text_of(entry.name)
        if not entry.is_dir(follow_symlinks=False):
            yield from _file(path, Path(entry.path))
        elif _is_aside(entry.name, clone=clone):
            yield Handed(path=f"{path}/")
        else:
            yield from _walk(Path(entry.path), f"{path}/", clone=clone)


def _file(path: str, place: Path) -> Iterator[Handed]:
    name = place.name
    if name in NOTES:
        yield Handed(path=path, note=_note(place))
    elif _FILES_ASIDE.fullmatch(name):
        yield Handed(path=path)
    elif place.suffix.lower() == ".zip" and _is_regular(place):
        try:
            with place.open("rb") as opened:
                yield from _nested(opened, path)
        except OSError as error:
            yield Handed(path=path, reason=f"{text_of(name)} cannot be read: {error.strerror}.")
    else:
        yield _answer(path, lambda: read_submission(place))


def _nested(opened: IO[bytes], path: str) -> Iterator[Handed]:
    """What a zip file among the files holds: that it cannot be read stops nobody."""
    name = path.rpartition("/")[2]
    try:
        members = list(_members(opened, f"{path}/", nested=True))
    except (*_BROKEN, TooMany) as problem:
        yield Handed(path=path, reason=f"{name} cannot be read as a zip file: {problem}.")
        return
    yield from members
    if all(member.aside for member in members):
        yield Handed(path=path, reason=f"{name} holds no answer.")


def _members(opened: IO[bytes], prefix: str, *, nested: bool) -> Iterator[Handed]:
    with zipfile.ZipFile(opened) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
        if len(infos) > MOST_FILES:
            raise TooMany(f"it holds more than {MOST_FILES} files")
        names = [info.filename.replace("\\", "/") for info in infos]
        clone = nested or not _ROOT_OF_CLONE.isdisjoint(name.partition("/")[0] for name in names)
        seen: dict[str, int] = {}
        folders = {name[: at + 1] for name in names for at, sign in enumerate(name[:-1]) if sign == "/"}
        for info, name in zip(infos, names, strict=True):
            if aside := _folder_aside(name, clone=clone):
                if aside not in seen:
                    yield Handed(path=prefix + aside)
                seen[aside] = 1
                continue
            if info.is_dir():
                if name not in folders:
                    yield Handed(path=prefix + name, empty=True)
                continue
            seen[name] = seen.get(name, 0) + 1
            again = f" ({seen[name]})" if seen[name] > 1 else ""  # an archive may hold a name twice
            yield from _member(archive, info, f"{prefix}{name}{again}", nested=nested)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, *, nested: bool) -> Iterator[Handed]:
    name = info.filename.replace("\\", "/").rpartition("/")[2]
    if _FILES_ASIDE.fullmatch(name):
        yield Handed(path=path)
        return
    try:
        with archive.open(info) as opened:
            if name in NOTES:
                yield Handed(path=path, note=opened.read(LARGEST_NOTE))
            elif name.lower().endswith(".zip"):
                yield from _zip_in_zip(opened, path, name, nested=nested)
            else:
                yield _answer(path, lambda: submission_of(Path(name), opened.read))
    except _BROKEN as problem:
        yield Handed(path=path, reason=f"{name} cannot be unpacked: {problem}")


def _zip_in_zip(opened: IO[bytes], path: str, name: str, *, nested: bool) -> Iterator[Handed]:
    if nested:
        yield Handed(path=path, reason=f"{name} is a zip file in one that is in another; it is not opened.")
        return
    content = opened.read(LARGEST_ZIP + 1)
    if len(content) > LARGEST_ZIP:
        yield Handed(path=path, reason=f"{name} is larger than {LARGEST_ZIP >> 20} MiB.")
        return
    yield from _nested(io.BytesIO(content), path)


def _answer(path: str, read: Callable[[], Submission]) -> Handed:
    try:
        return Handed(path=path, submission=read())
    except EmptyAnswer as empty:
        nothing = hashlib.sha256(b"").hexdigest()
        return Handed(path=path, submission=Submission(name=empty.name, source=b"", sha256=nothing))
    except (UsageError, UnreadableSubmission) as problem:
        return Handed(path=path, reason=f"{problem.message} {problem.fix}")


def _folder_aside(name: str, *, clone: bool) -> str:
    """The folder of an archive that the member is in and that is passed over; none is empty."""
    *folders, _ = name.split("/")
    for depth, folder in enumerate(folders):
        if _is_aside(folder, clone=clone or depth > 0):
            return "/".join(folders[: depth + 1]) + "/"
    return ""


def _is_aside(folder: str, *, clone: bool) -> bool:
    if folder == "..":
        return False
    return folder.startswith(".") or folder in _TOOLS or (clone and folder in _OF_A_CLONE)


def _is_regular(place: Path) -> bool:
    try:
        return stat.S_ISREG(place.lstat().st_mode)
    except OSError:
        return False


def _note(place: Path) -> bytes:
    try:
        with place.open("rb") as opened:
            return opened.read(LARGEST_NOTE) if _is_regular(place) else b""
    except OSError:
        return b""


def text_of(name: str) -> str:
    """A name that is not UTF-8 cannot stand in a document as it is."""
    return name.encode("utf-8", "backslashreplace").decode()
