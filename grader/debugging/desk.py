"""A room in the candidate's folder: made, found again by its path, judged, revealed."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from grader import paths
from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.debugging.changes import with_changes
from grader.debugging.content import has_rooms, load_stock
from grader.debugging.records import Level, Room
from grader.debugging.rooms import make_room
from grader.debugging.store import Entered, Hunt, RoomStore
from grader.errors import UsageError
from grader.history import History
from grader.records import Grade, Record, Submission
from grader.workspace import cannot_write, write_new

SEEDS = 10_000  # to draw one from: short enough for a file's name


class Opened(Record):
    """A room and its file. `found`: the same room was there already, perhaps half debugged."""

    kata: Kata
    room: Room
    path: Path
    outcome: Literal["written", "found"]
    warning: HistoryUnavailable | None = None


def room_of(kata: Kata, catalog: Catalog, seed: int | None, level: Level, bugs: int | None) -> Room:
    """The room of that seed, or of one drawn afresh."""
    drawn = random.SystemRandom().randrange(1, SEEDS) if seed is None else seed
    return make_room(load_stock(kata, catalog), drawn, level, bugs)


def usual_kata(catalog: Catalog, history: History) -> Kata:
    """The kata that was worked on last, of those that have rooms."""
    worked = [attempt.kata for attempt in history.attempts(limit=1)]
    worked += [start.kata for start in history.starts()[:1]]
    known = [catalog.get(one) for one in worked if catalog.names(one)]
    with_rooms = [kata for kata in (*known, *catalog.onward()) if has_rooms(kata)]
    return with_rooms[0] if with_rooms else catalog.first


def open_room(room: Room, kata: Kata, folder: Path, history: History) -> Opened:
    """Put the room's file into `folder`, which is made if need be. Nothing that is there is ever overwritten.

    Raises `UsageError` where other work has the file's name, or the folder cannot be written to.
    """
    path = paths.identity(folder / f"{kata.name}_debug_{room.seed}.py")
    with _store(history) as store:
        known = _known(path, store)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, room.text.encode())
        except FileExistsError:
            if known is None or known.room != room:
                raise UsageError(
                    f"{path.name} is there already, and it is not this room.",
                    "Move it away, or take another seed: kata debug --seed 7",
                ) from None
            return Opened(kata=kata, room=room, path=path, outcome="found")
        except OSError as error:
            raise cannot_write(path, error) from error
        warning = None
        try:
            store.record_room(room, path)
        except HistoryUnavailable as error:
            warning = error
    return Opened(kata=kata, room=room, path=path, outcome="written", warning=warning)


def entered_at(path: Path, history: History) -> Entered | None:
    """The room whose file is at `path`."""
    with _store(history) as store:
        return _known(path, store)


def latest_in(folder: Path, history: History) -> Entered | None:
    """The room that was made last in `folder` and is still there."""
    with _store(history) as store:
        try:
            rooms = store.rooms(folder=folder.resolve())
        except HistoryUnavailable:
            return None
    return next((entered for entered in rooms if entered.path.is_file()), None)


def judged(room: Room, grade: Grade, text: str) -> Grade:
    """The grade of a room's file with what its text tells beside its behaviour."""
    if grade.room is None:
        return grade
    return replace(grade, room=with_changes(grade.room, room, text))


def record_hunt(entered: Entered, grade: Grade, submission: Submission | None, history: History) -> Hunt:
    """Keep a grade of the room's file."""
    with _store(history) as store:
        return store.record_grade(entered, grade, submission)


def hunts_of(entered: Entered, history: History) -> list[Hunt]:
    """The grades of a room's file, the earliest first."""
    with _store(history) as store:
        return store.hunts(entered)


def last_hunts(history: History) -> list[tuple[Entered, Hunt]]:
    """Every room whose file was graded, with its last grade; none where none can be read."""
    with _store(history) as store:
        try:
            return [(room, hunt) for room in store.rooms() for hunt in store.hunts(room, last=True)]
        except HistoryUnavailable:
            return []


def reveal(entered: Entered, history: History) -> None:
    """Remember that the bugs were shown."""
    with _store(history) as store:
        store.record_reveal(entered)


def reveals_of(room: Room, history: History) -> list[datetime]:
    """When the bugs of this room were shown, whichever folder its file is in."""
    with _store(history) as store:
        same = [one for one in store.rooms() if (one.room.kata, one.room.seed) == (room.kata, room.seed)]
        return [at for entered in same for at in store.revealed(entered)]


def _store(history: History) -> RoomStore:
    return RoomStore(history.path, history.clock)


def _known(path: Path, store: RoomStore) -> Entered | None:
    try:
        return next(iter(store.rooms(path=path)), None)
    except HistoryUnavailable:  # then nothing is known of any room; recording a grade says why
        return None
