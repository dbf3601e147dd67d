"""Where the user's engine listens: a socket in a folder of their own, named after environment and code.

A changed package, torch or kata folder is another name, so a stale engine is never found; it leaves when its
successor tells it to, or when it has been idle.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalog import content_root

FOLDER = "attention-kata"
LONGEST_ADDRESS = 100  # bytes; the kernel takes 107
CODE_FOLDERS = ("katas", "solutions")  # of every root
PACKAGES = ("torch", "numpy", "pytest", "safetensors", "msgspec")


class NoPlace(Exception):
    """There is no folder here that belongs to this user alone."""


@dataclass(frozen=True)
class Place:
    """The files of one engine, and what holds its katas. `environment` and `code` are digests."""

    folder: Path
    environment: str
    code: str
    roots: tuple[Path, ...] = field(default_factory=lambda: (content_root(),))

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.environment}-{self.code}.sock"

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.environment}-{self.code}.lock"

    def others(self) -> list[Place]:
        """Where there are, or were, engines of this environment with other code: from before a reinstall."""
        found = self.folder.glob(f"{self.environment}-*.sock")
        codes = sorted(path.stem.partition("-")[2] for path in found if path != self.socket)
        return [Place(self.folder, self.environment, code, self.roots) for code in codes]


def place(environ: Mapping[str, str], roots: Sequence[Path] = ()) -> Place:
    """The place of the engine for this user, this environment and this code; raises `NoPlace`.

    `roots` hold the katas that it has loaded (default: only ours): an engine with others has another name.
    """
    folder = _own_folder(environ)
    roots = tuple(roots) or (content_root(),)
    made = Place(folder, _environment_digest(roots), _code_digest(roots), roots)
    if len(os.fsencode(made.socket)) > LONGEST_ADDRESS:
        raise NoPlace(f"{folder} is too long a name for a socket's folder")
    return made


def _own_folder(environ: Mapping[str, str]) -> Path:
    """The folder, made if need be; nobody else may look into it."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    usual = Path(runtime) / FOLDER if Path(runtime).is_absolute() else None
    fallback = Path(tempfile.gettempdir()) / f"{FOLDER}-{os.geteuid()}"
    for folder in (usual, fallback):
        if folder is not None and _is_own(folder):
            return folder
    raise NoPlace(f"{fallback} belongs to somebody else, or others may use it")


def _is_own(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077 == 0
    return private and found.st_uid == os.geteuid()


def _environment_digest(roots: Sequence[Path]) -> str:
    return _digest([sys.prefix, sys.base_prefix, sys.version, *map(str, roots)])[:8]


def _code_digest(roots: Sequence[Path]) -> str:
    return _digest(_code(roots))[:16]


def _code(roots: Sequence[Path]) -> Iterator[str]:
    """What an engine has loaded: our files, the katas, and what was installed beside them."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package, *(root / name for root in roots for name in CODE_FOLDERS)):
        yield from _files(str(folder))
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            yield from _stamp(found.origin)
            yield from _stamp(str(Path(found.origin).parent.parent))


def _files(folder: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        else:
            yield from _stamp(entry.path)


def _stamp(path: str) -> Iterator[str]:
    """Name, size and time of the last change; installing anything changes its folder's."""
    try:
        found = Path(path).stat()
    except OSError:
        return
    yield f"{path} {found.st_mtime_ns} {found.st_size}"


def _digest(words: Iterator[str] | list[str]) -> str:
    whole = hashlib.sha256()
    for word in words:
        whole.update(word.encode("utf-8", "surrogateescape") + b"\0")
    return whole.hexdigest()
