"""What every screen of the room can rely on: the interview, the words, and a way to do something."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from textual.app import App

from grader.catalog import Catalog, Kata
from grader.history import History
from grader.interview.session import Session
from grader.interview.wording import Wording


class Room(App[None]):
    """The application as its screens see it; `grader.interview.room.app` is the one there is."""

    history: History
    catalog: Catalog
    wording: Wording

    @property
    @abstractmethod
    def session(self) -> Session:
        """The interview; there is none before its clock has started."""

    @property
    def kata(self) -> Kata:
        """The kata of the round that is on."""
        return self.catalog.get(self.session.round.kata)

    @abstractmethod
    def look(self) -> None:
        """Look at the file and the clock, and show what is new."""

    @abstractmethod
    def deed(self, what: Callable[[], object]) -> None:
        """Do something with the session, and show what came of it; a refusal is said, not fatal."""

    @abstractmethod
    def run_candidate(self) -> None:
        """Run the file in a process of its own; the room goes on."""

    @abstractmethod
    def debrief_text(self, columns: int) -> str:
        """The debrief for a screen of that width."""
