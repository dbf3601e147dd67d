"""What the pages work with, all in one thread: it owns the history, and what it does comes one after another.

So two tabs that save at once save in turn, and an interview is looked at by one pair of eyes. Grades run
elsewhere (`gradings`); what they give is kept here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from grader import paths
from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.history import History, Start
from grader.interview.moments import Clock as MomentClock
from grader.interview.price import Deed, costs, running
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.practice.trials import TryFunction
from grader.practice.work import current_work, start_of
from grader.records import Options, Record
from grader.watch.rounds import Begin

T = TypeVar("T")


class World(Record):
    """The doors to the outside: made by the command, replaced as a whole by the tests.

    `folder` is where the candidate stands; `options` are those of every grade. `fault` keeps a traceback
    of ours and says where it is.
    """

    catalog: Catalog
    home: Path
    folder: Path
    clock: Callable[[], datetime]
    moment: MomentClock
    begin: Begin
    try_out: TryFunction
    options: Options
    fault: Callable[[Exception], str]


class Costs(UsageError):
    """Something would cost an interview that is on, and nobody has agreed to that yet."""


class Desk:
    """The one thread, and what it works with. Everything but `do` and `close` is for that thread."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.catalog = world.catalog
        database = paths.database(world.home)
        self.history = History(database, world.clock)
        self.interviews = InterviewStore(database)
        self._thread = ThreadPoolExecutor(1, "desk")

    async def do(self, deed: Callable[[], T]) -> T:
        """Do something in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, deed)

    def done(self, deed: Callable[[], T]) -> T:
        """The same for who is in another thread, and waits."""
        return self._thread.submit(deed).result()

    def close(self) -> None:
        """Finish what is under way, and let go of the history."""
        self._thread.submit(self.history.close)
        self._thread.submit(self.interviews.close)
        self._thread.shutdown()

    def kata(self, name: str) -> Kata:
        """The kata of that id; raises `UsageError`."""
        return self.catalog.get(name)

    def start(self, uuid: str) -> Start:
        """The start of that id; raises `UsageError`."""
        return start_of(uuid, self.history)

    def work(self, kata: Kata) -> Start | None:
        """The candidate's work on a kata."""
        return current_work(kata, self.world.folder, self.history)

    def running(self) -> tuple[Session, ...]:
        """The interviews that are on, wherever they are."""
        return running(self.interviews, self.world.moment)

    def agree(
        self, deed: Deed, kata: Kata, *, agreed: bool, folder: Path | None = None
    ) -> tuple[Session, ...]:
        """The interviews that are on; raises `Costs` where the deed costs one, unless that is agreed."""
        found = self.running()
        for cost in () if agreed else costs(deed, kata.id, found, self.history, self.catalog, folder):
            raise Costs(cost)
        return found
