"""What a cohort's folder holds already: one JSON line for each result, appended as it comes, never rewritten.

A run that was killed goes on from there. A line that was cut off, or whose key is another now (the file, the
grader or the options changed), counts as not done; the last line of a file's counts.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

import grader
from grader.cohort.entries import VERSION, Entry, Result
from grader.errors import UsageError
from grader.grading import Options

FILE_NAME = "results.jsonl"
Identity = tuple[str, str]  # name and file


class Store:
    """The results in the folder, read on opening: only where each is, not what it says."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._keys: dict[Identity, str] = {}
        self._places: dict[Identity, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise UsageError(
                f"No results can be kept in {folder}: {error.strerror}.", "Name another folder with --output."
            ) from error
        self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def has(self, entry: Entry, key: str) -> bool:
        """Whether the entry was graded with that key."""
        return self._keys.get((entry.name, entry.file)) == key

    def add(self, result: Result) -> None:
        """Keep it; it is on the disk when this returns, as far as a killed process is concerned."""
        place = self._file.seek(0, 2)
        self._file.write(msgspec.json.encode(result) + b"\n")
        self._file.flush()
        self._note(result, place)

    def results(self, entries: Iterator[Identity] | None = None) -> Iterator[Result]:
        """The results, one at a time; of those entries, in their order, where given."""
        wanted = list(self._places) if entries is None else entries
        for identity in wanted:
            if identity in self._places:
                self._file.seek(self._places[identity])
                yield msgspec.json.decode(self._file.readline(), type=Result)

    def _read(self) -> None:
        self._file.seek(0)
        place = 0
        for line in self._file:
            try:
                result = msgspec.json.decode(line, type=Result)
            except msgspec.DecodeError:
                result = None
            if result is not None and result.version == VERSION and line.endswith(b"\n"):
                self._note(result, place)
            place += len(line)
        if place and not line.endswith(b"\n"):
            self._file.write(b"\n")  # what was cut off stays a line of its own

    def _note(self, result: Result, place: int) -> None:
        identity = (result.name, result.file)
        self._places[identity] = place
        if result.grade is not None and result.grade.verdict != "grader_error":
            self._keys[identity] = result.key
        else:
            self._keys.pop(identity, None)


def grader_digest(root: Path) -> str:
    """Of everything but the answer that decides a grade: this program, the katas below `root`, PyTorch."""
    whole = hashlib.sha256()
    torch = importlib.util.find_spec("torch")
    version = [Path(torch.origin).parent / "version.py"] if torch is not None and torch.origin else []
    for folder, pattern in ((Path(grader.__file__).parent, "**/*.py"), (root / "katas", "**/*.*")):
        for path in (*sorted(folder.glob(pattern)), *version):
            if path.is_file() and path.suffix != ".pyc":
                whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def key(entry: Entry, options: Options, code: str) -> str:
    """Of everything that decides the entry's grade. `code` is the `grader_digest`."""
    content = entry.submission.sha256 if entry.submission else ""
    how = [options.isolation, str(options.total_seconds), str(options.seed)]
    return hashlib.sha256("\0".join([entry.kata or "", content, code, *how]).encode()).hexdigest()[:32]
