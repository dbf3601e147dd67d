"""A new kata for a pack, made from one that there is: whole, except for what only its author can say."""

from __future__ import annotations

import re
from pathlib import Path

from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.packs import CONTENT_API, MANIFEST, is_kata_name, is_pack, read_pack
from grader.records import Record

_PACK = 'name = "{name}"\nversion = "0.1.0"\ncontent_api = {api}\n'
WORDS = "mistakes.toml"
_TITLE = "TODO: what the kata is called"
_SUMMARY = "TODO: what is to be written, in one sentence"
_BRIEF = "TODO: say what the candidate is to write. What stands below was said of {like}.\n\n{text}"


class Draft(Record):
    """What was written: the kata `kata` of the pack in the folder `pack`."""

    kata: str
    pack: Path
    files: tuple[Path, ...]


def draft(name: str, like: Kata, folder: Path, catalog: Catalog) -> Draft:
    """Write a kata `name`, a copy of `like`, into the pack in `folder`, which becomes one if need be.

    Nothing that is there is changed. Raises `UsageError` when there can be no such kata there.
    """
    if not is_kata_name(name):
        raise UsageError(
            f"No kata can be called '{name}'.",
            "Small letters, digits and underscores, beginning with a letter; and no word of a command.",
        )
    if any(kata.name == name for kata in catalog.katas if not kata.pack):
        raise UsageError(f"attention-kata has a kata '{name}'.", "Choose another name.")
    target, solution = folder / "katas" / name, folder / "solutions" / f"{name}.py"
    for path in (target, solution):
        if path.exists():
            raise UsageError(f"{path} is there already.", "Choose another name, or another folder.")
    written = []
    if not is_pack(folder):
        words = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
        pack = words if is_kata_name(words) else "mine"
        written.append(_write(folder / MANIFEST, _PACK.format(name=pack, api=CONTENT_API)))
    pack = read_pack(folder.resolve(), str(folder)).name
    copied = sorted(path for path in like.folder.iterdir() if path.is_file() and _is_copied(path, like))
    for path in (*copied, like.solution):
        text = _renamed(path.read_text(encoding="utf-8"), like, name, pack)
        if path.name == "kata.toml":
            text = _said_anew(text, name, like)
        elif path.name == "brief.md":
            text = _BRIEF.format(like=like.id, text=text)
        written.append(_write(solution if path == like.solution else target / path.name, text))
    return Draft(kata=name, pack=folder, files=tuple(written))


def _is_copied(path: Path, like: Kata) -> bool:
    """Words for mistakes of ours stay where they are, and are shared."""
    return path.name != WORDS or bool(like.pack)


def _renamed(text: str, like: Kata, name: str, pack: str) -> str:
    """With the new kata's own names: of its class or function, its file, its modules, and itself."""
    if like.defines == "class":
        own = "".join(part.capitalize() for part in name.split("_"))
        text = re.sub(rf"\b{like.class_name}\b", own, text)
    else:  # a function's name may be a word of torch as well: only where it is defined, called or promised
        text = re.sub(rf"(?<![\w.]){like.class_name}(?=\()", name, text)
        text = re.sub(rf'(?m)^(\w*name = )"{like.class_name}"', rf'\1"{name}"', text)
    text = re.sub(rf"\b{re.escape(like.file_name)}\b", f"{name}.py", text)
    text = re.sub(rf"\bkata_content\.{re.escape(like.id)}\b", f"kata_content.{pack}.{name}", text)
    first, newline, rest = text.partition("\n")
    return re.sub(rf"\b{re.escape(like.name)}\b", name, first) + newline + rest


def _said_anew(text: str, name: str, like: Kata) -> str:
    """kata.toml with what no copy keeps; its track is the pack's own."""
    if not like.pack and (like.folder / WORDS).is_file():
        shared = ", ".join(f'"{one}"' for one in (*like.shares, like.name))
        text = f"shares = [{shared}]\n" + re.sub(r"(?m)^shares = .*\n", "", text, count=1)
    for key, value in (
        ("id", f'"{name}"'),
        ("title", f'"{_TITLE}"'),
        ("summary", f'"{_SUMMARY}"'),
        ("level", "1"),
        ("prerequisites", "[]"),
    ):
        text = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", text, count=1)
    return re.sub(r"(?m)^track = .*\n", "", text, count=1)


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"Cannot write {path}: {error.strerror}.", "Name a folder that you may write to."
        ) from error
    return path
