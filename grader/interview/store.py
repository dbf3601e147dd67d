"""The interviews in the history's SQLite file. An event is on the disk before anything is done about it."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from grader.database import Database, HistoryUnavailable, record_of
from grader.history import time_text
from grader.interview.moments import Moment, step
from grader.interview.records import Event, EventKind, Interview, Plan
from grader.interview.stored import EventRow, InterviewRow, ShortGradeRow, flaw
from grader.records import Record, Submission, Verdict

_INTERVIEW = ", ".join(InterviewRow.__struct_fields__)
_EVENT = ", ".join(EventRow.__struct_fields__)


class InterviewIsOn(Exception):
    """Another interview is open in the folder."""


class InterviewUnreadable(HistoryUnavailable):
    """What is kept of one interview is none. The rest of the history can be read."""


class ShortGrade(Record):
    """The grade of one save, in short: what the timeline needs."""

    verdict: Verdict
    points: int
    max_points: int
    passed: tuple[str, ...]


class Writing:
    """One transaction on one interview: all of its events are kept, or none."""

    def __init__(self, connection: sqlite3.Connection, plan: Plan) -> None:
        self._connection = connection
        self._plan = plan
        self.interview = _interview(connection, plan)

    def elapsed(self, now: Moment) -> float:
        """The clock of the round that is on, at `now`."""
        last = self.interview.last
        return last.elapsed + step(last.moment, now)

    def append(
        self,
        kind: EventKind,
        now: Moment,
        data: dict[str, object] | None = None,
        *,
        seconds: float | None = None,
        submission: Submission | None = None,
        number: int | None = None,
        begins: bool = False,
    ) -> Event:
        """Write an event down. `number` is its round, by default the one that is on."""
        elapsed = 0.0 if begins else self.elapsed(now)
        if number is None:
            number = self.interview.round.number
        event = Event(
            uuid=str(uuid.uuid4()),
            round=number,
            kind=kind,
            moment=now,
            elapsed=elapsed,
            seconds=elapsed if seconds is None else seconds,
            sha256=None if submission is None else submission.sha256,
            data=data or {},
        )
        if submission is not None:
            self._connection.execute(
                "INSERT INTO sources (sha256, source) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
                (submission.sha256, submission.source),
            )
        self._connection.execute(
            f"INSERT INTO interview_events (interview_uuid, {_EVENT}) VALUES ({', '.join('?' * 12)})",
            (self._plan.uuid, *_event_row(event)),
        )
        self.interview = Interview(self._plan, [*self.interview.events, event])
        return event

    def close(self) -> None:
        """The folder is free for another interview."""
        self._connection.execute("UPDATE interviews SET open = 0 WHERE uuid = ?", (self._plan.uuid,))


class InterviewStore:
    """All interviews in the SQLite file at `path`. Every method may raise `HistoryUnavailable`."""

    def __init__(self, path: Path, *, busy_seconds: float = 10.0) -> None:
        self._database = Database(path, busy_seconds)

    def __enter__(self) -> InterviewStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. The next use opens it again."""
        self._database.close()

    def open_in(self, folder: Path) -> Plan | None:
        """The interview that is on in the folder."""
        source = "interviews WHERE open = 1 AND folder = :folder"
        rows = self._database.records(InterviewRow, source, folder=str(folder))
        return _plan(rows[0]) if rows else None

    def open_plans(self) -> list[Plan]:
        """All interviews that are on, the latest first."""
        rows = self._database.records(InterviewRow, "interviews WHERE open = 1 ORDER BY at DESC, id DESC")
        return [_plan(row) for row in rows]

    def plans(self, folder: Path | None = None) -> list[Plan]:
        """All interviews, the latest first; of one folder where given."""
        rows = self._database.records(
            InterviewRow,
            "interviews WHERE :folder IS NULL OR folder = :folder ORDER BY at DESC, id DESC",
            folder=None if folder is None else str(folder),
        )
        return [_plan(row) for row in rows]

    def read(self, plan: Plan) -> Interview:
        """The interview as it is on the disk; raises `InterviewUnreadable` where that is none."""
        source = "interview_events WHERE interview_uuid = :interview ORDER BY id"
        events = [_event(row) for row in self._database.records(EventRow, source, interview=plan.uuid)]
        interview = Interview(plan, events)
        why = "something in it is damaged" if len(events) != self.count(plan) else flaw(interview)
        if why is not None:
            raise InterviewUnreadable(
                f"An interview on {', '.join(plan.katas)} cannot be read: {why}.",
                "The others can; begin a new one: kata interview v1",
            )
        return interview

    def readable(self) -> list[Interview]:
        """All interviews that can be read, the latest first."""
        found = []
        for plan in self.plans():
            with contextlib.suppress(InterviewUnreadable):
                found.append(self.read(plan))
        return found

    @property
    def passed_over(self) -> frozenset[str]:
        """The ids of rows that could not be read since it was opened, and were left out."""
        return frozenset(self._database.passed_over)

    def count(self, plan: Plan) -> int:
        """How many events there are: whether somebody else wrote one is a quick question."""
        query = "SELECT count(*) FROM interview_events WHERE interview_uuid = :interview"
        return int(self._database.rows(query, interview=plan.uuid)[0][0])

    @contextlib.contextmanager
    def writing(self, plan: Plan) -> Iterator[Writing]:
        """One transaction on the interview, which is read anew first."""
        with self._database.writing() as connection:
            yield Writing(connection, plan)

    @contextlib.contextmanager
    def opening(self, plan: Plan, at: datetime) -> Iterator[Writing]:
        """One transaction in which the interview comes to be; a second one in its folder raises."""
        with self._database.writing() as connection:
            taken = "SELECT 1 FROM interviews WHERE open = 1 AND folder = ?"
            if connection.execute(taken, (str(plan.folder),)).fetchone() is not None:
                raise InterviewIsOn
            connection.execute(
                f"INSERT INTO interviews (open, {_INTERVIEW}) VALUES (1, {', '.join('?' * 8)})",
                _interview_row(plan, at),
            )
            yield Writing(connection, plan)

    def source(self, sha256: str) -> bytes:
        """The content of a save."""
        rows = self._database.rows("SELECT source FROM sources WHERE sha256 = :sha256", sha256=sha256)
        return bytes(rows[0][0])

    def grades(self, plan: Plan, number: int) -> dict[str, ShortGrade]:
        """The grades of a round's saves that are known, by the content's sha256."""
        rows = self._database.records(
            ShortGradeRow,
            "interview_grades WHERE interview_uuid = :interview AND round = :number",
            interview=plan.uuid,
            number=number,
        )
        return {
            row.sha256: ShortGrade(
                verdict=row.verdict,
                points=row.points,
                max_points=row.max_points,
                passed=tuple(row.passed.split()),
            )
            for row in rows
        }

    def keep_grade(self, plan: Plan, number: int, sha256: str, grade: ShortGrade) -> None:
        """Remember the grade of a save."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO interview_grades"
                " (uuid, interview_uuid, round, sha256, verdict, points, max_points, passed)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (interview_uuid, round, sha256) DO NOTHING",
                (
                    str(uuid.uuid4()),
                    plan.uuid,
                    number,
                    sha256,
                    grade.verdict,
                    grade.points,
                    grade.max_points,
                    " ".join(grade.passed),
                ),
            )


def read_interview(connection: sqlite3.Connection, uuid: str) -> Interview | None:
    """The interview of that id, within a transaction."""
    row = connection.execute(f"SELECT {_INTERVIEW} FROM interviews WHERE uuid = ?", (uuid,)).fetchone()
    return None if row is None else _interview(connection, _plan(record_of(InterviewRow, row)))


def _interview(connection: sqlite3.Connection, plan: Plan) -> Interview:
    query = f"SELECT {_EVENT} FROM interview_events WHERE interview_uuid = ? ORDER BY id"
    rows = connection.execute(query, (plan.uuid,))
    return Interview(plan, [_event(record_of(EventRow, row)) for row in rows])


def _event(row: EventRow) -> Event:
    return Event(
        uuid=row.uuid,
        round=row.round,
        kind=row.kind,
        moment=Moment(wall=row.at, mono=row.mono, boot=row.boot, slept=row.slept),
        elapsed=row.elapsed,
        seconds=row.seconds,
        sha256=row.sha256,
        data=msgspec.json.decode(row.data),
    )


def _event_row(event: Event) -> tuple[object, ...]:
    moment = event.moment
    columns = {
        **msgspec.structs.asdict(event),
        "at": time_text(moment.wall),
        "mono": moment.mono,
        "boot": moment.boot,
        "slept": moment.slept,
        "data": msgspec.json.encode(event.data).decode(),
    }
    return tuple(columns[name] for name in EventRow.__struct_fields__)


def _plan(row: InterviewRow) -> Plan:
    return Plan(
        uuid=row.uuid,
        folder=Path(row.folder),
        katas=tuple(row.katas.split()),
        limits=tuple(float(limit) for limit in row.limits.split()),
        practice=bool(row.practice),
        guided=bool(row.guided),
        seed=row.seed,
    )


def _interview_row(plan: Plan, at: datetime) -> tuple[object, ...]:
    columns = {
        **msgspec.structs.asdict(plan),
        "at": time_text(at),
        "folder": str(plan.folder),
        "katas": " ".join(plan.katas),
        "limits": " ".join(str(limit) for limit in plan.limits),
        "practice": int(plan.practice),
        "guided": int(plan.guided),
    }
    return tuple(columns[name] for name in InterviewRow.__struct_fields__)
