"""The screen before the clock: the brief, and Enter to begin."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Markdown, Static

from grader.catalog import Kata
from grader.debugging.records import Room as BugRoom
from grader.interview.hunting import brief
from grader.interview.room.room import Room
from grader.interview.room.windows import TooSmall
from grader.interview.wording import count, spoken


class ReadyScreen(Screen[bool]):
    """A kata's brief, read without a clock. It is left with whether the clock shall start."""

    app: Room

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer(True)", "Start the clock"),
        Binding("escape", "answer(False)", "Not now"),
    ]

    def __init__(self, kata: Kata, limit: float, room: BugRoom | None = None) -> None:
        super().__init__()
        self._room = room
        self._kata = kata
        self._limit = limit

    def compose(self) -> ComposeResult:
        yield Static(self._terms(), id="terms")
        with VerticalScroll(id="brief") as task:
            task.can_focus = True
            yield Markdown(brief(self._room, self._kata, self.app.wording))
            if self._room is None:
                yield Static(what_is_looked_at(self._kata), id="concepts")
        yield TooSmall()
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.query_one("#brief").focus()

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def _terms(self) -> Text:
        help_ = f"a hint costs {count(self._kata.rules.hint_cost, 'point')}"
        if self._room is not None:
            help_ = f"{count(len(self._room.bugs), 'bug')} to find, without hints"
        return Text.assemble(
            (f"{self._kata.id}  ·  {spoken(self._limit)}  ·  {help_}\n", "bold"),
            self.app.wording.room["ready"],
        )


def what_is_looked_at(kata: Kata) -> Text:
    """The concepts with their points."""
    text = Text("What is looked at\n", style="bold")
    for concept in kata.concepts:
        optional = "" if concept.required else " (optional)"
        text.append(f"{concept.points:>3}  {concept.title}{optional}\n", style="not bold")
    return text
