"""katas/ read into frozen records. Content is found in the wheel (`grader/_content`) or in the checkout."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from grader.definitions import Kind
from grader.errors import GraderFault, UsageError
from grader.records import ConceptRecord, Record
from grader.signature import Signature
from grader.tracks import Tracks, load_tracks

Content = TypeVar("Content")


class Concept(Record):
    """What a kata gives points for. Optional concepts (`required = false`) never decide a verdict."""

    id: str
    title: str
    points: int
    required: bool = True


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


class Todo(Record):
    """What a TODO of the stub asks for: layers (roles, or "dropout") of the constructor, or steps."""

    layers: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class Kata(Record):
    """One kata: its `kata.toml`, and the folder that holds the rest. A pack's has the pack in its `id`,
    `pack.name`: so it is one of its own in the history, whatever other packs there are.
    """

    id: str
    level: int
    title: str
    summary: str
    file_name: str
    minutes: int
    concepts: tuple[Concept, ...]
    signature: Signature
    prerequisites: tuple[str, ...] = ()
    todos: tuple[Todo, ...] = ()  # of the stub, in order; a blank page has two: constructor and forward
    shares: tuple[str, ...] = ()  # folders beside this one whose words for mistakes it takes over common's
    track: str = ""  # which one of tracks.toml it belongs to, at `level`; the main one unless it says so
    rules: Rules = Rules()
    deadlines: Deadlines = Deadlines()
    folder: Path = Path()
    solution: Path = Path()

    @property
    def pack(self) -> str:
        """The name of its pack; empty for one of ours."""
        return self.id.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its id within its pack."""
        return self.id.rpartition(".")[2]

    @property
    def max_points(self) -> int:
        return sum(concept.points for concept in self.concepts)

    @property
    def untouched(self) -> tuple[ConceptRecord, ...]:
        """The concepts of an answer that never ran: none was reached."""
        return tuple(
            ConceptRecord(
                id=concept.id,
                title=concept.title,
                points=0,
                max_points=concept.points,
                status="not_reached",
                required=concept.required,
            )
            for concept in self.concepts
        )

    @property
    def class_name(self) -> str:
        """The name of the class, or of the function, that the kata asks for."""
        return self.signature.name

    @property
    def defines(self) -> Kind:
        """What an answer's text defines under the kata's name."""
        return "class" if self.signature.is_module else "function"

    @property
    def takes_mask(self) -> bool:
        return self.signature.takes_mask

    @property
    def has_dropout(self) -> bool:
        return self.signature.rate is not None

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


class Experiment(Record, forbid_unknown_fields=True):
    """Lines to paste behind an answer; `right` is what a right answer prints, in words."""

    lines: tuple[str, ...]
    right: str


class OwnLine(Record):
    """A question on a candidate's line: `{line}`, `{code}`. Other names are numbers of a run."""

    question: str
    answer: str
    key_points: tuple[str, ...]


class Pack(Record):
    """A set of katas from outside this project. `root` holds its `pack.toml`, `katas/` and `solutions/`;
    `origin` says who named it.
    """

    name: str
    version: str
    root: Path
    origin: str


class LeftOut(Record):
    """A kata of a pack, or (`kata` is empty) a whole pack, that cannot be used, and why."""

    message: str
    fix: str
    kata: str = ""


