"""What can be done in an interview. A deed looks at the file and the clocks, then writes an event."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

from grader.debugging.records import Room
from grader.errors import UsageError
from grader.interview import moments, watching
from grader.interview.moments import Clock, Moment
from grader.interview.records import Event, EventKind, Interview, Phase, Plan, Round
from grader.interview.store import InterviewStore, Writing
from grader.practice.questions import Question
from grader.records import Record, Submission

_FOUND_LATER = 2.0  # seconds after which a save counts as one that nobody watched
_UNSETTLED = timedelta(seconds=0.1)  # a file's time of change is that coarse on some systems

_REFUSALS: dict[Phase, tuple[str, str]] = {
    "writing": ("The clock is still running.", "Hand in first: kata interview submit"),
    "between": ("This level is over and the next has not begun.", "Begin it: kata interview next"),
    "grading": ("The time is over, and what you handed in is not graded yet.", "kata interview submit"),
    "questions": ("The writing is over.", "Answer the questions: kata interview --resume"),
    "over": ("This interview is over.", "See how it went: kata interview debrief"),
}


class Prepared(Record):
    """A round's file, put in place: the path and what it began as; `backup` is the work that was there.

    `candidate` is who is interviewed, where that is somebody else than the user; `brought` are the questions
    of that interviewer's own, each with its kata. `room`: the file has these bugs, to be found.
    """

    path: str
    submission: Submission
    backup: str | None = None
    candidate: str = ""
    brought: tuple[tuple[str, Question], ...] = ()
    room: Room | None = None


class Session:
    """One interview. All may raise `HistoryUnavailable`; a deed at the wrong time raises `UsageError`."""

    def __init__(self, store: InterviewStore, plan: Plan, clock: Clock) -> None:
        self.plan = plan
        self.interview = store.read(plan)
        self.problem: str | None = None  # why the file cannot be read just now
        self._store = store
        self._clock = clock
        self._seen: watching.Seen | None = None
        self._settled = False
        self._looked = 0.0  # the round's clock when the file was last looked at

    # Reading

    @property
    def phase(self) -> Phase:
        return self.interview.phase

    @property
    def round(self) -> Round:
        return self.interview.round

    def elapsed(self) -> float:
        """Seconds of the round that is on, now. Sleep of the computer does not count."""
        return self._elapsed(self._clock())

    def remaining(self) -> float:
        """Seconds until the deadline; 0 when it has passed or the file was handed in."""
        if self.phase != "writing":
            return 0.0
        return max(0.0, self.round.limit - self.elapsed())

    def deadline(self) -> datetime:
        """The wall clock at the deadline, if nothing is done to it until then."""
        now = self._clock()
        return now.wall + timedelta(seconds=self.round.limit - self._elapsed(now))

    def refresh(self) -> None:
        """Read what other processes wrote."""
        if self._store.count(self.plan) != len(self.interview.events):
            self.interview = self._store.read(self.plan)

    def require(self, *phases: Phase) -> None:
        """Raise `UsageError`, with the way out, unless the interview is in one of the phases."""
        if self.phase not in phases:
            raise UsageError(*_REFUSALS[self.phase])

    # Watching

    def observe(self) -> tuple[Event, ...]:
        """Look at the file and the clocks; write down a save, sleep, a changed clock, and the deadline."""
        self.refresh()
        if self.phase == "over":
            return ()
        now = self._clock()
        seen = self._look(now)
        if self._is_news(now, seen):
            before = len(self.interview.events)
            with self._store.writing(self.plan) as writing:
                self._write_down(writing, now, seen)
            self.interview = writing.interview
            return self.interview.events[before:]
        self._looked = self._elapsed(now)
        return ()

    def resume(self) -> None:
        """Take over an interview that was left. What happened in between is found out first."""
        self.observe()
        before = self.interview.last.moment
        with self._doing("writing", "between", "grading", "questions") as (writing, now):
            writing.append("resumed", now, {"restarted": before.boot != now.boot})

    # Deeds while the clock runs

    def submit(self) -> Event:
        """Stop the clock and hand in the file. After the deadline, the last state before it counts."""
        self.observe()
        if self.phase == "writing" and self.problem is not None:
            raise UsageError(
                f"Nothing was handed in: {self.problem}",
                "Save the file and submit again; the clock is running.",
            )
        if (
            self.round.ending is not None
            and self.round.ending.kind == "deadline"
            and self.round.graded is None
        ):
            return self.round.ending
        with self._doing("writing") as (writing, now):
            return writing.append("submitted", now)

    def give_up(self) -> Event:
        """Stop the clock; what there is, is graded all the same."""
        self.observe()
        with self._doing("writing") as (writing, now):
            return writing.append("gave_up", now)

    def ask(self, identifier: str) -> None:
        """A clarifying question was asked."""
        self._note("asked", {"id": identifier})

    def take_hint(self, number: int) -> None:
        """Hint `number` is about to be shown."""
        self.refuse_in_a_hunt()
        self._note("hint", {"number": number})

    def refuse_in_a_hunt(self) -> None:
        """Raise `UsageError` where bugs are to be found: the written hints are on another task."""
        if self.round.room is not None:
            raise UsageError(
                "There are no hints in a bug hunt.",
                "Run the file on small inputs: what changes, and what does not?",
            )

    def ran(self, outcome: str) -> None:
        """The candidate ran the file."""
        self._note("ran", {"outcome": outcome})

    def tested(self, verdict: str, points: int, max_points: int) -> None:
        """A save was graded at once, in practice mode."""
        self._note("tested", {"verdict": verdict, "points": points, "max_points": max_points})

    # Deeds after it

    def next_round(self, prepared: Prepared) -> None:
        """Start the clock of the ladder's next level."""
        with self._doing("between") as (writing, now):
            begin(writing, len(writing.interview.rounds), prepared, now)
        self._seen = None
        self._looked = 0.0

    def graded(self, number: int, grade: dict[str, object]) -> None:
        """What counted in round `number` was graded."""
        with self._doing("grading", "between") as (writing, now):
            if writing.interview.rounds[number].graded is None:
                writing.append("graded", now, grade, number=number)

    def choose_questions(self, chosen: list[dict[str, Any]]) -> None:
        """The follow-up questions, once for the interview."""
        with self._doing("questions") as (writing, now):
            if not any(event.kind == "questions" for event in writing.interview.events):
                writing.append("questions", now, {"questions": chosen})

    def answer(self, identifier: str, text: str, took: float) -> None:
        """The candidate's answer to a follow-up question; `took` seconds."""
        with self._doing("questions") as (writing, now):
            writing.append("answered", now, {"id": identifier, "text": text, "took": took})

    def mark(self, identifier: str, points: list[bool]) -> None:
        """Which key points the candidate found in their own answer."""
        with self._doing("questions") as (writing, now):
            writing.append("marked", now, {"id": identifier, "points": points})

    def finish(self) -> None:
        """The debrief may begin; the folder is free."""
        with self._doing("questions") as (writing, now):
            writing.append("finished", now)
            writing.close()

    def abort(self) -> None:
        """End it without a grade. Files and saves stay."""
        self.observe()
        with self._doing("writing", "between", "grading", "questions") as (writing, now):
            writing.append("aborted", now)
            writing.close()

    # How it is done

    @contextlib.contextmanager
    def _doing(self, *phases: Phase) -> Iterator[tuple[Writing, Moment]]:
        """One transaction at the right time of the interview; at any other, a refusal with the way out."""
        with self._store.writing(self.plan) as writing:
            if writing.interview.phase not in phases:
                raise UsageError(*_REFUSALS[writing.interview.phase])
            yield writing, self._clock()
        self.interview = writing.interview

    def _note(self, kind: EventKind, data: dict[str, object]) -> None:
        self.observe()
        with self._doing("writing") as (writing, now):
            writing.append(kind, now, data)

    def _elapsed(self, now: Moment) -> float:
        last = self.interview.last
        return last.elapsed + moments.step(last.moment, now)

    def _look(self, now: Moment) -> watching.Seen:
        path = self.round.path
        seen = self._seen
        if seen is None or not self._settled or watching.stamp(path) != seen.stamp:
            seen = watching.look(path)
            self._seen = seen
            self._settled = seen.changed is None or abs(now.wall - seen.changed) > _UNSETTLED
        self.problem = None if seen.problem is None else seen.problem.message
        return seen

    def _is_news(self, now: Moment, seen: watching.Seen) -> bool:
        return (
            _is_new(self.round, seen)
            or self._deadline_passed(self.interview, self._elapsed(now))
            or moments.gap(self.interview.last.moment, now) is not None
        )

    def _write_down(self, writing: Writing, now: Moment, seen: watching.Seen) -> None:
        if writing.interview.phase == "over":
            return
        elapsed = writing.elapsed(now)
        happened = self._second_of_change(writing.interview.last, elapsed, now, seen.changed)
        gap = moments.gap(writing.interview.last.moment, now)
        if gap is not None:
            writing.append("clock", now, {"kind": gap.kind, "seconds": gap.seconds})
        limit = writing.interview.round.limit
        new = _is_new(writing.interview.round, seen)
        in_time = happened <= limit
        if new and in_time:
            self._write_save(writing, now, seen, happened, elapsed)
        if self._deadline_passed(writing.interview, elapsed):
            writing.append("deadline", now, seconds=limit)
        if new and not in_time:
            self._write_save(writing, now, seen, happened, elapsed)
        self._looked = elapsed

    def _write_save(
        self, writing: Writing, now: Moment, seen: watching.Seen, happened: float, elapsed: float
    ) -> None:
        writing.append(
            "saved",
            now,
            {"found_later": elapsed - happened > _FOUND_LATER},
            seconds=happened,
            submission=seen.submission,
        )

    def _second_of_change(self, last: Event, elapsed: float, now: Moment, changed: datetime | None) -> float:
        """The round's clock when the file was changed, by the file's own time of change.

        It cannot lie before the last look at the file. Where the computer slept in between, it is not known
        whether before or after the change: the earlier of the two is taken.
        """
        if changed is None:
            return elapsed
        counted_back = elapsed - (now.wall - changed).total_seconds()
        counted_on = last.elapsed + (changed - last.moment.wall).total_seconds()
        return min(elapsed, max(min(counted_back, counted_on), last.elapsed, self._looked))

    @staticmethod
    def _deadline_passed(interview: Interview, elapsed: float) -> bool:
        return interview.phase == "writing" and elapsed >= interview.round.limit


def begin(writing: Writing, number: int, prepared: Prepared, now: Moment) -> None:
    """Start the clock of a round, with the file as it was handed over as its first state."""
    data: dict[str, object] = {"path": prepared.path, "backup": prepared.backup}
    if prepared.candidate:
        data["candidate"] = prepared.candidate
    if prepared.brought:
        data["brought"] = [{"kata": kata, **msgspec.structs.asdict(one)} for kata, one in prepared.brought]
    if prepared.room is not None:
        data["room"] = msgspec.to_builtins(prepared.room)
    writing.append("begun", now, data, number=number, begins=True)
    writing.append("saved", now, number=number, submission=prepared.submission)


def _is_new(one: Round, seen: watching.Seen) -> bool:
    return seen.submission is not None and one.saves[-1].sha256 != seen.submission.sha256
