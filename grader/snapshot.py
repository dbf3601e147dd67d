"""The candidate's file, read once and bounded. Nothing here parses or imports it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

from grader.catalog import Catalog, Kata
from grader.definitions import Kind, definitions, without_helpers
from grader.errors import KataError, UsageError
from grader.records import Submission

MAX_SOURCE = 256 * 1024
MAX_NOTEBOOK = 4 * 1024 * 1024  # a notebook carries its outputs, pictures too

_LIMITS = {".py": MAX_SOURCE, ".ipynb": MAX_NOTEBOOK}
_BOM = b"\xef\xbb\xbf"

# What stands at the path, by the first test that holds.
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnreadableSubmission(KataError):
    """There is something at the path, but no answer can be read from it: the verdict is `unrunnable`.

    `name` is the file's base name, `message` the reason, `fix` what to do next.
    """

    def __init__(self, name: str, reason: str, fix: str) -> None:
        super().__init__(reason, fix)
        self.name = name


class NotAnAnswer(UnreadableSubmission):
    """Nothing was read that could be an answer, as from a folder or an empty file: that is wrong usage."""


class EmptyAnswer(NotAnAnswer):
    """There is a file, and nothing is in it."""


def read_submission(path: Path) -> Submission:
    """The bytes at `path`, from one open descriptor.

    Links are not followed and only regular files are read, so a link to `/dev/zero` or a pipe without a
    writer cannot hold the grader up. Raises `UsageError` when there is nothing at the path, and
    `UnreadableSubmission` for all else: `NotAnAnswer` where the path never was one.
    """
    with _opened(path) as descriptor:
        return submission_of(path, lambda limit: _read(descriptor, limit))


def read_work(path: Path) -> bytes:
    """The bytes at `path`, also of a file that is no answer yet; raises as `read_submission` does."""
    with _opened(path) as descriptor:
        limit = _limit(path)
        source = _read(descriptor, limit + 1)
        _refuse_size(path, source, limit)
        return source


def submission_of(path: Path, read: Callable[[int], bytes]) -> Submission:
    """An answer that lies elsewhere than in a file: `read` gives at most so many bytes of it.

    `path` is its name. Raises `UnreadableSubmission` as `read_submission` does.
    """
    limit = _limit(path)
    source = read(limit + 1)
    _refuse_content(path, source, limit)
    return Submission(name=_shown(path), source=source, sha256=hashlib.sha256(source).hexdigest())


def which_kata(submission: Submission, catalog: Catalog) -> Kata:
    """The kata that the file's name tells, else the only one whose class the text defines, else the only one
    whose function it does; several or none raise `UsageError`.
    """
    named = [kata for kata in catalog.katas if Path(kata.file_name).stem == Path(submission.name).stem]
    found = named if len(named) == 1 else katas_in(submission, catalog)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{submission.name} answers several katas: {', '.join(kata.class_name for kata in found)}.",
            f"Say which one to grade: kata grade {submission.name} {found[0].id}",
        )
    classes = class_names(submission)
    defines = f"It defines {', '.join(classes[:5])}." if classes else "It defines no class."
    raise UsageError(
        f"Which kata does {submission.name} answer? {defines}",
        f"Name the kata: kata grade {submission.name} {catalog.first.id}",
    )


def katas_in(submission: Submission, catalog: Catalog) -> list[Kata]:
    """The katas whose classes the text defines, in its order; where it defines none, those whose functions.

    What only serves another of them (a base class, a helper) answers nothing.
    """
    defined = definitions(submission)
    for kind in get_args(Kind):
        names = list(dict.fromkeys(found.name for found in defined if found.kind == kind))
        wanted = {kata.class_name: kata for kata in catalog.katas if kata.defines == kind}
        answers = without_helpers([name for name in names if name in wanted], defined)
        if answers:
            return [wanted[name] for name in names if name in answers]
    return []


def class_names(submission: Submission) -> list[str]:
    """The classes that the text seems to define, each once, in order."""
    return list(dict.fromkeys(found.name for found in definitions(submission) if found.kind == "class"))


def is_answer_name(name: str) -> bool:
    """Whether a file of that name can be an answer."""
    return Path(name).suffix.lower() in _LIMITS


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = _open(path)
    try:
        _refuse_kind(path, os.fstat(descriptor).st_mode)
        yield descriptor
    except OSError as error:
        raise _unreadable(
            path, f"cannot be read: {error.strerror}", "Check the file and its disk."
        ) from error
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    # The flags exist on POSIX only; elsewhere a link is refused by its name before it is opened.
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    try:
        _refuse_kind(path, path.lstat().st_mode)
        return os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise UsageError(
                f"There is no file {path}.", "Check the name, or write a stub first: kata start v1"
            ) from error
        if error.errno == errno.ELOOP:
            raise _wrong_kind(path, "a symbolic link") from error
        raise _unreadable(
            path,
            f"cannot be opened: {error.strerror}",
            "Check the permissions of the file.",
            NotAnAnswer,
        ) from error


def _refuse_kind(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = [words for test, words in _KINDS if test(mode)]
    raise _wrong_kind(path, kinds[0] if kinds else "not a regular file")


def _limit(path: Path) -> int:
    limit = _LIMITS.get(path.suffix.lower())
    if limit is None:
        raise _unreadable(
            path,
            "is neither a .py file nor an .ipynb notebook",
            "Save the answer as a .py file.",
            NotAnAnswer,
        )
    return limit


def _read(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _refuse_size(path: Path, source: bytes, limit: int) -> None:
    if len(source) > limit:
        raise _unreadable(
            path,
            f"is larger than {limit // 1024} KiB, the most that is graded",
            "Keep only the answer in it; clear a notebook's outputs.",
        )


def _refuse_content(path: Path, source: bytes, limit: int) -> None:
    _refuse_size(path, source, limit)
    if not source.removeprefix(_BOM).strip():
        raise _unreadable(path, "is empty", "Write the class into it and save it.", EmptyAnswer)
    if b"\0" in source:
        place = source.index(b"\0")
        line = source.count(b"\n", 0, place) + 1
        raise _unreadable(
            path, f"holds a NUL byte on line {line}: that is not Python text", "Save it again as UTF-8 text."
        )
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise _unreadable(
            path,
            f"is not UTF-8 text (byte 0x{source[error.start]:02x} on line {line})",
            "Save it again with the encoding UTF-8.",
        ) from error


def _wrong_kind(path: Path, kind: str) -> UnreadableSubmission:
    fix = (
        "Name the file itself."
        if "link" in kind or "folder" in kind
        else "Name a regular .py or .ipynb file."
    )
    return _unreadable(path, f"is {kind}, and only a regular file is graded", fix, NotAnAnswer)


def _unreadable(
    path: Path, reason: str, fix: str, kind: type[UnreadableSubmission] = UnreadableSubmission
) -> UnreadableSubmission:
    return kind(_shown(path), f"{_shown(path)} {reason}.", fix)


def _shown(path: Path) -> str:
    # A name that is not UTF-8 cannot stand in JSON as it is.
    return path.name.encode("utf-8", "backslashreplace").decode()
