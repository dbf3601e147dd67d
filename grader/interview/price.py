"""What other commands would cost an interview that is on: said before it is paid."""

from __future__ import annotations

from typing import Literal

from grader.catalog import Catalog
from grader.database import HistoryUnavailable
from grader.history import History
from grader.interview.moments import Clock
from grader.interview.records import Round
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.wording import count, load_wording
from grader.practice.hints import hint_texts

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
    if deed in ("hint", "hints"):
        texts = hint_texts(catalog.get(kata))
        left = len(texts) - history.hints_taken(kata)
        points = (min(1, left) if deed == "hint" else left) * catalog.get(kata).rules.hint_cost
        cost = count(points, "point") if points and one.graded is None else None
    else:
        cost = "" if session.phase == "writing" else None
    return None if cost is None else load_wording(catalog).price[deed].format(cost=cost)


def graded_meanwhile(one: Round, history: History) -> bool:
    """Whether the kata was graded while the clock ran: then the grader helped, as in practice."""
    began, ending = one.events[0].moment.wall, one.ending
    return any(
        began <= other.at and (ending is None or other.at <= ending.moment.wall)
        for other in history.attempts(one.kata)
        if other.origin not in ("interview", "practice")
    )
