"""The grades of an interview, in a thread of their own: of what was handed in, then of every save.

Whatever is lost with the server is graded again by the next one: what counts is in the history before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from grader.catalog import Catalog, Kata
from grader.engine.running import Cancelled
from grader.errors import GraderFault, KataError
from grader.interview import round_grading
from grader.interview.records import Plan
from grader.interview.round_grading import Job
from grader.interview.session import Session
from grader.records import Grade, Options, Submission
from grader.watch.rounds import Underway
from grader.web.desk import Desk


class Settling:
    """One interview at a time. All but the thread's own is for the desk's thread."""

    def __init__(self, desk: Desk, session: Callable[[Plan], Session]) -> None:
        self.problem: KataError | None = None  # why what was handed in could not be graded
        self._desk = desk
        self._session = session
        self._tested: set[str] = set()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._underway: Underway | None = None
        self._closed = False

    def begin(self, plan: Plan) -> None:
        """See to it that all is graded, unless that is under way, or has failed."""
        if self.problem is None and not self._closed and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self._run, args=(plan,), name="settling", daemon=True)
            self._thread.start()

    def again(self, plan: Plan) -> None:
        """Once more after a problem."""
        self.problem = None
        self.begin(plan)

    def close(self) -> None:
        """From another thread than the desk's: end what is under way, and wait for its end."""
        with self._lock:
            self._closed = True
            underway = self._underway
        if underway is not None:
            underway.cancel()
        if self._thread is not None:
            self._thread.join()

    # In the thread

    def _run(self, plan: Plan) -> None:
        try:
            self._all(plan)
        except Cancelled:
            pass
        except KataError as problem:
            self.problem = problem
        except Exception as error:  # noqa: BLE001 -- the last resort, for what is our fault
            self.problem = GraderFault(self._desk.world.fault(error))

    def _all(self, plan: Plan) -> None:
        desk = self._desk
        while (job := desk.done(partial(self._last_save, plan))) is not None:
            desk.done(partial(self._test, job, job.run(desk.catalog, self._grade)))
        while (job := desk.done(partial(self._what_counts, plan))) is not None:
            desk.done(partial(self._keep, job, job.run(desk.catalog, self._grade)))
        for job in desk.done(partial(self._saves, plan)):
            grade = job.run(desk.catalog, self._grade)
            desk.done(partial(round_grading.keep_timeline, job, grade, desk.interviews))

    def _grade(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade:
        """Through an engine or in a process of its own: nothing may be forked from a server's threads."""
        world = self._desk.world
        seed = None if options is None else options.seed
        with self._lock:
            if self._closed:
                raise Cancelled
            underway = world.begin(submission, kata, catalog, replace(world.options, seed=seed))
            self._underway = underway
        return underway.result()

    # At the desk

    def _last_save(self, plan: Plan) -> Job | None:
        """In practice the last save is graded at once."""
        session = self._session(plan)
        if not plan.practice or session.phase != "writing":
            return None
        last = session.round.saves[-1]
        if last.first or last.sha256 in self._tested:
            return None
        self._tested.add(last.sha256)
        return round_grading.job_of(session, self._desk.interviews, last.sha256)

    def _test(self, job: Job, grade: Grade) -> None:
        session = self._session(job.plan)
        round_grading.keep_timeline(job, grade, self._desk.interviews)
        if session.phase == "writing":
            session.tested(grade.verdict, grade.points, grade.max_points)

    def _what_counts(self, plan: Plan) -> Job | None:
        return round_grading.final_job(self._session(plan), self._desk.interviews)

    def _keep(self, job: Job, grade: Grade) -> None:
        session, desk = self._session(job.plan), self._desk
        round_grading.keep_final(session, job, grade, desk.history, desk.interviews)

    def _saves(self, plan: Plan) -> list[Job]:
        """Every save without a grade; none while the clock runs."""
        session = self._session(plan)
        if session.phase == "writing":
            return []
        return list(round_grading.timeline_jobs(session, self._desk.interviews))
