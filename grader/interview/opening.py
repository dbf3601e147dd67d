"""Begin an interview, find the one that is on, go on to the next level."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader import paths, workspace
from grader.catalog import Catalog, Kata
from grader.debugging.desk import open_room
from grader.debugging.records import Room
from grader.errors import UsageError
from grader.history import History
from grader.interview.agenda import Agenda
from grader.interview.moments import Clock
from grader.interview.records import Plan
from grader.interview.session import Prepared, Session, begin
from grader.interview.store import InterviewIsOn, InterviewStore
from grader.records import Record
from grader.snapshot import read_submission


class Wish(Record):
    """What was asked for. `minutes` counts for each kata; `None` is what the agenda, or the kata, gives.

    `room`: not to be written but mended, with its one kata.
    """

    katas: tuple[Kata, ...]
    minutes: float | None = None
    practice: bool = False
    guided: bool = False
    seed: int = 0
    candidate: str = ""
    agenda: Agenda = Agenda()
    room: Room | None = None

    @property
    def limits(self) -> tuple[float, ...]:
        """Seconds, for each kata."""
        given = self.agenda.minutes
        return tuple(60.0 * (self.minutes or given.get(kata.id) or kata.minutes) for kata in self.katas)


def at_random(catalog: Catalog, seed: int) -> tuple[Kata, ...]:
    """One of the katas, the same for the same seed."""
    return (random.Random(seed).choice(catalog.katas),)


def open_interview(
    wish: Wish, folder: Path, history: History, store: InterviewStore, clock: Clock
) -> Session:
    """Put the first kata's file into `folder` and start the clock. The interview is on the disk before that.

    Work that is there is kept beside it. Raises `UsageError` when an interview is on in the folder already.
    """
    folder = folder.resolve()
    katas = tuple(kata.id for kata in wish.katas)
    refuse_second(store, folder, clock)
    first = wish.katas[0]
    prepared = msgspec.structs.replace(
        prepare(first, folder, history, clock, guided=wish.guided)
        if wish.room is None
        else prepare_hunt(wish.room, first, folder, history),
        candidate=wish.candidate,
        brought=wish.agenda.asked_of(katas),
    )
    plan = Plan(
        uuid=str(uuid.uuid4()),
        folder=folder,
        katas=katas,
        limits=wish.limits,
        practice=wish.practice,
        guided=wish.guided,
        seed=wish.seed,
    )
    try:
        with store.opening(plan, clock().wall) as writing:
            begin(writing, 0, prepared, clock())
    except InterviewIsOn:
        refuse_second(store, folder, clock)
        raise
    return Session(store, plan, clock)


def prepare(kata: Kata, folder: Path, history: History, clock: Clock, *, guided: bool) -> Prepared:
    """The kata's blank page (`guided`: its stub) in the folder."""
    backup: Path | None = None
    if paths.identity(folder / kata.file_name).exists() or workspace.find(folder, history, kata) is not None:
        done = workspace.reset(kata, folder, history, clock().wall, blank=not guided)
        path, warning, backup = done.path, done.warning, done.backup
    else:
        started = workspace.start(kata, folder, history, blank=not guided)
        path, warning = started.path, started.warning
    if warning is not None:
        raise warning  # an interview that cannot be remembered would be lost with the room
    return Prepared(
        path=str(path), submission=read_submission(path), backup=None if backup is None else str(backup)
    )


def prepare_hunt(room: Room, kata: Kata, folder: Path, history: History) -> Prepared:
    """The room's file in the folder, as nobody has seen it yet."""
    opened = open_room(room, kata, folder, history)
    if opened.outcome == "found":
        raise UsageError(
            f"{opened.path.name} is there already: that room was entered before.",
            "Take another one: leave --seed out, or move the file away.",
        )
    if opened.warning is not None:
        raise opened.warning
    return Prepared(path=str(opened.path), submission=read_submission(opened.path), room=room)


def go_on(session: Session, catalog: Catalog, history: History, clock: Clock) -> None:
    """Begin the ladder's next level."""
    session.observe()
    session.require("between")
    number = len(session.interview.rounds)
    kata = catalog.get(session.plan.katas[number])
    session.next_round(prepare(kata, session.plan.folder, history, clock, guided=session.plan.guided))


def current(folder: Path, store: InterviewStore, clock: Clock) -> Session:
    """The interview that is on in `folder`; raises `UsageError` when there is none."""
    plan = store.open_in(folder.resolve())
    if plan is None:
        raise UsageError("No interview is on in this folder.", "Begin one: kata interview v1")
    return Session(store, plan, clock)


def latest(folder: Path, store: InterviewStore, clock: Clock) -> Session:
    """The interview that is on in `folder`, else the last one there, else the last one anywhere."""
    plans: Sequence[Plan] = store.plans(folder.resolve()) or store.plans()
    if not plans:
        raise UsageError("There was no interview yet.", "Begin one: kata interview v1")
    return Session(store, plans[0], clock)


def named(store: InterviewStore, beginning: str) -> list[Plan]:
    """The interviews whose id begins like that, the latest first."""
    return [plan for plan in store.plans() if plan.uuid.startswith(beginning.lower())]


def refuse_second(store: InterviewStore, folder: Path, clock: Clock) -> None:
    """Raise `UsageError`, with both ways out, when an interview is on in the folder."""
    plan = store.open_in(folder.resolve())
    if plan is None:
        return
    session = Session(store, plan, clock)
    minutes = session.remaining() / 60
    left = f", {minutes:.0f} min left" if session.phase == "writing" and minutes >= 1 else ""
    raise UsageError(
        f"An interview on {session.round.kata} is on in this folder{left}.",
        "Go back to it: kata interview --resume\n  → Or end it without a grade: kata interview abort",
    )
