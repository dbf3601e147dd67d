"""The loop of `kata watch`: saves and keys in, rounds out. A save during a grade starts it over."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, Protocol

from grader.catalog import Catalog, Kata
from grader.engine.running import Cancelled
from grader.errors import KataError, UsageError
from grader.history import History
from grader.practice.attempts import Graded, grade_target, options_for
from grader.practice.targets import Target
from grader.records import Grade, Options, Record, Submission, Told
from grader.snapshot import NotAnAnswer, UnreadableSubmission, read_submission
from grader.stored import Origin
from grader.watch.saves import Stamp, saves, stamp

ORIGIN: Origin = "watch"
SAVE_SECONDS = 0.05  # an editor's two steps of a save lie closer together
Key = str  # one character that was typed


class Underway(Protocol):
    """`grader.engine.running.Running`, or a stand-in for it."""

    def result(self) -> Grade: ...

    def cancel(self) -> None: ...


class Begin(Protocol):
    """`grader.grading.begin`, or a stand-in for it."""

    def __call__(
        self,
        submission: Submission,
        kata: Kata,
        catalog: Catalog,
        options: Options,
        told: Told | None = None,
    ) -> Underway: ...


class Change(Record):
    """A concept whose outcome is another than in the round before."""

    concept: str
    title: str
    gained: bool


class Round(Record):
    """One verdict, and what changed since the one before it."""

    graded: Graded
    changes: tuple[Change, ...] = ()


class Started(Record):
    """A save was seen; its grade is under way. `again`: the one before it was not waited for."""

    again: bool


class Typed(Record):
    """A key was pressed."""

    key: Key


class Absent(Record):
    """There is nothing to grade at the path at the moment."""

    problem: KataError


Event = Round | Started | Typed | Absent
_Message = tuple[Literal["saved"], None] | tuple[Literal["key"], Key] | tuple[Literal["graded"], "_Outcome"]


class _Outcome:
    """What became of the grading with that number."""

    def __init__(self, number: int, grade: Grade | KataError) -> None:
        self.number = number
        self.grade = grade


class Watch:
    """Watches one file. `events` runs until its caller stops asking; then everything it started is ended."""

    def __init__(
        self,
        target: Target,
        options: Options,
        catalog: Catalog,
        history: History,
        begin: Begin,
        folder: Path,
        *,
        timed: bool = False,
    ) -> None:
        self._target = target
        self._options = options_for(target.path, options, history)
        self._timed = timed
        self._catalog = catalog
        self._history = history
        self._begin = begin
        self._folder = folder
        self._messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._underway: Underway | None = None
        self._number = 0
        self._last: Grade | None = None
        self._seen: str | None = None  # the content that is graded, or was

    @property
    def kata(self) -> Kata:
        """What the file answers."""
        return self._target.kata

    @property
    def options(self) -> Options:
        """How it is graded."""
        return self._options

    @property
    def path(self) -> Path:
        """The file."""
        return self._target.path

    def press(self, key: Key) -> None:
        """From another thread: somebody pressed a key."""
        self._messages.put(("key", key))

    def events(self) -> Iterator[Event]:
        """What happens, as it happens; the file as it is now comes first."""
        since = stamp(self._target.path)
        watcher = threading.Thread(target=self._watch, args=(since,), name="saves", daemon=True)
        watcher.start()
        self._messages.put(("saved", None))
        try:
            while True:
                kind, value = self._messages.get()
                if kind == "key":
                    yield Typed(key=str(value))
                elif kind == "saved":
                    yield from self._saved()
                elif isinstance(value, _Outcome) and value.number == self._number:
                    yield self._round(value.grade)
        finally:
            self._stop.set()
            self._cancel()
            watcher.join()

    def again(self) -> None:
        """Grade once more, with new random numbers, though the file is the same."""
        self._seen = None
        self._messages.put(("saved", None))

    def _watch(self, since: Stamp) -> None:
        for _ in saves(self._target.path, self._stop, since):
            self._messages.put(("saved", None))

    def _saved(self) -> Iterator[Event]:
        try:
            submission = self._read()
        except (UsageError, NotAnAnswer) as problem:  # between two steps of an editor, emptied or deleted
            self._cancel()
            self._seen = None
            yield Absent(problem=problem)
            return
        except UnreadableSubmission as problem:
            self._cancel()
            self._seen = None
            self._target = Target(path=self._target.path, kata=self._target.kata, submission=problem)
            yield self._kept(_not_called)
            return
        if submission.sha256 == self._seen:
            return
        again = self._cancel()
        self._seen = submission.sha256
        self._target = Target(path=self._target.path, kata=self._target.kata, submission=submission)
        self._start(submission)
        yield Started(again=again)

    def _read(self) -> Submission:
        """The file as it is. One that cannot be read is looked at again: many editors empty it first."""
        try:
            return read_submission(self._target.path)
        except UnreadableSubmission:
            self._stop.wait(SAVE_SECONDS)
            return read_submission(self._target.path)

    def _start(self, submission: Submission) -> None:
        self._number += 1
        underway = self._begin(submission, self._target.kata, self._catalog, self._options)
        self._underway = underway
        waiter = threading.Thread(target=self._wait, args=(underway, self._number), daemon=True)
        waiter.start()

    def _wait(self, underway: Underway, number: int) -> None:
        try:
            outcome = _Outcome(number, underway.result())
        except KataError as problem:
            outcome = _Outcome(number, problem)
        except Cancelled:
            return
        self._messages.put(("graded", outcome))

    def _cancel(self) -> bool:
        """Whether there was a grade to be ended."""
        underway, self._underway = self._underway, None
        self._number += 1  # what it may still say is not listened to
        if underway is not None:
            underway.cancel()
        return underway is not None

    def _round(self, grade: Grade | KataError) -> Round:
        self._underway = None
        if isinstance(grade, KataError):
            raise grade
        self._messages.put(("saved", None))  # look once more: a notice may have come to nobody, at the start
        return self._kept(lambda *_: grade)

    def _kept(self, grade: Callable[..., Grade]) -> Round:
        graded = grade_target(
            self._target,
            self._options,
            self._catalog,
            self._history,
            grade,
            folder=self._folder,
            origin=ORIGIN,
            timed=self._timed,
        )
        before, self._last = self._last, graded.grade
        return Round(graded=graded, changes=changes(before, graded.grade))


def changes(before: Grade | None, after: Grade) -> tuple[Change, ...]:
    """The concepts that are right now and were not, or the other way round."""
    if before is None:
        return ()
    were = {concept.id: concept.status == "passed" for concept in before.concepts}
    return tuple(
        Change(concept=concept.id, title=concept.title, gained=concept.status == "passed")
        for concept in after.concepts
        if concept.id in were and (concept.status == "passed") != were[concept.id]
    )


def _not_called(*_: object) -> Grade:
    raise AssertionError("a file that cannot be read is not graded")
