"""Autograders to upload: this program as it is here, the packages it needs, and what the platform starts."""

from __future__ import annotations

import io
import re
import stat
import uuid
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import grader
from grader.catalog import Catalog, Kata
from grader.errors import UsageError

CONTENT = ("katas", "solutions", "templates", "packaging")
_FOLDERS = {"github-action": "github"}  # in packaging/; the others have their own names
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same program is the same file
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def autograder(platform: str, kata: Kata, catalog: Catalog, wheels: Path | None = None) -> bytes:
    """The archive for that platform and kata; `wheels` is a folder to install from without a network."""
    if kata.pack:
        raise UsageError(
            f"{kata.id} is a kata of the pack {kata.pack}, which an autograder does not carry yet.",
            "Name one of this program's own: kata list",
        )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_files(platform, kata, catalog, wheels)):
            info = zipfile.ZipInfo(name, _EPOCH)
            runs = content.startswith(b"#!")
            info.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def requirements() -> str:
    """The packages that the program needs, each in the version that is installed here."""
    try:
        needed = metadata.requires("attention-kata") or []
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            "attention-kata is not installed here, so its packages are not known.", "pip install it first."
        ) from error
    names = [found[0] for line in needed if "extra ==" not in line and (found := _NAME.match(line))]
    return "".join(f"{name}=={metadata.version(name).partition('+')[0]}\n" for name in sorted(names))


def _files(platform: str, kata: Kata, catalog: Catalog, wheels: Path | None) -> Iterator[tuple[str, bytes]]:
    folder = catalog.root / "packaging" / _FOLDERS.get(platform, platform)
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"attention-kata/{kata.id}")
    words = {"@KATA@": kata.id, "@TITLE@": kata.title, "@FILE@": kata.file_name, "@UUID@": str(identity)}
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        yield path.name, text.encode()
    yield "requirements.txt", requirements().encode()
    if platform == "prairielearn":
        yield "clientFilesQuestion/brief.md", kata.text("brief.md").encode()
        yield "stub.py", kata.text("stub.py").encode()
    for path in sorted(wheels.glob("*.whl")) if wheels is not None else []:
        yield f"wheels/{path.name}", path.read_bytes()
    package = Path(grader.__file__).parent
    for path in _sources(package):
        if "_content" not in path.relative_to(package).parts:
            yield f"program/grader/{path.relative_to(package).as_posix()}", path.read_bytes()
    for name in CONTENT:
        for path in _sources(catalog.root / name):
            inside = path.relative_to(catalog.root / name).as_posix()
            yield f"program/grader/_content/{name}/{inside}", path.read_bytes()


def _sources(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return sorted(path for path in found if not _is_stray(path.relative_to(folder)))


def _is_stray(path: Path) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in path.parts)
