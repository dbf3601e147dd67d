"""Packs: katas from outside this project, beside ours.

A pack is a folder with `pack.toml`, `katas/` and `solutions/`. It is named with `--katas`, stands in
`KATA_PATH`, or is an installed package with an entry point of the group `attention_kata.packs`. What is wrong
with a pack or with one of its katas is one sentence in the catalog; everything else goes on working.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from grader.catalog import Catalog, Kata, Label, LeftOut, Pack, in_order, load_catalog, load_kata, read_labels
from grader.errors import KataError, UsageError
from grader.records import Record

# Of kata.toml, `grader.authoring` and the files of a kata: another number when older packs would break.
CONTENT_API = 1
GROUP = "attention_kata.packs"
VARIABLE = "KATA_PATH"
MANIFEST = "pack.toml"
OPTION = "--katas"
COMMON = "common"
# What no kata may be called: `kata interview WORD` means the step, and WORD.py means a file.
RESERVED = frozenset(
    {"start", "status", "submit", "next", "ask", "abort", "debrief", "list", "compare", "export", "import"}
    | {"room", "py", "ipynb", COMMON}
)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_GUIDE = "docs/authors.md shows a whole pack."


class _Manifest(Record):
    """`pack.toml`."""

    name: str
    version: str
    content_api: int


class _Named(Record):
    """Where a pack is said to be, and who says so."""

    origin: str
    folder: Path | None
    words: str = ""  # what was said, where that leads nowhere


class Unusable(KataError):
    """A pack, or one kata of it, that cannot be used as it is."""


def load_all(
    named: Sequence[Path] = (), environ: Mapping[str, str] = os.environ, root: Path | None = None
) -> Catalog:
    """Our katas and those of every pack: `named` ones, those of `KATA_PATH`, and installed ones.

    A pack that was named and cannot be used raises `UsageError`. What else is left out, and why, stands in
    the catalog.
    """
    catalog = load_catalog(root)
    for place in (*(_Named(origin=OPTION, folder=folder) for folder in named), *_known(environ)):
        try:
            catalog = _with(catalog, place)
        except Unusable as problem:
            if place.origin == OPTION:
                raise UsageError(problem.message, problem.fix) from problem
            left_out = LeftOut(message=problem.message, fix=problem.fix)
            catalog = msgspec.structs.replace(catalog, left_out=(*catalog.left_out, left_out))
    return catalog


def load_roots(roots: Sequence[Path]) -> Catalog:
    """The catalog of exactly these roots: the first holds the base, each of the others a pack."""
    base, *packs = roots
    return load_all(packs, {}, base)


def is_kata_name(word: str) -> bool:
    """Whether a kata of a pack, or a pack, may be called so: it is part of a module's name."""
    return _NAME.fullmatch(word) is not None and word not in RESERVED


def read_pack(root: Path, origin: str) -> Pack:
    """What `pack.toml` says; raises `Unusable`."""
    path = root / MANIFEST
    try:
        manifest = msgspec.toml.decode(path.read_bytes(), type=_Manifest)
    except OSError as error:
        raise Unusable(
            f"{root} ({origin}) is no pack of katas: its {MANIFEST} cannot be read ({error.strerror}).",
            f"A pack holds {MANIFEST}, katas/ and solutions/. {_GUIDE}",
        ) from error
    except msgspec.DecodeError as error:
        raise Unusable(f"{path}: {error}", f"It says name, version and content_api. {_GUIDE}") from error
    if not is_kata_name(manifest.name):
        raise Unusable(
            f"{path}: a pack cannot be called '{manifest.name}'.",
            "Small letters, digits and underscores, beginning with a letter: its modules are named after it.",
        )
    if manifest.content_api != CONTENT_API:
        newer = manifest.content_api > CONTENT_API
        raise Unusable(
            f"The pack {manifest.name} {manifest.version} is written for content API {manifest.content_api},"
            f" and this attention-kata has content API {CONTENT_API}.",
            "Update attention-kata." if newer else "Ask for a newer version of the pack.",
        )
    return Pack(name=manifest.name, version=manifest.version, root=root, origin=origin)


def is_pack(folder: Path) -> bool:
    """Whether a folder says that it is one."""
    return (folder / MANIFEST).is_file()


def _known(environ: Mapping[str, str]) -> Iterator[_Named]:
    for word in environ.get(VARIABLE, "").split(os.pathsep):
        if word:
            yield _Named(origin=VARIABLE, folder=Path(word).expanduser())
    if environ is os.environ:
        yield from _installed()


def _installed() -> Iterator[_Named]:
    """Packages with an entry point of our group: found by name, and not imported."""
    if not any(_mentions_the_group(Path(folder or ".")) for folder in sys.path):
        return
    from importlib.metadata import entry_points  # 40 ms, on the way of every command

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        top, *below = entry.module.split(".")
        spec = find_spec(top)
        places = [] if spec is None else list(spec.submodule_search_locations or ())
        folder = Path(places[0], *below) if places else None
        yield _Named(origin=f"the package {top}", folder=folder, words=entry.value)


