"""What other commands would cost an interview that is on: said before it is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.debugging.desk import entered_at, hunts_of
from grader.history import History
from grader.interview.moments import Clock
from grader.interview.records import Round
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.wording import count, load_wording
from grader.practice.hints import Fix, Hint, hint_texts, next_help, next_hint

Deed = Literal["grade", "watch", "hint", "hints", "solution", "start", "reset"]


def running(store: InterviewStore, clock: Clock) -> tuple[Session, ...]:
    """The interviews that are on, wherever their folders are; none where nothing can be remembered."""
    try:
        found = tuple(Session(store, plan, clock) for plan in store.open_plans())
        for session in found:
            session.observe()
    except HistoryUnavailable:  # the command itself says so, where it matters
        return ()
    return tuple(session for session in found if session.phase != "over")


def price(deed: Deed, kata: str, session: Session, history: History, catalog: Catalog) -> str | None:
    """What `deed` on `kata` would cost the interview, as a sentence; `None` when it costs nothing."""
    one = session.round
    if one.kata != kata:
        return None
    if deed in ("start", "reset"):
        return load_wording(catalog).price[deed] if session.phase == "writing" else None
    if session.plan.practice or graded_meanwhile(one, history):
        return None  # there is no verdict to lose
    if deed in ("hint", "hints") and one.room is None:
        texts = hint_texts(catalog.get(kata))
        left = len(texts) - history.hints_taken(kata)
        points = (min(1, left) if deed == "hint" else left) * catalog.get(kata).rules.hint_cost
        cost = count(points, "point") if points and one.graded is None else None
    elif deed in ("hint", "hints"):
        cost = None  # refused while the clock runs, and after it there is nothing to lose
    else:
        cost = "" if session.phase == "writing" else None
    return None if cost is None else load_wording(catalog).price[deed].format(cost=cost)


def costs(
    deed: Deed,
    kata: str,
    sessions: Sequence[Session],
    history: History,
    catalog: Catalog,
    folder: Path | None = None,
) -> Iterator[str]:
    """What `deed` on `kata` would cost each of the interviews, where it costs something.

    `folder` restricts it to an interview there.
    """
    for session in sessions:
        if folder is None or session.plan.folder == folder.resolve():
            cost = price(deed, kata, session, history, catalog)
            if cost is not None:
                yield cost


def give_help(kata: Kata, sessions: Sequence[Session], history: History) -> Fix | Hint:
    """One step of help; while an interview's clock runs on the kata only its written hints, noted there."""
    writing = [one for one in sessions if one.phase == "writing" and one.round.kata == kata.id]
    for session in writing:
        session.refuse_in_a_hunt()
    given = next_hint(kata, history) if writing else next_help(kata, history)
    if isinstance(given, Hint):
        note_hint(sessions, kata.id, given.number)
    return given


def note_hint(sessions: Sequence[Session], kata: str, number: int) -> None:
    """Write down, in the interviews whose clock runs on `kata`, that hint `number` was taken."""
    for session in sessions:
        if session.phase == "writing" and session.round.kata == kata:
            session.take_hint(number)


def graded_meanwhile(one: Round, history: History) -> bool:
    """Whether the kata was graded while the clock ran: then the grader helped, as in practice.

    In a hunt also the room's file.
    """
    began, ending = one.events[0].moment.wall, one.ending
    graded = [
        attempt.at
        for attempt in history.attempts(one.kata)
        if attempt.origin not in ("interview", "practice")
    ]
    if one.room is not None and (entered := entered_at(one.path, history)) is not None:
        final = None if one.graded is None else one.graded.data["attempt"]
        graded += [hunt.at for hunt in hunts_of(entered, history) if hunt.uuid != final]
    return any(began <= at and (ending is None or at <= ending.moment.wall) for at in graded)
