"""How an interview stands, for the eye, for a prompt and for programs."""

from __future__ import annotations

import shlex
from datetime import datetime
from pathlib import Path

import msgspec

from grader.interview.records import Phase
from grader.interview.session import Session
from grader.interview.wording import clock, count
from grader.records import Record

VERSION = 1


class Status(Record):
    """The `interview` of `kata interview status --json`. Times are seconds of the round that is on."""

    id: str
    phase: Phase
    kata: str
    level: int  # from 1
    levels: int
    path: Path
    practice: bool
    limit: float
    elapsed: float
    remaining: float
    deadline: datetime | None  # by the wall clock; `None` when the clock does not run
    saves: int
    late_saves: int
    last_save: float
    hints: int
    questions_asked: int
    problem: str | None  # why the file cannot be read just now


def status(session: Session) -> Status:
    """How the interview stands now; a save or a deadline that was not seen yet is found first."""
    session.observe()
    one = session.round
    saves = one.saves[1:]
    running = session.phase == "writing"
    return Status(
        id=session.plan.uuid,
        phase=session.phase,
        kata=one.kata,
        level=one.number + 1,
        levels=len(session.plan.katas),
        path=one.path,
        practice=session.plan.practice,
        limit=one.limit,
        elapsed=session.elapsed() if running else one.end,
        remaining=session.remaining(),
        deadline=session.deadline() if running else None,
        saves=len(saves),
        late_saves=sum(save.late for save in saves),
        last_save=one.saves[-1].seconds,
        hints=one.hints,
        questions_asked=len({event.data["id"] for event in one.of("asked")}),
        problem=session.problem,
    )


def document(found: Status | None) -> str:
    """The JSON document; `interview` is null when none is on."""
    values = None
    if found is not None:
        values = msgspec.structs.asdict(found) | {"path": str(found.path)}
    return msgspec.json.format(
        msgspec.json.encode({"version": VERSION, "interview": values}), indent=2
    ).decode()


def short(found: Status | None) -> str:
    """One line for a prompt: `v3 17:05`, `v3 over`; nothing when no interview is on."""
    if found is None:
        return ""
    level = f" {found.level}/{found.levels}" if found.levels > 1 else ""
    return f"{found.kata}{level} {clock(found.remaining) if found.phase == 'writing' else 'over'}"


def way_back(session: Session, folder: Path) -> tuple[str, str]:
    """An interview that is on, in one line, and the way back to it for someone who stands in `folder`."""
    found = status(session)
    elsewhere = session.plan.folder != folder.resolve()
    where = f" in {session.plan.folder}" if elsewhere else ""
    first = f"cd {shlex.quote(str(session.plan.folder))} && " if elsewhere else ""
    if found.phase == "writing":
        left = f"{clock(found.remaining)} left of {clock(found.limit)}"
        return (
            f"{found.kata} is on{where}: {left}.",
            f"Back to it: {first}kata interview --resume\n  → Hand in: {first}kata interview submit",
        )
    if found.phase == "between":
        return f"{found.kata} is handed in{where}; a level is left.", f"{first}kata interview next"
    return f"{found.kata}{where}: the clock has stopped.", f"See how it went: {first}kata interview submit"


def lines(found: Status) -> tuple[str, ...]:
    """A few lines for the eye."""
    if found.phase == "writing":
        first = f"{found.kata}: {clock(found.remaining)} left of {clock(found.limit)}"
        if found.deadline is not None:
            first += f", until {found.deadline.astimezone():%H:%M:%S}"
    else:
        first = f"{found.kata}: the clock stopped at {clock(found.elapsed)} of {clock(found.limit)}"
    late = f", {found.late_saves} of them late" if found.late_saves else ""
    seen = f"{count(found.saves, 'save')}{late} · {count(found.hints, 'hint')}"
    asked = f" · {count(found.questions_asked, 'question')} asked"
    problem = () if found.problem is None else (f"The file cannot be read now: {found.problem}",)
    return (first, seen + asked, *problem)
