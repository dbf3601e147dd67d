"""Whose a file is, by where it lies: the trees that platforms give for download, and those that people make.

Every file gets an owner. Where a tree says nothing, more people are told apart rather than fewer: two rows of
one student are seen, a student who is lost is not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from grader.catalog import Catalog
from grader.cohort.entries import Origin
from grader.cohort.gradescope import submitters
from grader.cohort.handed import METADATA, TIMESTAMP, Handed
from grader.cohort.names import Layout
from grader.errors import UsageError
from grader.records import Record
from grader.snapshot import katas_in

_MOODLE = re.compile(
    r"(?P<name>[^/]{1,200})_(?P<id>\d{1,12})_assignsubmission_(?P<kind>[a-z]{1,20})_?(?P<rest>.*)"
)
_CANVAS = re.compile(
    r"(?P<name>[^_/]{1,200})_(?P<late>LATE_)?(?P<user>\d{1,18})_(?P<sub>\d{1,18})_(?P<rest>.+)"
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<suffix>\.\w{1,8})")  # Canvas's next attempt
_BATCH = 5  # answers to one kata in one folder: those are several people's
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:[ ]?(UTC|Z|[+-]\d\d:?\d\d))?")


class Owner(Record):
    """Whose a file is; `label` is how people are told of the file."""

    student: str
    label: str
    origin: Origin = Origin()


Owners = list[tuple[Owner, ...]]  # beside the files; a group's file has several
_Reader = Callable[[Sequence[Handed], Catalog], Owners | None]


def owners(files: Sequence[Handed], layout: Layout, catalog: Catalog) -> tuple[Owners, Layout]:
    """The owners of each file, and the layout that told them. What lies beside all of them is nobody's.

    Raises `UsageError` where a layout was named and the files do not lie so.
    """
    insides = [""]
    while further := _wrapper([_below(file, insides[-1]) for file in files]):
        insides.append(insides[-1] + further)
    for name, reader in _READERS.items():
        if layout not in ("auto", name):
            continue
        for inside in insides:
            below = [_below(file, inside) for file in files]
            found = reader(below, catalog)
            if found is not None:
                mine = [() if _is_nobodys(file) else own for file, own in zip(below, found, strict=True)]
                return _told_apart(mine), name
    raise UsageError(
        f"These files do not lie as in a download of '{layout}'.",
        "Leave --layout away, and see what is found.",
    )


def _is_nobodys(file: Handed) -> bool:
    return file.aside and not file.empty and "/" not in file.path.rstrip("/")


def is_moodle_folder(unit: str) -> bool:
    """Whether that is the name of a student's folder in a download of Moodle."""
    return _MOODLE.fullmatch(unit) is not None


def is_canvas_file(unit: str) -> bool:
    """Whether that is the name of a file in a download of Canvas."""
    return _CANVAS.fullmatch(unit) is not None


def moment(text: str) -> str:
    """A time that a platform wrote, as ISO 8601 with its offset; nothing when it is none."""
    found = _TIME.search(text)
    if found is None:
        return ""
    day, clock, offset = found.groups()
    offset = "+00:00" if offset in ("UTC", "Z", None) else offset
    try:
        return datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(UTC).isoformat()
    except ValueError:
        return ""


def _wrapper(files: Sequence[Handed]) -> str:
    """The one folder that all lies in, as archives often have one."""
    tops = {file.path.partition("/")[0] for file in files if not file.path.startswith("./")}
    return f"{tops.pop()}/" if len(tops) == 1 and all("/" in file.path for file in files) else ""


def _below(file: Handed, folder: str) -> Handed:
    inside = file.path.removeprefix(folder)
    return msgspec.structs.replace(file, path=inside or "./")


def _matched(
    files: Sequence[Handed], pattern: re.Pattern[str], owner: Callable[[re.Match[str], str], Owner]
) -> Owners | None:
    """By the names of the topmost folders or files; most of those that count have to be of that form."""
    found = [pattern.fullmatch(file.path.partition("/")[0]) for file in files]
    counted = [match is not None for file, match in zip(files, found, strict=True) if not file.aside]
    if sum(counted) * 2 <= len(counted):
        return None
    return [
        (owner(match, file.path) if match else Owner(student=_stem(file.path), label=file.path),)
        for file, match in zip(files, found, strict=True)
    ]


