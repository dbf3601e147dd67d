"""The history as sittings. A sitting is rated once, from its first submission: what came from memory.

Grades of watched saves and of practice interviews do not count, and neither does a file graded a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from grader.catalog import Catalog, Kata
from grader.history import Attempt, GradeUnreadable, History
from grader.interview.records import Interview
from grader.interview.store import InterviewStore
from grader.practice.clock import active
from grader.records import Record

Rating = Literal["again", "hard", "good", "easy"]

# Grades that the candidate asked for without help of the grader.
SUBMISSIONS = ("grade", "interview")
ONE_SITTING = timedelta(hours=6)  # a solution that was seen so long before was seen for it


class Sitting(Record):
    """One sitting with a kata. `seconds` until the first submission, `None` where that is not known.

    `seconds_to_pass` is the time until the first submission that passed.
    """

    kata: str
    first: Attempt
    attempts: tuple[Attempt, ...]
    seconds: float | None
    seconds_to_pass: float | None
    over_time: bool
    quick: bool  # under half the time
    solution_seen: bool
    ratings: tuple[
        tuple[str, Rating], ...
    ]  # of `v3` itself and of each concept that was reached, as `v3/mask`

    @property
    def at(self) -> datetime:
        return self.first.at

    @property
    def passed(self) -> bool:
        return any(attempt.verdict == "passed" for attempt in self.attempts)


class _Clocked(Record):
    """What an interview knows about its attempt."""

    began: datetime
    seconds: float
    limit: float
    hints: int


def sittings(catalog: Catalog, history: History, interviews: InterviewStore) -> tuple[Sitting, ...]:
    """All sittings, the earliest first; katas that the catalog does not have are left out."""
    clocked = dict(_clocked(interviews))
    known = {kata.id: kata for kata in catalog.katas}
    groups: dict[str, list[Attempt]] = {}
    seen: set[tuple[str, str]] = set()
    for attempt in reversed(history.attempts()):
        if (
            attempt.kata not in known
            or attempt.verdict == "grader_error"
            or attempt.origin not in SUBMISSIONS
        ):
            continue
        name = _sitting_of(attempt, clocked)
        content = (attempt.kata, attempt.sha256 or "")
        if name.startswith("day") and name not in groups and content in seen:
            continue  # a file that was graded before, not one that was written anew
        seen.add(content)
        groups.setdefault(name, []).append(attempt)
    views = {kata: history.solution_views(kata) for kata in known}
    found = [
        _sitting(attempts, known[attempts[0].kata], history, clocked, views[attempts[0].kata])
        for attempts in groups.values()
    ]
    return tuple(sorted(found, key=lambda sitting: sitting.at))


def _sitting_of(attempt: Attempt, clocked: dict[str, _Clocked]) -> str:
    """An interview, a start or reset, or the day where it is not known when the work began."""
    if attempt.uuid in clocked:
        return f"interview {attempt.uuid}"
    if attempt.start_uuid is not None:
        return f"start {attempt.start_uuid}"
    return f"day {attempt.kata} {attempt.at.date()}"


def _sitting(
    attempts: list[Attempt],
    kata: Kata,
    history: History,
    clocked: dict[str, _Clocked],
    views: Sequence[datetime],
) -> Sitting:
    first = attempts[0]
    interview = clocked.get(first.uuid)
    began = history.began(first) if interview is None else interview.began
    if interview is not None:
        seconds: float | None = interview.seconds
        limit, hints = interview.limit, interview.hints
    else:
        taken = active(first, kata, history)
        seconds = None if taken is None else taken.seconds
        limit, hints = kata.minutes * 60.0, first.hints
    over_time = seconds is not None and (seconds > limit or (interview is not None and seconds >= limit))
    quick = seconds is not None and seconds < limit / 2
    since = min(filter(None, (began, first.at - ONE_SITTING)))
    solution_seen = any(since <= view <= first.at for view in views)
    helped: Rating = "hard" if hints or over_time else "easy" if quick else "good"
    return Sitting(
        kata=kata.id,
        first=first,
        attempts=tuple(attempts),
        seconds=seconds,
        seconds_to_pass=_seconds_to_pass(attempts, kata, history, interview),
        over_time=over_time,
        quick=quick,
        solution_seen=solution_seen,
        ratings=tuple(_ratings(first, kata, history, "again" if solution_seen else helped)),
    )


def _ratings(first: Attempt, kata: Kata, history: History, kept: Rating) -> Iterator[tuple[str, Rating]]:
    """`again` for what was lost, `kept` for what was right; nothing for the optional and the not reached."""
    yield kata.id, kept if first.verdict == "passed" else "again"
    try:
        concepts = history.grade(first).concepts
    except GradeUnreadable:  # the attempt itself can be read, and that the kata was practised is known
        return
    for concept in concepts:
        if concept.required and concept.status != "not_reached":
            yield f"{kata.id}/{concept.id}", kept if concept.status == "passed" else "again"


def _seconds_to_pass(
    attempts: Sequence[Attempt], kata: Kata, history: History, interview: _Clocked | None
) -> float | None:
    passed = next((attempt for attempt in attempts if attempt.verdict == "passed"), None)
    if passed is None:
        return None
    if interview is not None:
        return interview.seconds
    taken = active(passed, kata, history)
    return None if taken is None else taken.seconds


def _clocked(interviews: InterviewStore) -> Iterator[tuple[str, _Clocked]]:
    for interview in interviews.readable():
        yield from _clocked_rounds(interview)


def _clocked_rounds(interview: Interview) -> Iterator[tuple[str, _Clocked]]:
    for one in interview.rounds:
        if one.graded is not None:
            yield (
                one.graded.data["attempt"],
                _Clocked(
                    began=one.events[0].moment.wall,
                    seconds=one.end,
                    limit=one.limit,
                    hints=int(one.graded.data["hints"]),
                ),
            )
