"""What a cohort's folder holds already: one JSON line for each result, appended as it comes, never rewritten.

A run that was killed goes on from there. A line that was cut off, or whose key is another now (the file, the
grader or the options changed), counts as not done; the last line of an entry counts.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

import grader
from grader.cohort.entries import VERSION, Entry, Identity, Result
from grader.errors import UsageError
from grader.records import Options

FILE_NAME = "results.jsonl"


class Store:
    """The results in the folder, read on opening: only where each is, not what it says."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._keys: dict[Identity, str] = {}  # of what need not be done again
        self._places: dict[Identity, int] = {}
        self._gone: set[Identity] = set()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._out = self.path.open("ab", buffering=0)  # what a full disk refuses must not come again
            self._file = self.path.open("rb")
        except OSError as error:
            raise _not_kept(folder, error) from error
        self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.close()
        self._file.close()

    def has(self, entry: Entry, key: str) -> bool:
        """Whether the entry has its outcome, with that key."""
        return self._keys.get(entry.identity) == key

    def add(self, result: Result) -> None:
        """Keep it; it is on the disk when this returns, as far as a killed process is concerned."""
        place = self._out.seek(0, 2)
        self._write(msgspec.json.encode(result) + b"\n")
        self._note(result, place)

    def settle(self, entries: Sequence[Entry], scopes: Collection[str]) -> None:
        """Note which files are no longer in the places that were looked through.

        Their grades stay. What was not graded before and is another entry now, or none, is no row any more.
        """
        files = {entry.file for entry in entries}
        now = {entry.identity for entry in entries}
        for identity in list(self._places):
            student, kata, file = identity
            if identity in now:
                if identity in self._gone:
                    self.add(self._stored(identity))  # it is back
            elif (
                identity not in self._gone
                and (file not in files or not kata)
                and any(is_below(file, scope) for scope in scopes)
            ):
                self.add(Result(name=student, student=student, kata=kata or None, file=file, status="gone"))

    def results(self, first: Iterable[Identity] = ()) -> Iterator[tuple[Result, bool]]:
        """All results, one at a time, and whether the file has gone; the entries of `first` before others."""
        for identity in dict.fromkeys((*first, *sorted(self._places))):
            if identity not in self._places:
                continue
            result = self._stored(identity)
            if result.grade is not None or identity not in self._gone:
                yield result, identity in self._gone

    def _stored(self, identity: Identity) -> Result:
        self._file.seek(self._places[identity])
        return msgspec.json.decode(self._file.readline(), type=Result)

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[self._out.write(line) or 0 :]
        except OSError as error:
            raise _not_kept(self.path.parent, error) from error

    def _read(self) -> None:
        place = 0
        line = b""
        for line in self._file:
            try:
                result = msgspec.json.decode(line, type=Result)
            except msgspec.DecodeError:
                result = None
            if result is not None and result.version == VERSION and line.endswith(b"\n"):
                self._note(result, place)
            place += len(line)
        if line and not line.endswith(b"\n"):
            self._write(b"\n")  # what was cut off stays a line of its own

    def _note(self, result: Result, place: int) -> None:
        identity = result.identity
        if result.status == "gone":
            self._gone.add(identity)
            return
        self._gone.discard(identity)
        self._places[identity] = place
        if result.grade is None or result.grade.verdict != "grader_error":
            self._keys[identity] = result.key
        else:
            self._keys.pop(identity, None)


def is_below(file: str, scope: str) -> bool:
    """Whether the place is in that folder or archive, or it itself; all but an absolute path is below ""."""
    return file == scope or (file.startswith(f"{scope}/") if scope else not file.startswith("/"))


def grader_digest(roots: Sequence[Path]) -> str:
    """Of everything but the answer that decides a grade: this program, the katas of all roots, PyTorch."""
    whole = hashlib.sha256()
    torch = importlib.util.find_spec("torch")
    version = [Path(torch.origin).parent / "version.py"] if torch is not None and torch.origin else []
    for folder, pattern in (
        (Path(grader.__file__).parent, "**/*.py"),
        *((root / "katas", "**/*.*") for root in roots),
    ):
        for path in (*sorted(folder.glob(pattern)), *version):
            if path.is_file() and path.suffix != ".pyc":
                whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def key(entry: Entry, options: Options, code: str) -> str:
    """Of everything that decides the entry's grade, or why it has none. `code` is the `grader_digest`."""
    content = entry.submission.sha256 if entry.submission else ""
    how = [options.isolation, str(options.total_seconds), str(options.seed), entry.reason or ""]
    return hashlib.sha256("\0".join([entry.kata or "", content, code, *how]).encode()).hexdigest()[:32]


def _not_kept(folder: Path, error: OSError) -> UsageError:
    return UsageError(
        f"No results can be kept in {folder}: {error.strerror}.",
        "Make room there and run the same again: what is done stays.",
    )
