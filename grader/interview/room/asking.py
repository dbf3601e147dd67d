"""The follow-up questions: answer in own words, see the model answer, mark oneself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static, TextArea

from grader.interview.followups import SECONDS, FollowUp
from grader.interview.room.room import Room
from grader.interview.room.windows import TooSmall
from grader.interview.wording import clock
from grader.report.neutral import visible


class Marks(OptionList):
    """Key points to tick off, with signs that need no colour."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "select", "Mark", show=False)]

    def __init__(self, points: Sequence[str]) -> None:
        super().__init__(*(Text(f"[ ] {point}") for point in points), id="marks")
        self.marks = [False] * len(points)
        self._points = tuple(points)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        number = event.option_index
        self.marks[number] = not self.marks[number]
        sign = "[x]" if self.marks[number] else "[ ]"
        self.replace_option_prompt_at_index(number, Text(f"{sign} {self._points[number]}"))


class AskingScreen(Screen[None]):
    """One question; dismissed when it is answered and marked."""

    app: Room

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "go_on", "Done"),
    ]

    def __init__(self, number: int, asked: Sequence[FollowUp]) -> None:
        super().__init__()
        self._number = number
        self._many = len(asked)
        self._entry = asked[number]
        self._began = time.monotonic()
        self._answered = self._entry.answer is not None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="asking"):
            yield Static(id="asking-clock")
            yield Static(Text(self._entry.question.question), id="question")
            yield TextArea(visible(self._entry.answer or ""), id="answer")
            yield Static(id="model")
            yield Marks(self._entry.question.key_points)
        yield TooSmall()
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        self._tick()
        if self._answered:
            self._show_model()
        else:
            self.query_one("#model").display = False
            self.query_one("#marks").display = False
            self.query_one(TextArea).focus()

    def action_go_on(self) -> None:
        question = self._entry.question
        session = self.app.session
        if not self._answered:
            text = self.query_one(TextArea).text.strip()
            self.app.deed(lambda: session.answer(question.id, text, time.monotonic() - self._began))
            self._answered = True
            self._show_model()
            return
        marks = self.query_one(Marks).marks
        self.app.deed(lambda: session.mark(question.id, marks))
        self.dismiss()

    def _show_model(self) -> None:
        answer = self.query_one(TextArea)
        answer.read_only = True
        model = self.query_one("#model", Static)
        model.update(
            Text.assemble(
                ("A good answer\n", "bold"),
                self._entry.question.answer,
                ("\n\nWhich of these did you say? Space marks one, Ctrl+S goes on.", "bold"),
            )
        )
        model.display = True
        marks = self.query_one(Marks)
        marks.display = True
        marks.focus()
        self.add_class("answered")
        self.call_after_refresh(self.query_one("#asking").scroll_end, animate=False)
        self._tick()

    def _tick(self) -> None:
        left = SECONDS - (time.monotonic() - self._began)
        head = f"Question {self._number + 1} of {self._many}"
        if self._answered:
            words = "your own marks; they count nowhere else"
        elif left > 0:
            words = f"{clock(left)} left; nothing happens when it is over. Ctrl+S when you are done"
        else:
            words = "two minutes are over: come to an end. Ctrl+S when you are done"
        self.query_one("#asking-clock", Static).update(Text(f"{head}  ·  {words}"))
