"""katas/ read into frozen records. Content is found in the wheel (`grader/_content`) or in the checkout."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from grader.errors import GraderFault, UsageError
from grader.records import Record

Content = TypeVar("Content")


class Concept(Record):
    """What a kata gives points for. Optional concepts (`required = false`) never decide a verdict."""

    id: str
    title: str
    points: int
    required: bool = True


class Layers(Record):
    """The layers this level has. `fused` says whether Q, K and V may share one weight, or must."""

    roles: tuple[str, ...]
    fused: str = "allowed"  # "allowed" | "required"


class Deadlines(Record):
    """Seconds. `call`: of processor time for one call into the candidate's code, and as many of waiting for
    anything but a processor. `total`: for all calls together. `judge`: the judge's own, of processor time.
    """

    call: float = 4.0
    total: float = 10.0
    judge: float = 20.0


class Rules(Record):
    """Calls that take the pass away, and minutes and points that hints cost."""

    banned: tuple[str, ...] = ()
    hint_cost: int = 0


class Kata(Record):
    """One kata: its `kata.toml`, and the folder that holds the rest."""

    id: str
    level: int
    title: str
    summary: str
    class_name: str
    file_name: str
    minutes: int
    concepts: tuple[Concept, ...]
    layers: Layers
    constructor: dict[str, int | float]  # argument name -> default, in order
    forward: tuple[str, ...]  # argument names; those after the first are optional
    prerequisites: tuple[str, ...] = ()
    rules: Rules = Rules()
    deadlines: Deadlines = Deadlines()
    folder: Path = Path()
    solution: Path = Path()

    @property
    def max_points(self) -> int:
        return sum(concept.points for concept in self.concepts)

    @property
    def takes_mask(self) -> bool:
        return "attention_mask" in self.forward

    @property
    def has_dropout(self) -> bool:
        return "dropout_rate" in self.constructor

    def text(self, name: str) -> str:
        """A content file of this kata, such as `brief.md`; a missing one is a fault of the content."""
        path = self.folder / name
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise GraderFault(f"kata {self.id} has no {name} ({error})", "Run `kata lint`.") from error


class Label(Record):
    """What is said about a mistake. `shows` completes "your output is exactly what you get when …" where the
    mistake is seen in the output, and "we saw that …" where it is seen in behaviour.
    """

    concept: str
    seen: Literal["output", "behaviour"]
    shows: str
    sentence: str
    fix: str
    why: str


Labels = Mapping[str, Label]


class Lines(Record):
    """A mistake in code: a wrong line, the right one in its place, and in how many sources it was found."""

    wrong: str
    right: str = ""
    found: Literal["one", "two or three", "four or more", ""] = ""


class Catalog(Record):
    """All katas, in the order of their levels."""

    katas: tuple[Kata, ...]
    root: Path

    def get(self, kata_id: str) -> Kata:
        """The kata of that id; raises `UsageError` with the nearest ids when there is none."""
        for kata in self.katas:
            if kata.id == kata_id.lower():
                return kata
        ids = [kata.id for kata in self.katas]
        near = difflib.get_close_matches(kata_id.lower(), ids, n=2, cutoff=0.4)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"There is no kata '{kata_id}'.{meant}", f"The katas are: {', '.join(ids)}.")

    @property
    def templates(self) -> Path:
        return self.root / "templates"


def content_root() -> Path:
    """The folder that holds `katas/`, `solutions/` and `templates/`."""
    package = Path(__file__).resolve().parent
    installed = package / "_content"
    return installed if installed.is_dir() else package.parent


def load_kata(folder: Path, solutions: Path) -> Kata:
    """One kata from its folder; a broken `kata.toml` raises `GraderFault` with the place."""
    path = folder / "kata.toml"
    try:
        document = msgspec.toml.decode(path.read_bytes())
        kata = msgspec.convert(document, type=Kata)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error
    return msgspec.structs.replace(kata, folder=folder, solution=solutions / f"{kata.id}.py")


def load_labels(catalog: Catalog) -> dict[str, Label]:
    """The words for every mistake, from `katas/common/mistakes.toml`."""
    return _load_common(catalog, "mistakes.toml", dict[str, Label])


def load_lines(catalog: Catalog) -> dict[str, Lines]:
    """The lines of code for the mistakes that have some, from `katas/common/explained.toml`."""
    return _load_common(catalog, "explained.toml", dict[str, Lines])


def _load_common(catalog: Catalog, name: str, kind: type[Content]) -> Content:
    """A file of `katas/common`; a catalog without it has ours."""
    own = catalog.root / "katas" / "common" / name
    path = own if own.is_file() else content_root() / "katas" / "common" / name
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error


def load_catalog(root: Path | None = None) -> Catalog:
    """All katas below `root` (default: the content this program came with)."""
    root = content_root() if root is None else root.resolve()
    folders = sorted(path.parent for path in (root / "katas").glob("*/kata.toml"))
    if not folders:
        raise GraderFault(f"No katas in {root / 'katas'}.", "Reinstall attention-kata, or name a folder.")
    katas = [load_kata(folder, root / "solutions") for folder in folders]
    return Catalog(katas=tuple(sorted(katas, key=lambda kata: (kata.level, kata.id))), root=root)