def _moodle(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    def owner(match: re.Match[str], path: str) -> Owner:
        top = path.partition("/")[0]
        unit = top if "/" in path else f"{match['name']}_{match['id']}_assignsubmission_{match['kind']}"
        origin = Origin(id=match["id"], unit=unit)
        return Owner(
            student=match["name"],
            label=f"{match['name']}/{path.removeprefix(unit).strip('/_')}",
            origin=origin,
        )

    return _matched(files, _MOODLE, owner)


def _canvas(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    def owner(match: re.Match[str], path: str) -> Owner:
        again = _AGAIN.fullmatch(match["rest"])
        origin = Origin(
            id=match["user"],
            late=match["late"] is not None,
            attempt=int(again["number"]) + 1 if again else 1,
            unit=path.partition("/")[0],
        )
        return Owner(student=match["name"], label=f"{match['name']}/{match['rest']}", origin=origin)

    return _matched(files, _CANVAS, owner)


def _gradescope(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    metadata = next((file for file in files if file.path == METADATA), None)
    if metadata is None:
        return None
    known = submitters(metadata.note)
    told: Owners = []
    for file in files:
        unit, _, rest = file.path.partition("/")
        people = known.get(unit, ())
        told.append(
            tuple(
                Owner(
                    student=person.name,
                    label=f"{person.name}/{rest}",
                    origin=Origin(
                        id=person.id, email=person.email, submitted=moment(person.submitted), unit=unit
                    ),
                )
                for person in people
            )
            or (Owner(student=_stem(unit), label=file.path),)
        )
    return told


def _nbgrader(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    """`submitted/STUDENT/ASSIGNMENT/NOTEBOOK`, also from `submitted/` or from above."""
    stamps = {
        file.path.removesuffix(TIMESTAMP): moment(file.note[:100].decode("utf-8", "replace"))
        for file in files
        if file.path.endswith(f"/{TIMESTAMP}") and file.path.count("/") >= 2
    }
    if not stamps:
        return None
    depth = min(stamp.count("/") for stamp in stamps) - 2
    told: Owners = []
    for file in files:
        parts = file.path.split("/")
        student = parts[depth] if len(parts) > depth + 1 else _stem(file.path)
        unit = "/".join(parts[: depth + 2]) + "/"
        origin = Origin(id=student, submitted=stamps.get(unit, ""), unit=unit.rstrip("/"))
        told.append((Owner(student=student, label="/".join(parts[depth:]), origin=origin),))
    return told


def _classroom(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    """Clones beside one another, each named after the assignment and its owner."""
    tops = {file.path.partition("/")[0] for file in files if "/" in file.path.rstrip("/")}
    clones = {file.path.partition("/")[0] for file in files if file.path.endswith("/.git/")}
    if not clones or len(clones) * 2 <= len(tops):
        return None
    first, *others = sorted(clones)
    starts = [first[: at + 1] for at, sign in enumerate(first) if sign == "-" and others]
    assignment = max(
        (start for start in starts if all(name.startswith(start) for name in others)), key=len, default=""
    )
    told: Owners = []
    for file in files:
        top, _, rest = file.path.partition("/")
        login = top.removeprefix(assignment)
        told.append((Owner(student=login, label=f"{login}/{rest}", origin=Origin(id=login, unit=top)),))
    return told


def _folders(files: Sequence[Handed], catalog: Catalog) -> Owners | None:
    """A folder for each student; one that holds several people's files or folders is looked into."""
    inside: dict[str, list[Handed]] = defaultdict(list)
    for file in files:
        top, _, rest = file.path.partition("/")
        if rest or file.path.endswith("/"):
            inside[top].append(file)
    if not inside:
        return None
    alone = len(inside) == 1
    many = {top for top, own in inside.items() if _is_many(own, catalog, alone=alone)}
    if alone and many and _wrapper(files):
        return None  # it is looked at again from within that one folder
    told: Owners = []
    for file in files:
        parts = file.path.rstrip("/").split("/")
        whole = "/".join(parts[: 2 if parts[0] in many else 1])
        is_folder = len(whole) < len(file.path)
        student = whole if is_folder else _stem(whole)
        told.append((Owner(student=student, label=file.path, origin=Origin(unit=whole)),))
    return told


def _is_many(files: Sequence[Handed], catalog: Catalog, *, alone: bool) -> bool:
    """Whether what lies in one folder belongs to several people."""
    files = [_below(file, f"{file.path.partition('/')[0]}/") for file in files]
    while alone and (further := _wrapper(files)):
        files = [_below(file, further) for file in files]
    direct: Counter[str] = Counter()
    holders: dict[str, set[str]] = defaultdict(set)
    folders: set[str] = set()
    for file in files:
        if file.submission is None:
            continue
        *between, _ = file.path.split("/")
        found = [kata.id for kata in katas_in(file.submission, catalog)]
        if not between:
            direct.update(found)
            continue
        folders.add(between[0])
        for kata in found:
            holders[kata].add(between[0])
    if direct:
        return max(direct.values()) >= (2 if alone else _BATCH)
    if any(len(found) > 1 for found in holders.values()):
        return True
    return (
        alone and len(folders) > 1 and not any(kata.id in name for kata in catalog.katas for name in folders)
    )


def _files(files: Sequence[Handed], _catalog: Catalog) -> Owners | None:
    """Each file by itself is one student's, named after the file."""
    if _wrapper(files):
        return None
    return [
        (Owner(student=_stem(file.path), label=file.path, origin=Origin(unit=file.path)),) for file in files
    ]


def _told_apart(found: Owners) -> Owners:
    """Two people of one name, whom only the platform's number tells apart, have it in their names."""
    ids: dict[str, set[str]] = defaultdict(set)
    for owner in (owner for several in found for owner in several):
        ids[owner.student].add(owner.origin.id)

    def apart(owner: Owner) -> Owner:
        if len(ids[owner.student]) < 2 or not owner.origin.id:
            return owner
        return Owner(student=f"{owner.student} ({owner.origin.id})", label=owner.label, origin=owner.origin)

    return [tuple(apart(owner) for owner in several) for several in found]


def _stem(path: str) -> str:
    whole = path.rstrip("/")
    folder, slash, name = whole.rpartition("/")
    stem = name.partition(".")[0] or name
    return f"{folder}{slash}{stem}"


_READERS: dict[Layout, _Reader] = {
    "moodle": _moodle,
    "gradescope": _gradescope,
    "canvas": _canvas,
    "nbgrader": _nbgrader,
    "classroom": _classroom,
    "folders": _folders,
    "files": _files,
}
