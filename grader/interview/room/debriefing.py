"""The debrief in the room."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from grader.interview.room.room import Room
from grader.interview.room.windows import TooSmall

_MARGIN = 4  # columns of padding and scrollbar


class DebriefScreen(Screen[None]):
    """The same text as `kata interview debrief`, with room to scroll."""

    app: Room

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "app.open_page", "Open as a page"),
        Binding("q,escape", "app.quit", "Leave"),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="debrief") as scroll:
            scroll.can_focus = True
            yield Static(id="debrief-text")
        yield TooSmall()
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_resize(self, event: events.Resize) -> None:
        self.show(event.size.width)

    def show(self, width: int | None = None) -> None:
        """Lay the text out for the width that is there."""
        columns = max(40, (width or self.size.width) - _MARGIN)
        self.query_one("#debrief-text", Static).update(Text.from_ansi(self.app.debrief_text(columns)))
