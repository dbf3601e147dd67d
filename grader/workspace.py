"""The candidate's folder: put a stub there, find it again, start over. Work is never overwritten.

Nothing is written into the folder but the file that was asked for and, on a reset, the backup of the old one.
Which file answers which kata is remembered in the history.
"""

from __future__ import annotations

import os
import stat
import uuid
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from grader import paths
from grader.catalog import Kata
from grader.database import HistoryUnavailable
from grader.errors import UsageError
from grader.history import History, Start
from grader.records import Record
from grader.stored import StartKind

NOTEBOOK = ".ipynb"
Outcome = Literal["written", "found", "untouched"]


class Started(Record):
    """What `start` did. `warning` says what could not be remembered."""

    kata: Kata
    path: Path
    outcome: Outcome  # written; found: other work is there; untouched: the same stub is there
    blank: bool = False
    warning: HistoryUnavailable | None = None


class Reset(Record):
    """What `reset` did. `backup` is where the old work is, `None` when there was none worth keeping."""

    kata: Kata
    path: Path
    backup: Path | None
    warning: HistoryUnavailable | None = None


def start(
    kata: Kata, folder: Path, history: History, *, blank: bool = False, notebook: bool = False
) -> Started:
    """Write the kata's stub into `folder`, which is made if need be; `blank` leaves only the signature.

    A `notebook` has the brief above the stub, and below it the cell that grades. Work that is there already
    stays as it is; an untouched stub or blank page makes way for the other. Raises `UsageError` when the
    folder cannot be written to.
    """
    path = paths.identity(folder / kata.file_name)
    if notebook:
        path = path.with_suffix(NOTEBOOK)
    pages = _pages(kata, path)
    stub = pages[blank]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        outcome = _write_or_find(path, stub, pages)
    except OSError as error:
        raise cannot_write(path, error) from error
    warning = _remember(history, kata, path, "start" if outcome == "written" else "found")
    return Started(kata=kata, path=path, outcome=outcome, blank=blank, warning=warning)


def reset(
    kata: Kata,
    folder: Path,
    history: History,
    now: datetime,
    *,
    blank: bool = False,
    path: Path | None = None,
) -> Reset:
    """Put the stub back; the work that was there is kept beside it, named by the time `now`.

    The file is that at `path`, else the one this kata was last started in below `folder`, else the usual
    name in it.
    """
    path = path or _file_of(kata, folder, history)
    pages = _pages(kata, path)
    try:
        work = _work_at(path)
        backup = None if work is None or work in pages else back_up(path, work, now)
        replace_work(path, pages[blank])
    except OSError as error:
        raise cannot_write(path, error) from error
    return Reset(kata=kata, path=path, backup=backup, warning=_remember(history, kata, path, "reset"))


def find(folder: Path, history: History, kata: Kata | None = None) -> Start | None:
    """What was last started in `folder`, of that kata if one is given, and is still there."""
    starts = history.starts(folder=folder.resolve(), kata=None if kata is None else kata.id)
    return next((found for found in starts if found.path.is_file()), None)


def _file_of(kata: Kata, folder: Path, history: History) -> Path:
    try:
        started = find(folder, history, kata)
    except HistoryUnavailable:  # the usual name will do; the caller hears of it when the reset is recorded
        started = None
    return paths.identity(folder / kata.file_name) if started is None else started.path


def _remember(history: History, kata: Kata, path: Path, kind: StartKind) -> HistoryUnavailable | None:
    try:
        if kind == "found" and history.starts(path=path, kata=kata.id):
            return None
        history.record_start(kata.id, path, kind)
    except HistoryUnavailable as error:
        return error
    return None


def _pages(kata: Kata, path: Path) -> tuple[bytes, bytes]:
    """What a file begins as: the stub, and the blank page."""
    stub, blank = kata.text("stub.py"), kata.text("blank.py")
    if path.suffix.lower() == NOTEBOOK:
        return _notebook(kata, stub), _notebook(kata, blank)
    return stub.encode(), blank.encode()


def _notebook(kata: Kata, page: str) -> bytes:
    """The page as a notebook of version 4.5: the brief, the page, the grade."""
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "outputs": []}
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "source": kata.text("brief.md")},
        {**code, "source": "%load_ext grader.notebook"},
        {**code, "source": page},
        {**code, "source": f"%kata grade {kata.id}"},
    ]
    document = {
        "cells": [{"id": f"{kata.id}-{number}", "metadata": {}, **cell} for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _write_or_find(path: Path, stub: bytes, untouched: tuple[bytes, ...]) -> Outcome:
    try:
        write_new(path, stub)
    except FileExistsError:
        work = _work_at(path)
        if work == stub:
            return "untouched"
        if work not in untouched:
            return "found"
        replace_work(path, stub)
    return "written"


def _work_at(path: Path) -> bytes | None:
    """What the candidate has at `path`, `None` when nothing is there."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise UsageError(
            f"{path} is there already, and it is no regular file.", "Move it away, or name another folder."
        )
    return path.read_bytes()


def write_new(path: Path, content: bytes) -> None:
    """Create the file with its content. It never replaces one, and a half-written one is taken away."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def back_up(path: Path, work: bytes, now: datetime) -> Path:
    """A copy of the work beside it, under a name that nothing had before."""
    when = now.strftime("%Y-%m-%dT%H-%M-%S")
    backup = path.with_name(f"{path.stem}.{when}{path.suffix}")
    number = 1
    while True:
        try:
            write_new(backup, work)
        except FileExistsError:
            number += 1
            backup = path.with_name(f"{path.stem}.{when}-{number}{path.suffix}")
        else:
            return backup


def replace_work(path: Path, content: bytes) -> None:
    """The new content in one step: at no moment is the file missing or half written; its mode stays."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    write_new(beside, content)
    try:
        if path.exists():
            beside.chmod(stat.S_IMODE(path.lstat().st_mode))
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def cannot_write(path: Path, error: OSError) -> UsageError:
    return UsageError(f"Cannot write {path}: {error.strerror}.", "Name a folder that you may write to.")
