"""What katas offer for bug hunts: right answers in several styles, and mistakes as edits of their text.

`katas/<id>/rooms/*.py` are the answers. The mistakes are in `rooms/bugs.toml` of the kata's folder, of those
whose words it shares, and of common: an edit belongs to every answer in which its text stands exactly once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from grader.catalog import Catalog, Kata, load_labels_of, own_or_ours
from grader.errors import GraderFault
from grader.records import Record

FOLDER = "rooms"
BUGS = "bugs.toml"


class BugEntry(Record, forbid_unknown_fields=True):
    """A mistake as content tells it: `edits` are pairs of the right text and the wrong one."""

    label: str
    report: str
    edits: tuple[tuple[str, str], ...]
    form: str = ""
    subtle: bool = False
    katas: tuple[str, ...] = ()  # the only ones that know it; none: all in which an edit fits


class Apart(Record, forbid_unknown_fields=True):
    """Mistakes that are never planted together: side by side they cannot be told from others."""

    labels: tuple[str, ...]
    reason: str


class Lesson(Record, forbid_unknown_fields=True):
    """What is said after a hunt of the bugs in a concept: the cheapest experiment that shows one, how a test
    would have caught it (`test_points`: of a good answer), and whether the loss curve shows it.
    """

    concept: str
    experiment: str
    test: str
    test_points: tuple[str, ...]
    curve: str


class BugFile(Record, forbid_unknown_fields=True):
    """`without`: labels of shared files that are not planted in the katas this file belongs to."""

    without: tuple[str, ...] = ()
    bugs: tuple[BugEntry, ...] = ()
    apart: tuple[Apart, ...] = ()
    lessons: tuple[Lesson, ...] = ()


class Edit(Record):
    """A mistake as an edit of one answer; `right` stands there from `start` on."""

    label: str
    concept: str
    form: str
    report: str
    subtle: bool
    right: str
    wrong: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.right)


class Style(Record):
    """One right answer, and the edits that it can take."""

    name: str
    text: str
    edits: tuple[Edit, ...]


class Stock(Record):
    """All that a kata offers. `version` changes with any of it."""

    kata: Kata
    version: str
    styles: tuple[Style, ...]
    apart: tuple[frozenset[str], ...]


def has_rooms(kata: Kata) -> bool:
    """Whether there are answers to plant mistakes in."""
    return (kata.folder / FOLDER).is_dir()


def load_stock(kata: Kata, catalog: Catalog) -> Stock:
    """What this kata offers; no style, where there is nothing."""
    concepts = {label: words.concept for label, words in load_labels_of(kata, catalog).items()}
    files = [_bug_file(path) for path in _bug_paths(kata, catalog)]
    without = {label for file in files for label in file.without}
    entries = [
        entry
        for file in files
        for entry in file.bugs
        if entry.label not in without and (not entry.katas or kata.id in entry.katas)
    ]
    texts = {path.stem: _read(path) for path in sorted((kata.folder / FOLDER).glob("*.py"))}
    styles = tuple(
        Style(name=name, text=text, edits=tuple(_edits(text, entries, concepts)))
        for name, text in texts.items()
    )
    apart = tuple(frozenset(pair.labels) for file in files for pair in file.apart)
    said = msgspec.json.encode((styles, [sorted(labels) for labels in apart]))
    version = hashlib.sha256(said).hexdigest()[:12]
    return Stock(kata=kata, version=version, styles=styles, apart=apart)


def load_lessons(kata: Kata, catalog: Catalog) -> dict[str, Lesson]:
    """The lessons by their concepts; a kata's own come before those that it shares."""
    files = [_bug_file(path) for path in _bug_paths(kata, catalog)]
    return {lesson.concept: lesson for file in files for lesson in file.lessons}


def _bug_paths(kata: Kata, catalog: Catalog) -> Iterator[Path]:
    root = kata.folder.parent.parent
    for folder in ("common", *kata.shares):
        yield own_or_ours(root if kata.pack else catalog.root, f"{folder}/{FOLDER}/{BUGS}")
    yield kata.folder / FOLDER / BUGS


def _bug_file(path: Path) -> BugFile:
    if not path.is_file():
        return BugFile()
    try:
        return msgspec.toml.decode(_read(path), type=BugFile)
    except msgspec.DecodeError as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise GraderFault(f"{path}: {error}", "Run `kata lint`.") from error


def _edits(text: str, entries: list[BugEntry], concepts: dict[str, str]) -> Iterator[Edit]:
    for entry in entries:
        for right, wrong in entry.edits:
            if entry.label in concepts and text.count(right) == 1 and text.count(wrong) <= right.count(wrong):
                yield Edit(
                    label=entry.label,
                    concept=concepts[entry.label],
                    form=entry.form,
                    report=entry.report,
                    subtle=entry.subtle,
                    right=right,
                    wrong=wrong,
                    start=text.index(right),
                )
