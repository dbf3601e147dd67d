"""A room as a process of its own, without a screen: begins or resumes, and ends when what counts is graded.

    python -m tests.interview.room_process HOME FOLDER BASE SPEED MINUTES

Its clock starts at BASE of the system's monotonic clock and runs SPEED times as fast.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.catalog import Catalog, Kata, load_catalog
from grader.history import History
from grader.interview.moments import Moment
from grader.interview.opening import Wish, current, open_interview
from grader.interview.room.app import RoomApp
from grader.interview.store import InterviewStore
from grader.records import ConceptRecord, Grade, Options, Submission

START = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


def moment(base: float, speed: float) -> Moment:
    """The fast clock, the same in all processes."""
    passed = (time.monotonic() - base) * speed
    return Moment(wall=START + timedelta(seconds=passed), mono=passed, boot="fast", slept=0.0)


def points_of(text: str) -> int:
    """The stand-in grader's points: the number after the sign in the file."""
    return int(text.partition("# points: ")[2] or 0)


def grade(submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None) -> Grade:
    assert kata in catalog.katas
    points = points_of(submission.source.decode())
    concept = ConceptRecord(id="mix", title="Mix", points=points, max_points=kata.max_points, status="failed")
    return Grade(
        kata=kata.id,
        verdict="failed",
        seed=0 if options is None or options.seed is None else options.seed,
        points=points,
        max_points=kata.max_points,
        concepts=(concept,),
    )


class ReportingRoom(RoomApp):
    """Says on standard output when it is there, and each save that it has shown."""

    reported = 0

    def deed(self, what: Callable[[], object]) -> None:
        super().deed(what)
        saves = self.session.round.saves
        for save in saves[self.reported :]:
            word = "ready" if save.first else f"saved {save.sha256}"
            os.write(1, f"{word}\n".encode())  # Textual keeps what is printed for itself
        self.reported = len(saves)


def main(home: Path, folder: Path, base: float, speed: float, minutes: float) -> None:
    def now() -> Moment:
        return moment(base, speed)

    catalog = load_catalog()
    with History(home / "history.db", lambda: now().wall) as history, InterviewStore(history.path) as store:
        if store.open_in(folder.resolve()) is None:
            wish = Wish(katas=(catalog.get("v3"),), minutes=minutes, seed=7)
            session = open_interview(wish, folder, history, store, now)
        else:
            session = current(folder, store, now)
            session.resume()
        room = ReportingRoom(session, history, store, catalog, grade, now, browse=lambda _: None, pages=home)

        def leave() -> None:
            if session.phase in ("questions", "over"):
                room.exit()

        room.call_later(lambda: room.set_interval(0.05, leave))
        room.run(headless=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *(float(word) for word in sys.argv[3:6]))
