"""What the pages of practice show: home, a kata, history, statistics, reports."""

from __future__ import annotations

from starlette.responses import Response

from grader.errors import UsageError
from grader.history import Attempt, Start, passed_over
from grader.interview.status import status
from grader.memory.advice import what_next
from grader.memory.sections import stats_view
from grader.memory.stats import stats
from grader.practice.attempts import recall, recall_attempt
from grader.practice.hints import hint_texts
from grader.practice.overview import overview
from grader.practice.reports import document
from grader.practice.work import read
from grader.records import Record
from grader.snapshot import UnreadableSubmission
from grader.web.desk import Desk
from grader.web.views import Asked, Views, sandboxed

MOST_SHOWN = 200
ADVICE_SHOWN = 3


class Shown(Record):
    """The candidate's file on a kata's page: `problem` is why it cannot be edited."""

    start: Start
    sha256: str = ""
    problem: str = ""


def shown(start: Start) -> Shown:
    """A file, as far as it can be read."""
    try:
        return Shown(start=start, sha256=read(start).sha256)
    except (UsageError, UnreadableSubmission) as problem:
        return Shown(start=start, problem=f"{problem.message} {problem.fix}")


class Pages:
    """Each page as a function of what was asked; at the desk's thread."""

    def __init__(self, desk: Desk, views: Views) -> None:
        self._desk = desk
        self._views = views

    def home(self, asked: Asked) -> Response:
        """Where the candidate stands, what to practise next and why."""
        desk, world = self._desk, self._desk.world
        advice = what_next(desk.catalog, desk.history, desk.interviews, world.clock())
        return self._views.page(
            "home",
            asked,
            tracks=desk.catalog.tracks.tracks,
            seen=overview(desk.catalog, desk.history, world.folder),
            advice=advice[:ADVICE_SHOWN],
            interviews=[status(session) for session in desk.running()],
            folder=world.folder,
            note=passed_over({*desk.history.passed_over, *desk.interviews.passed_over}),
        )

    def kata(self, asked: Asked) -> Response:
        """Brief, editor and result."""
        desk = self._desk
        kata = desk.kata(asked.path["kata"])
        attempts = desk.history.attempts(kata.id)
        graded = recall(kata, desk.catalog, desk.history, folder=desk.world.folder) if attempts else None
        texts, work = hint_texts(kata), desk.work(kata)
        return self._views.page(
            "kata",
            asked,
            kata=kata,
            brief=kata.text("brief.md"),
            work=None if work is None else shown(work),
            folder=desk.world.folder,
            hints=texts[: desk.history.hints_taken(kata.id)],
            hint_count=len(texts),
            passed=any(attempt.verdict == "passed" for attempt in attempts),
            result=None if graded is None else self._views.result(graded, asked),
            interviews=[status(session) for session in desk.running()],
        )

    def history(self, asked: Asked) -> Response:
        """All attempts and interviews, the latest first."""
        desk = self._desk
        attempts = desk.history.attempts(limit=MOST_SHOWN)
        return self._views.page(
            "history", asked, attempts=attempts, interviews=desk.interviews.readable()[:MOST_SHOWN]
        )

    def report(self, asked: Asked) -> Response:
        """An attempt's report as a page of its own, or as the JSON that the terminal gives."""
        desk = self._desk
        attempt = self._attempt(asked.path["attempt"])
        graded = recall_attempt(attempt, desk.catalog, desk.history, folder=desk.world.folder)
        if asked.query.get("format") == "json":
            return Response(document(graded, "json"), media_type="application/json")
        return sandboxed(document(graded, "html"))

    def statistics(self, asked: Asked) -> Response:
        """How it went so far, in honest numbers."""
        desk = self._desk
        found = stats(desk.catalog, desk.history, desk.interviews, desk.world.clock())
        return self._views.page("statistics", asked, view=stats_view(found))

    def _attempt(self, uuid: str) -> Attempt:
        known = {kata.id for kata in self._desk.catalog.katas}
        for attempt in self._desk.history.attempts():
            if attempt.uuid == uuid and attempt.kata in known:
                return attempt
        raise UsageError("There is no such attempt in this history.", "All of them: the history page.")
