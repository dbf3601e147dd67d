"""The room: ticks, the watched file, the deeds, and what is done in the background."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from grader.catalog import Catalog, Kata
from grader.debugging.records import Room as BugRoom
from grader.errors import KataError, UsageError
from grader.history import History
from grader.interview import followups, opening, round_grading, watching
from grader.interview.debrief import build_debrief
from grader.interview.moments import Clock
from grader.interview.own_lines import Measure
from grader.interview.records import Phase
from grader.interview.room.asking import AskingScreen
from grader.interview.room.debriefing import DebriefScreen
from grader.interview.room.ready import ReadyScreen
from grader.interview.room.room import Room
from grader.interview.room.windows import Reading, TooSmall
from grader.interview.room.writing import WritingScreen
from grader.interview.round_grading import Job
from grader.interview.running import Run, Running, run_file
from grader.interview.sections import debrief_document
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.wording import clock, load_wording
from grader.practice.attempts import GradeFunction
from grader.records import Grade, Record
from grader.report.neutral import for_terminal

MIN_COLUMNS, MIN_LINES = 60, 16
TICK_SECONDS = 1.0


class Waiting(Record):
    """An interview that is agreed and not begun: what the candidate reads first, and how it begins."""

    kata: Kata
    limit: float  # seconds
    begin: Callable[[], Session]
    room: BugRoom | None = None


class RoomApp(Room):
    """One interview in a terminal. All that must not be lost is in the session before it is shown."""

    CSS_PATH = Path(__file__).with_name("room.tcss")
    TITLE = "kata interview"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 -- Textual's own declaration
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Leave", priority=True)]

    def __init__(
        self,
        entry: Session | Waiting,
        history: History,
        store: InterviewStore,
        catalog: Catalog,
        grade: GradeFunction,
        moment: Clock,
        *,
        browse: Callable[[Path], None],
        pages: Path,
        measure: Measure | None = None,
    ) -> None:
        super().__init__()
        self.refused: KataError | None = None  # why the clock could not be started
        self._entry = entry
        self.history = history
        self.catalog = catalog
        self.wording = load_wording(catalog)
        self._store = store
        self._grade = grade
        self._moment = moment
        self._browse = browse
        self._pages = pages
        self._measure = measure
        self._phase: Phase | None = None
        self._tested: str | None = None
        self._own_run = Running()

    @property
    def session(self) -> Session:
        """The interview; there is none before its clock has started."""
        if isinstance(self._entry, Waiting):
            raise TypeError("the clock has not started")
        return self._entry

    @property
    def begun(self) -> bool:
        return not isinstance(self._entry, Waiting)

    def notify(self, message: str, **more: Any) -> None:
        """Say something; it may hold names and paths of anybody's choosing."""
        super().notify(for_terminal(message, multiline=True), **more | {"markup": False})

    # Time and file

    def on_mount(self) -> None:
        if isinstance(self._entry, Waiting):
            self.push_screen(ReadyScreen(self._entry.kata, self._entry.limit, self._entry.room), self._begin)
        else:
            self._start_looking()

    def _begin(self, yes: bool | None) -> None:
        """The candidate has read the brief: now there is an interview, and its clock runs."""
        assert isinstance(self._entry, Waiting)
        if not yes:
            self.exit()
            return
        try:
            self._entry = self._entry.begin()
        except KataError as problem:
            self.refused = problem
            self.exit()
            return
        self._start_looking()

    def _start_looking(self) -> None:
        self.set_interval(TICK_SECONDS, self.look)
        self.look()

    def look(self) -> None:
        """Look at the file and the clock, and show what is new."""
        self.deed(self.session.observe)

    def deed(self, what: Callable[[], object]) -> None:
        """Do something with the session, and show what came of it; a refusal is said, not fatal."""
        try:
            what()
        except KataError as problem:
            self.notify(f"{problem.message}\n{problem.fix}", severity="warning", timeout=10)
        self._follow_phase()
        if isinstance(self.writing, WritingScreen):
            self.writing.show()
        self._test_save()

    @property
    def writing(self) -> WritingScreen | None:
        """The screen of the clock, where it is there."""
        return next((s for s in self.screen_stack if isinstance(s, WritingScreen) and s.is_mounted), None)

    async def _watch(self) -> None:
        """A save is seen at once. Where watching fails, the tick sees it a second later."""
        try:
            async for _ in watching.changes(self.session.round.path):
                self.look()
        except (OSError, RuntimeError) as error:
            self.log.warning(f"not watching: {error}")

    def _follow_phase(self) -> None:
        """Go where the interview is."""
        phase = self.session.phase
        if phase == self._phase:
            return
        self._phase = phase
        self.refresh_bindings()
        while isinstance(self.screen, ModalScreen):
            self.pop_screen()  # what it asks is not the question any more
        if phase == "writing":
            self._open_writing()
        elif phase == "between":
            self._offer_next()
        elif phase == "grading":
            self._grade_what_counts()
        elif phase == "questions":
            self._begin_questions()
        elif self.session.interview.aborted:
            self.exit()  # in another terminal
        else:
            self.push_screen(DebriefScreen())

    def _open_writing(self) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.push_screen(WritingScreen())
        self._set_deadline()
        self.run_worker(self._watch(), group="watch", exclusive=True, exit_on_error=False)

    def _set_deadline(self) -> None:
        self.set_timer(self.session.remaining() + 0.01, self.look)

    # The candidate's file

    def run_candidate(self) -> None:
        """Run the file in a process of its own; the room goes on."""
        path = self.session.round.path
        self._own_run.stop()
        self._own_run = running = Running()

        def work() -> None:
            run = run_file(path, running=running)
            if self.is_running and running is self._own_run:
                self.call_from_thread(self._ran, run)

        self.run_worker(work, thread=True, group="run")

    def on_unmount(self) -> None:
        self._own_run.stop()

    def _ran(self, run: Run) -> None:
        if self.session.phase == "writing":
            self.deed(lambda: self.session.ran(run.outcome))
        output = run.output or "(it printed nothing)"
        self.push_screen(Reading(f"Your file {run.outcome}", output, markdown=False))

    def _test_save(self) -> None:
        """In practice mode: grade the last save at once."""
        if not self.session.plan.practice or self.session.phase != "writing":
            return
        last = self.session.round.saves[-1]
        if last.first or last.sha256 == self._tested:
            return
        self._tested = last.sha256
        job = round_grading.job_of(self.session, self._store, last.sha256)
        self._in_background(job, self._say_tested, group="practice")

    def _say_tested(self, job: Job, grade: Grade) -> None:
        round_grading.keep_timeline(job, grade, self._store)
        if self.session.phase == "writing":
            told = round_grading.short(grade)
            self.deed(lambda: self.session.tested(told.verdict, told.points, told.max_points))
            if self.writing is not None and job.room is None:
                for item in grade.diagnosis[:1]:
                    self.writing.say(item.sentence)

    # After the clock

    def _offer_next(self) -> None:
        number = len(self.session.interview.rounds)
        following = self.catalog.get(self.session.plan.katas[number])

        def decided(yes: bool | None) -> None:
            if yes:
                self.deed(lambda: opening.go_on(self.session, self.catalog, self.history, self._moment))
            else:
                self.exit()

        self.notify(f"{self.session.round.kata} is handed in. Next: {following.id}, {following.title}.")
        self.push_screen(ReadyScreen(following, self.session.plan.limits[number]), decided)

    def _grade_what_counts(self) -> None:
        job = round_grading.final_job(self.session, self._store)
        if job is None:
            return
        self.notify("Grading what you handed in …", timeout=3)

        def keep(job: Job, grade: Grade) -> None:
            self.deed(lambda: round_grading.keep_final(self.session, job, grade, self.history, self._store))
            if self.session.phase == "grading":  # another round, unless this one could not be graded
                more = round_grading.final_job(self.session, self._store)
                if more is not None and more.number != job.number:
                    self._in_background(more, keep, group="grade")

        self._in_background(job, keep, group="grade")

    def _begin_questions(self) -> None:
        self._grade_saves()
        followups.ask(self.session, self.catalog, self._store, self._measure)
        self._next_question()

    def _next_question(self, _: None = None) -> None:
        asked = followups.asked(self.session.interview, self.catalog)
        number = next((n for n, entry in enumerate(asked) if not entry.done), None)
        if number is None:
            self.deed(self.session.finish)
        else:
            self.push_screen(AskingScreen(number, asked), self._next_question)

    def _grade_saves(self) -> None:
        """Grade the saves one after another, while the candidate answers."""
        jobs = list(round_grading.timeline_jobs(self.session, self._store))

        def keep(job: Job, grade: Grade) -> None:
            round_grading.keep_timeline(job, grade, self._store)
            if jobs:
                self._in_background(jobs.pop(0), keep, group="timeline")
            elif isinstance(self.screen, DebriefScreen):
                self.screen.show()

        if jobs:
            self._in_background(jobs.pop(0), keep, group="timeline")

    def debrief_text(self, columns: int) -> str:
        """The debrief for a screen of that width."""
        return self._document("text", columns)

    def action_open_page(self) -> None:
        """The debrief as a page in the browser."""
        page = self._pages / f"interview-{self.session.plan.uuid[:8]}.html"
        try:
            self._pages.mkdir(parents=True, exist_ok=True)
            page.write_text(self._document("html", 80), encoding="utf-8")
        except OSError as error:
            self.notify(f"The page could not be written: {error.strerror}.", severity="warning")
            return
        try:
            self._browse(page)
        except KataError as problem:
            self.notify(f"{problem.message}\n{problem.fix}", severity="warning")
        else:
            self.notify(f"Opened {page}")

    def _document(self, form: str, columns: int) -> str:
        debrief = build_debrief(self.session, self.history, self._store, self.catalog, self.wording)
        color = not self.no_color
        return debrief_document(debrief, form, self.catalog, width=columns, color=color)  # type: ignore[arg-type]

    def _in_background(self, job: Job, keep: Callable[[Job, Grade], None], *, group: str) -> None:
        """Grade in a thread; the answer is kept in this one, which owns the database."""

        def work() -> None:
            try:
                grade = job.run(self.catalog, self._grade)
            except KataError as problem:
                if self.is_running:
                    self.call_from_thread(self.notify, f"{problem.message} {problem.fix}", severity="warning")
                return
            if self.is_running:
                self.call_from_thread(keep, job, grade)

        self.run_worker(work, thread=True, group=group)

    # The terminal

    def on_resize(self, event: events.Resize) -> None:
        small = event.size.width < MIN_COLUMNS or event.size.height < MIN_LINES
        self.set_class(small, "small-terminal")
        text = self.wording.room["too_small"].format(
            width=event.size.width, height=event.size.height, columns=MIN_COLUMNS, lines=MIN_LINES
        )
        for screen in self.screen_stack:
            for notice in screen.query(TooSmall):
                notice.update(Text(text))


def open_room(
    entry: Session | Waiting,
    history: History,
    store: InterviewStore,
    catalog: Catalog,
    grade: GradeFunction,
    moment: Clock,
    *,
    browse: Callable[[Path], None],
    pages: Path,
    measure: Measure | None = None,
) -> str:
    """Run the room until it is left; returns what to say then."""
    if isinstance(entry, Session) and entry.phase == "over":
        raise UsageError("This interview is over.", "See how it went: kata interview debrief")
    room = RoomApp(entry, history, store, catalog, grade, moment, browse=browse, pages=pages, measure=measure)
    room.run()
    if room.refused is not None:
        raise room.refused
    if not room.begun:
        return "The clock was not started: nothing has happened."
    room.session.observe()
    return _goodbye(room.session)


def _goodbye(session: Session) -> str:
    if session.phase == "over":
        return "The debrief again: kata interview debrief"
    if session.phase == "writing":
        return (
            f"The clock goes on: {clock(session.remaining())} left. Back to the room: kata interview --resume"
        )
    return "The rest waits for you: kata interview --resume"
