"""Grades under way: begun by a page, waited for in threads, told of while they run, kept at the desk.

A page that is closed, or a server that ends, costs a grade and nothing else: the file was saved before, and
the attempt is in the history before the page hears of it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from msgspec.structs import replace

from grader.engine.running import Cancelled
from grader.errors import KataError, UsageError
from grader.practice.attempts import Graded, grade_target
from grader.practice.targets import Target
from grader.records import Grade, Options, Record
from grader.watch.rounds import Underway
from grader.web.desk import Desk

MOST_KEPT = 32  # outcomes that a page may still ask for; the history has all of them
MOST_WAITING = 64
GLANCE_SECONDS = 0.5  # between two looks whether the server ends
AT_ONCE = max(2, os.cpu_count() or 1)  # more would only be in each other's way

State = Literal["waiting", "running", "done", "cancelled", "failed"]
OVER: tuple[State, ...] = ("done", "cancelled", "failed")


class Told(Record):
    """What is told of a grade while it runs: one event of the stream."""

    id: str
    state: State
    stage: str = ""  # of a grade that runs: loading, checking, diagnosing
    checks: int = 0
    all_checks: int = 0
    message: str = ""  # why it failed


class Grading:
    """One grade. `target` has its submission: what is graded was read before anything waited."""

    def __init__(self, identifier: str, target: Target, options: Options) -> None:
        self.id = identifier
        self.target = target
        self.options = options
        self.told = Told(id=identifier, state="waiting")
        self.graded: Graded | None = None
        self.underway: Underway | None = None
        self.cancelled = False


class Gradings:
    """All grades of one run. `begin`, `cancel` and `find` may be called from any thread."""

    def __init__(self, desk: Desk, ending: threading.Event) -> None:
        self._desk = desk
        self._ending = ending
        self._threads = ThreadPoolExecutor(AT_ONCE, "grading")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Grading] = OrderedDict()
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Queue[Told]]] = set()

    def begin(self, identifier: str, target: Target, options: Options) -> Grading:
        """Grade the target when there is room for it. Raises `UsageError` when too many wait."""
        with self._lock:
            if identifier in self._known:
                raise UsageError("This grade is under way already.", "Wait for it.")
            waiting = [one for one in self._known.values() if one.told.state not in OVER]
            if len(waiting) >= MOST_WAITING:
                raise UsageError(f"{MOST_WAITING} grades are waiting already.", "Wait until some have ended.")
            over = [name for name, one in self._known.items() if one.told.state in OVER]
            for name in over[: max(0, len(over) - MOST_KEPT + 1)]:
                del self._known[name]
            grading = self._known[identifier] = Grading(identifier, target, options)
        self._threads.submit(self._run, grading)
        return grading

    def find(self, identifier: str) -> Grading:
        """The grade of that id; raises `UsageError` when there is none any more."""
        with self._lock:
            if (found := self._known.get(identifier)) is not None:
                return found
        raise UsageError("This grade is not known any more.", "The history has it: load the page again.")

    def cancel(self, identifier: str) -> None:
        """End a grade that waits or runs; harmless when it is over."""
        grading = self.find(identifier)
        with self._lock:
            grading.cancelled = True
            underway = grading.underway
        if underway is not None:
            underway.cancel()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            names = [name for name, one in self._known.items() if one.told.state not in OVER]
        for name in names:
            self.cancel(name)
        self._threads.shutdown()

    async def listen(self) -> AsyncIterator[Told]:
        """How each grade stands now, then what happens, until none is under way, or the server ends."""
        queue: asyncio.Queue[Told] = asyncio.Queue()
        listener = (asyncio.get_running_loop(), queue)
        with self._lock:
            self._listeners.add(listener)
            standing = [one.told for one in self._known.values()]
        open_ids = {told.id for told in standing if told.state not in OVER}
        try:
            for told in standing:
                yield told
            while open_ids and not self._ending.is_set():
                try:
                    told = await asyncio.wait_for(queue.get(), GLANCE_SECONDS)
                except TimeoutError:
                    continue
                (open_ids.discard if told.state in OVER else open_ids.add)(told.id)
                yield told
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _tell(self, grading: Grading, told: Told) -> None:
        with self._lock:
            grading.told = told
            listeners = tuple(self._listeners)
        for loop, queue in listeners:
            loop.call_soon_threadsafe(queue.put_nowait, told)

    def _run(self, grading: Grading) -> None:
        """In a thread of its own: whatever comes of it is told."""
        try:
            told = self._outcome(grading)
        except KataError as problem:
            told = replace(grading.told, state="failed", message=f"{problem.message} {problem.fix}".strip())
        except Cancelled:
            told = replace(grading.told, state="cancelled")
        except Exception as error:  # noqa: BLE001 -- the last resort, for what is our fault
            told = replace(grading.told, state="failed", message=self._desk.world.fault(error))
        self._tell(grading, told)

    def _outcome(self, grading: Grading) -> Told:
        submission = grading.target.submission
        if isinstance(submission, Exception):  # it is said what is wrong with the text, and nothing is graded
            grading.graded = self._desk.done(lambda: self._kept(grading, _not_called))
            return replace(grading.told, state="done")
        assert submission is not None
        world = self._desk.world
        with self._lock:
            if grading.cancelled:
                raise Cancelled
            told = replace(grading.told, state="running", stage="loading")
            underway = world.begin(
                submission,
                grading.target.kata,
                world.catalog,
                grading.options,
                lambda done, of_all: self._tell(grading, _checked(told, done, of_all)),
            )
            grading.underway = underway
        self._tell(grading, told)
        grade = underway.result()
        grading.graded = self._desk.done(lambda: self._kept(grading, lambda *_: grade))
        return replace(grading.told, state="done")

    def _kept(self, grading: Grading, grade: Callable[..., Grade]) -> Graded:
        """At the desk: the attempt in the history."""
        desk = self._desk
        return grade_target(
            grading.target, grading.options, desk.catalog, desk.history, grade, folder=desk.world.folder
        )


def _checked(told: Told, done: int, of_all: int) -> Told:
    """What follows the last check is the search for the mistake."""
    return replace(told, stage="checking" if done < of_all else "diagnosing", checks=done, all_checks=of_all)


def _not_called(*_: object) -> Grade:
    raise AssertionError("a file that cannot be read is not graded")
