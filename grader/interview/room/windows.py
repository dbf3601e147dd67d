"""Small windows over a screen: a text to read, a yes or no, a question to choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Markdown, OptionList, Static

from grader.interview.clarify import Clarification
from grader.report.neutral import visible


class TooSmall(Static):
    """Covers the screen while the terminal is too small for it."""


class Reading(ModalScreen[None]):
    """A text: Markdown of ours, or plain text that is shown as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,space", "app.pop_screen", "Close"),
    ]

    def __init__(self, title: str, text: str, *, markdown: bool = True) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(Text(self._title), classes="title")
            with VerticalScroll() as scroll:
                scroll.can_focus = True
                yield Markdown(self._text) if self._markdown else Static(Text(visible(self._text)))
            yield Static("Enter closes this", classes="keys")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()


class Confirming(ModalScreen[bool]):
    """A yes or no to what cannot be undone: Enter, which the hand presses by itself, is neither."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self._question = question
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="window small"):
            yield Static(Text(self._question), classes="title")
            if self._text:
                yield Static(Text(self._text))
            yield Static("Y: yes   N or Escape: no", classes="keys")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Clarifying(ModalScreen[None]):
    """The questions that the interviewer will answer; `ask` is told which one was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Close")]

    def __init__(self, known: Sequence[Clarification], ask: Callable[[Clarification], None]) -> None:
        super().__init__()
        self._known = known
        self._ask = ask

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static("Ask the interviewer (free)", classes="title")
            yield OptionList(*(Text(entry.question) for entry in self._known))
            yield Static(id="reply")
            yield Static("Enter asks   Escape closes", classes="keys")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        entry = self._known[event.option_index]
        self._ask(entry)
        self.query_one("#reply", Static).update(Text(f"Interviewer: {entry.answer}"))