class Catalog(Record):
    """All katas, in the order of their tracks and levels. `root` holds ours."""

    katas: tuple[Kata, ...]
    root: Path
    tracks: Tracks = Tracks()
    packs: tuple[Pack, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def get(self, kata_id: str) -> Kata:
        """The kata of that id, or the only one of that name; raises `UsageError` with the nearest ids when
        there is none.
        """
        wanted = kata_id.lower()
        same = [kata for kata in self.katas if kata.id == wanted]
        found = same or [kata for kata in self.katas if kata.name == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            ids = [kata.id for kata in found]
            raise UsageError(f"Several packs have a kata '{kata_id}'.", f"Say which: {' or '.join(ids)}.")
        for left_out in self.left_out:
            if wanted in (left_out.kata, left_out.kata.rpartition(".")[2]):
                raise UsageError(left_out.message, left_out.fix)
        ids = [kata.id for kata in self.katas]
        near = difflib.get_close_matches(wanted, ids, n=2, cutoff=0.4)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"There is no kata '{kata_id}'.{meant}", f"The katas are: {', '.join(ids)}.")

    def names(self, word: str) -> bool:
        """Whether the word names a kata, of one pack or of several."""
        return any(word.lower() in (kata.id, kata.name) for kata in self.katas)

    @property
    def roots(self) -> tuple[Path, ...]:
        """Every folder that holds katas: ours, and the packs'."""
        return (self.root, *(pack.root for pack in self.packs))

    def in_track(self, track: str) -> tuple[Kata, ...]:
        """The katas of a track, in order."""
        return tuple(kata for kata in self.katas if kata.track == track)

    @property
    def first(self) -> Kata:
        """Where a newcomer begins."""
        return self.onward()[0]

    def onward(self, track: str | None = None) -> tuple[Kata, ...]:
        """All katas in the order in which they come next: `track` (default: the main one), those after it,
        and those before it last.
        """
        place = self.tracks.place(self.tracks.main if track is None else track)
        before = tuple(kata for kata in self.katas if self.tracks.place(kata.track) < place)
        return (*self.katas[len(before) :], *before)

    @property
    def templates(self) -> Path:
        return self.root / "templates"


def content_root() -> Path:
    """The folder that holds `katas/`, `solutions/` and `templates/`."""
    package = Path(__file__).resolve().parent
    installed = package / "_content"
    return installed if installed.is_dir() else package.parent


def load_kata(folder: Path, solutions: Path, track: str) -> Kata:
    """One kata from its folder, in `track` unless it names another; a broken `kata.toml` raises `GraderFault`
    with the place.
    """
    path = folder / "kata.toml"
    try:
        document = msgspec.toml.decode(path.read_bytes())
        kata = msgspec.convert(document, type=Kata)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error
    solution = solutions / f"{kata.id}.py"
    return msgspec.structs.replace(kata, folder=folder, solution=solution, track=kata.track or track)


def load_labels(catalog: Catalog, pack: str | None = None) -> dict[str, Label]:
    """The words for mistakes, from `katas/common/mistakes.toml`: ours, and those of one pack or of all."""
    return _load_common(catalog, pack, "mistakes.toml", dict[str, Label])


def read_labels(path: Path) -> dict[str, Label]:
    """The words in one file; none where there is no such file."""
    return _read(path, dict[str, Label]) if path.is_file() else {}


def load_labels_of(kata: Kata, catalog: Catalog) -> dict[str, Label]:
    """The words for every mistake as this kata says them: common's, those of what it shares, its own."""
    labels = load_labels(catalog, kata.pack)
    for name in kata.shares:
        labels |= read_labels(own_or_ours(kata.folder.parent.parent, f"{name}/mistakes.toml"))
    return labels | read_labels(kata.folder / "mistakes.toml")


def load_every_label(catalog: Catalog) -> dict[str, Label]:
    """Every label there is: common's and the packs', then those of single katas, each in its first words."""
    found = load_labels(catalog)
    for kata in catalog.katas:
        found |= {name: label for name, label in load_labels_of(kata, catalog).items() if name not in found}
    return found


def load_lines(catalog: Catalog) -> dict[str, Lines]:
    """The lines of code for the mistakes that have some, from `katas/common/explained.toml`."""
    return _load_common(catalog, None, "explained.toml", dict[str, Lines])


def load_own_lines(catalog: Catalog) -> dict[str, OwnLine]:
    """The questions on a candidate's own lines, by concept, from `katas/common/own_lines.toml`."""
    return _load_common(catalog, None, "own_lines.toml", dict[str, OwnLine])


def load_experiments(catalog: Catalog) -> dict[str, Experiment]:
    """What shows a mistake that has no small numbers, by concept, from `katas/common/experiments.toml`."""
    return _load_common(catalog, None, "experiments.toml", dict[str, Experiment])


def _load_common(
    catalog: Catalog, pack: str | None, name: str, kind: type[dict[str, Content]]
) -> dict[str, Content]:
    """Ours count before those of packs, and of two packs with one name the first."""
    found = _read(own_or_ours(catalog.root, f"common/{name}"), kind)
    for one in catalog.packs:
        path = one.root / "katas" / "common" / name
        if pack in (None, one.name) and path.is_file():
            found = _read(path, kind) | found
    return found


def _read(path: Path, kind: type[Content]) -> Content:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error


def own_or_ours(root: Path, name: str) -> Path:
    """A file below `katas/` that several katas share; content that lacks it has ours."""
    own = root / "katas" / name
    return own if own.is_file() else content_root() / "katas" / name


def load_catalog(root: Path | None = None) -> Catalog:
    """All katas below `root` (default: the content this program came with)."""
    root = content_root() if root is None else root.resolve()
    folders = sorted(path.parent for path in (root / "katas").glob("*/kata.toml"))
    if not folders:
        raise GraderFault(f"No katas in {root / 'katas'}.", "Reinstall attention-kata, or name a folder.")
    tracks = load_tracks(own_or_ours(root, "tracks.toml"))
    katas = [load_kata(folder, root / "solutions", tracks.main) for folder in folders]
    return in_order(katas, tracks, root)


def in_order(katas: Iterable[Kata], tracks: Tracks, root: Path) -> Catalog:
    """The catalog of these katas: by track, then by level; tracks without a kata are left out."""
    katas = tuple(katas)
    used = tracks.of(tuple(kata.track for kata in katas))
    ordered = sorted(katas, key=lambda kata: (used.place(kata.track), kata.level, kata.id))
    return Catalog(katas=tuple(ordered), root=root, tracks=used)