def _mentions_the_group(folder: Path) -> bool:
    try:
        entries = [
            entry.path for entry in os.scandir(folder) if entry.name.endswith((".dist-info", ".egg-info"))
        ]
    except OSError:  # a zip file, or not there
        return False
    return any(_holds_the_group(Path(entry, "entry_points.txt")) for entry in entries)


def _holds_the_group(path: Path) -> bool:
    try:
        return GROUP.encode() in path.read_bytes()
    except OSError:
        return False


def _with(catalog: Catalog, place: _Named) -> Catalog:
    """The catalog with one pack more; raises `Unusable`."""
    if place.folder is None:
        raise Unusable(
            f"{place.origin} promises katas in {place.words}, and there is no such package.",
            "Its entry point names the package whose folder holds pack.toml.",
        )
    root = place.folder.absolute().resolve()
    if root in catalog.roots:
        return catalog
    pack = _pack(root, place.origin, catalog)
    _refuse_labels(pack, catalog)
    katas: list[Kata] = []
    left_out: list[LeftOut] = []
    for folder in sorted(path.parent for path in (root / "katas").glob("*/kata.toml")):
        try:
            katas.append(_kata(folder, pack, catalog))
        except KataError as problem:
            name = f"{pack.name}.{folder.name}"
            left_out.append(LeftOut(kata=name, message=problem.message, fix=problem.fix))
    if not katas and not left_out:
        raise Unusable(f"The pack {pack.name} holds no kata: {root / 'katas'} has no */kata.toml.", _GUIDE)
    grown = in_order((*catalog.katas, *_resolved(katas)), catalog.tracks, catalog.root)
    return msgspec.structs.replace(
        grown, packs=(*catalog.packs, pack), left_out=(*catalog.left_out, *left_out)
    )


def _pack(root: Path, origin: str, catalog: Catalog) -> Pack:
    """What `pack.toml` says, if there is no other pack or kata of that name."""
    pack = read_pack(root, origin)
    for other in catalog.packs:
        if other.name == pack.name:
            raise Unusable(
                f"The pack {other.name} is there twice: that in {root} ({origin}) is left out.",
                f"The one that is used, {other.version}, is in {other.root} ({other.origin}).",
            )
    if (catalog.root / "katas" / pack.name).exists():
        raise Unusable(
            f"{root / MANIFEST}: '{pack.name}' is a kata of attention-kata, or what some of them share.",
            "Give the pack another name.",
        )
    return pack


def _refuse_labels(pack: Pack, catalog: Catalog) -> None:
    """A label is a promise that reports and histories keep: one name has one meaning."""
    try:
        own, ours = _labels(pack.root), _labels(catalog.root)
    except KataError as problem:
        raise Unusable(problem.message, "Each label stands there once, with its words.") from problem
    taken = sorted(own.keys() & ours.keys())
    if taken:
        raise Unusable(
            f"The pack {pack.name} has words of its own for {', '.join(taken)}, which attention-kata has.",
            "Use the label as it is, without words of your own, or choose another name.",
        )


def _labels(root: Path) -> dict[str, Label]:
    """Every label that has words below a root: in `common`, in what katas share, and in theirs."""
    files = sorted((root / "katas").glob("*/mistakes.toml"))
    return {name: label for path in files for name, label in read_labels(path).items()}


def _kata(folder: Path, pack: Pack, catalog: Catalog) -> Kata:
    """A kata of a pack, under its full name; raises `KataError`."""
    kata = load_kata(folder, pack.root / "solutions", pack.name)
    path = folder / "kata.toml"
    if kata.id in RESERVED:
        raise Unusable(
            f"{path}: no kata can be called '{kata.id}', which means something else to the commands.",
            "Give it another id, and its folder the same.",
        )
    if kata.id in {other.id for other in catalog.katas if not other.pack}:
        raise Unusable(
            f"{path}: the id '{kata.id}' is taken by a kata of attention-kata.",
            "Give it another id, and its folder the same.",
        )
    if not is_kata_name(kata.id) or folder.name != kata.id:
        raise Unusable(
            f"{path}: the id '{kata.id}' does not do in the folder {folder.name}.",
            "The folder is called like the id: small letters, digits and underscores.",
        )
    return msgspec.structs.replace(kata, id=f"{pack.name}.{kata.id}")


def _resolved(katas: Iterable[Kata]) -> list[Kata]:
    """With prerequisites of the same pack under their full names."""
    katas = list(katas)
    full = {kata.name: kata.id for kata in katas}
    return [
        msgspec.structs.replace(
            kata, prerequisites=tuple(full.get(name, name) for name in kata.prerequisites)
        )
        for kata in katas
    ]
