"""The screen while the clock runs: brief, clock, file, log."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Digits, Footer, Markdown, RichLog, Static

from grader import paths
from grader.interview.clarify import Clarification, clarifications
from grader.interview.hunting import brief
from grader.interview.records import Event, Round
from grader.interview.room.ready import what_is_looked_at
from grader.interview.room.room import Room
from grader.interview.room.windows import Clarifying, Confirming, Reading, TooSmall
from grader.interview.timeline import note
from grader.interview.wording import at, clock, count, spoken
from grader.practice.hints import hint_texts
from grader.report.neutral import for_terminal

URGENT_SECONDS = 300.0
LAST_SECONDS = 60.0
_ANNOUNCED = (600.0, 300.0, 60.0)


class WritingScreen(Screen[None]):
    """What a candidate looks at beside their editor."""

    app: Room

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run", "Run"),
        Binding("a", "ask", "Ask"),
        Binding("h", "hint", "Hint"),
        Binding("s", "submit", "Submit"),
        Binding("g", "give_up", "Give up"),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0  # events of the log
        self._announced: set[float] = set()
        self._face = ""

    def compose(self) -> ComposeResult:
        kata = self.app.kata
        with Horizontal(id="top"):
            yield Digits(id="clock")
            with Vertical(id="facts"):
                yield Static(id="words")
                yield Static(id="file")
                yield Static(id="saves")
        with Horizontal(id="middle"):
            with VerticalScroll(id="brief") as task:
                task.can_focus = True
                yield Markdown(brief(self.app.session.round.room, kata, self.app.wording))
                if self.app.session.round.room is None:
                    yield Static(what_is_looked_at(kata), id="concepts")
            yield RichLog(id="log", wrap=True, min_width=20, markup=False, highlight=False)
        yield TooSmall()
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.query_one("#brief").focus()
        self._announced = {mark for mark in _ANNOUNCED if mark >= self.app.session.remaining()}
        self.call_after_refresh(self.show)  # the log wraps at the width that it has when it is written to

    # What is shown

    def show(self) -> None:
        """Bring clock, file and log up to date; not before the screen is composed, nor on its way out."""
        if not self.query("#file"):
            return
        session = self.app.session
        one = session.round
        for event in one.events[self._shown :]:
            text = self._line(event, one)
            if text:
                self.say(text, event.seconds)
        self._shown = len(one.events)
        self._show_clock(session.remaining(), one)
        folder = for_terminal(paths.tilde(one.path.parent, Path.home()))
        self._put("file", Text.assemble((for_terminal(one.path.name), "bold"), f"  in {folder}"))
        self._put("saves", self._saves(one))

    def say(self, text: str, second: float | None = None) -> None:
        """A line of the log."""
        second = self.app.session.elapsed() if second is None else second
        self.query_one("#log", RichLog).write(Text.assemble((at(second), "dim"), "  ", for_terminal(text)))

    def _show_clock(self, remaining: float, one: Round) -> None:
        face = clock(remaining)
        if face == self._face:
            return
        self._face = face
        texts = self.app.wording.room
        ended = one.ending
        level = f" · level {one.number + 1} of {n}" if (n := len(self.app.session.plan.katas)) > 1 else ""
        if ended is not None:
            words = texts["over" if ended.kind == "deadline" else "stopped"]
        elif remaining <= LAST_SECONDS:
            words = f"{spoken(remaining)} {texts['last_minute']}"
        elif remaining <= URGENT_SECONDS:
            words = f"{spoken(remaining)} {texts['urgent']}"
        else:
            words = f"{spoken(remaining)} {texts['calm']} of {round(one.limit / 60)}"
        self.query_one("#clock", Digits).update(face)
        self._put("words", Text(f"{one.kata} · {words}{level}"))
        self.set_class(ended is None and LAST_SECONDS < remaining <= URGENT_SECONDS, "urgent")
        self.set_class(ended is None and remaining <= LAST_SECONDS, "last")
        if ended is None:
            self._announce(remaining)

    def _announce(self, remaining: float) -> None:
        """Say at ten, five and one minute what time it is: a log is what screen readers follow."""
        due = [mark for mark in _ANNOUNCED if remaining <= mark and mark not in self._announced]
        if due:
            self._announced.update(due)
            self.say(f"{spoken(due[-1])} left")
            if due[-1] <= LAST_SECONDS:
                self.app.bell()

    def _saves(self, one: Round) -> Text:
        problem = self.app.session.problem
        if problem is not None:
            return Text.assemble(("! ", "bold"), for_terminal(problem))
        saves = one.saves[1:]
        if not saves:
            return Text("not saved yet")
        late = f", {n} late" if (n := sum(save.late for save in saves)) else ""
        return Text(f"{count(len(saves), 'save')}{late}, the last at {at(saves[-1].seconds)}")

    def _line(self, event: Event, one: Round) -> str:
        """An event as a line of the log; empty for what needs none."""
        data = event.data
        if event.kind == "saved":
            return self._save_line(event, one)
        if event.kind in ("clock", "resumed"):
            return note(event, self.app.wording.notes)
        if event.kind == "tested":
            what = "points" if one.room is None else "bugs mended"
            return f"{data['points']} of {data['max_points']} {what}"
        lines = {
            "begun": self._welcome(one),
            "ran": f"You ran the file: it {data.get('outcome', '')}",
            "hint": f"Hint {data.get('number', '')}",
            "submitted": "Handed in",
            "deadline": "Time is over. What was saved before counts",
            "gave_up": "You gave up. What there is, is graded",
        }
        if event.kind == "asked":
            known = {entry.id: entry.question for entry in clarifications(self.app.kata)}
            return f"You asked: {known.get(data['id'], data['id'])}"
        return lines.get(event.kind, "")

    @staticmethod
    def _welcome(one: Round) -> str:
        kept = "" if one.backup is None else f" Your earlier work is kept in {one.backup.name}"
        return f"The clock is running. Good luck!{kept}"

    def _save_line(self, event: Event, one: Round) -> str:
        saves = one.saves
        number = [e.uuid for e in one.of("saved")].index(event.uuid)
        if number == 0:
            return ""
        if saves[number].late:
            return f"Save {number}: late, kept and not counted"
        return f"Save {number}" + (", found by the file's own time" if saves[number].found_later else "")

    def _put(self, place: str, text: Text) -> None:
        self.query_one(f"#{place}", Static).update(text)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("run", "ask", "hint", "submit", "give_up"):
            return True if self.app.session.phase == "writing" else None
        return True

    def action_run(self) -> None:
        self.say("Running your file …")
        self.app.run_candidate()

    def action_ask(self) -> None:
        def asked(entry: Clarification) -> None:
            self.app.deed(lambda: self.app.session.ask(entry.id))

        self.app.push_screen(Clarifying(clarifications(self.app.kata), asked))

    def action_hint(self) -> None:
        if self.app.session.round.room is not None:
            self.app.deed(self.app.session.refuse_in_a_hunt)
            return
        kata = self.app.kata
        texts = hint_texts(kata)
        taken = self.app.session.round.hints
        if taken >= len(texts):
            self._show_hints(taken, texts)
            return
        cost = kata.rules.hint_cost
        price = f"It costs {count(cost, 'point')} of the verdict." if cost else "It costs nothing."

        def decided(yes: bool | None) -> None:
            if yes:
                self.app.deed(self._take_hint)

        question = f"Take hint {taken + 1} of {len(texts)}?"
        self.app.push_screen(Confirming(question, f"{price} It is recorded."), decided)

    def _take_hint(self) -> None:
        texts = hint_texts(self.app.kata)
        number = self.app.history.take_hint(self.app.kata.id, len(texts))
        self.app.session.take_hint(number)
        self._show_hints(number, texts)

    def _show_hints(self, taken: int, texts: tuple[str, ...]) -> None:
        """The latest first; those before it below."""
        older = [f"**Hint {n}**\n\n{texts[n - 1]}" for n in range(taken - 1, 0, -1)]
        parts = [texts[taken - 1], *older]
        self.app.push_screen(Reading(f"Hint {taken} of {len(texts)}", "\n\n---\n\n".join(parts)))

    def action_submit(self) -> None:
        def decided(yes: bool | None) -> None:
            if yes:
                self.app.deed(self.app.session.submit)

        self.app.look()
        one = self.app.session.round
        saved = "Your file is still as it was handed over." if len(one.saves) == 1 else ""
        left = f"{spoken(self.app.session.remaining())} left."
        self.app.push_screen(Confirming("Hand in now?", f"{left} {saved}".strip()), decided)

    def action_give_up(self) -> None:
        def decided(yes: bool | None) -> None:
            if yes:
                self.app.deed(self.app.session.give_up)

        self.app.push_screen(Confirming("Give up?", "What there is, is graded all the same."), decided)

    def action_help(self) -> None:
        self.app.push_screen(Reading("Help", self.app.wording.room["help"]))
