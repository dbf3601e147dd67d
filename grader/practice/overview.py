"""Where the candidate stands: every kata with what was reached in it, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from grader import workspace
from grader.catalog import Catalog, Kata
from grader.debugging.content import has_rooms
from grader.history import Attempt, Best, History, Start
from grader.records import Record

Progress = Literal["new", "started", "tried", "passed"]


class Standing(Record):
    """One kata and how far the candidate has got with it."""

    kata: Kata
    progress: Progress
    best: Best | None = None
    solution_seen: bool = False


class Suggestion(Record):
    """A command that makes sense now, and what it is good for."""

    command: str
    why: str


class Overview(Record):
    """All katas, the last attempt, the work in this folder, and what to do next."""

    standings: tuple[Standing, ...]
    last: Attempt | None
    here: Start | None
    suggestions: tuple[Suggestion, ...]

    @property
    def passed(self) -> int:
        return sum(standing.progress == "passed" for standing in self.standings)


def standings(
    catalog: Catalog,
    history: History,
    *,
    tracks: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
    progress: tuple[Progress, ...] = (),
) -> tuple[Standing, ...]:
    """The katas in order; only those of the tracks, levels and progress given, where any is given."""
    best = history.best()
    started = {start.kata for start in history.starts()}
    seen = history.solutions_seen()
    found = (
        Standing(
            kata=kata,
            progress=_progress(best.get(kata.id), kata.id in started),
            best=best.get(kata.id),
            solution_seen=kata.id in seen,
        )
        for kata in catalog.katas
    )
    return tuple(
        standing
        for standing in found
        if (not tracks or standing.kata.track in tracks)
        and (not levels or standing.kata.level in levels)
        and (not progress or standing.progress in progress)
    )


def overview(catalog: Catalog, history: History, folder: Path) -> Overview:
    """Everything that `kata` without arguments shows to someone who stands in `folder`."""
    every = standings(catalog, history)
    here = workspace.find(folder, history)
    last = next(iter(history.attempts(limit=1)), None)
    ahead = next_kata(catalog, history)
    return Overview(
        standings=every, last=last, here=here, suggestions=tuple(_suggestions(every, here, last, ahead))
    )


def next_kata(catalog: Catalog, history: History, after: Kata | None = None) -> Kata | None:
    """The first kata that is not passed yet, looked for behind `after` first, else in the track that was
    practised last; `None` when all are passed.
    """
    best = history.best()
    katas = list(catalog.onward(_last_track(catalog, history) if after is None else after.track))
    if after is not None:
        place = katas.index(after) + 1
        katas = katas[place:] + katas[:place]
    return next((kata for kata in katas if not (kata.id in best and best[kata.id].passed)), None)


def _last_track(catalog: Catalog, history: History) -> str | None:
    """The track of the last attempt at a kata that is still there."""
    tracks = {kata.id: kata.track for kata in catalog.katas}
    return next((tracks[attempt.kata] for attempt in history.attempts() if attempt.kata in tracks), None)


def _suggestions(
    every: tuple[Standing, ...], here: Start | None, last: Attempt | None, ahead: Kata | None
) -> Iterator[Suggestion]:
    open_ids = {standing.kata.id for standing in every if standing.progress != "passed"}
    if all(standing.progress == "new" for standing in every):
        yield Suggestion(command="kata demo", why="a tour of two minutes, without touching your files")
    if here is not None and here.kata in open_ids:
        yield Suggestion(command="kata grade", why=f"grade {here.path.name}")
        yield Suggestion(command=f"kata hint {here.kata}", why="if you are stuck")
    if last is not None and last.verdict != "passed" and last.kata in open_ids:
        yield Suggestion(command="kata report --open", why=f"what the last answer to {last.kata} missed")
    if ahead is not None and (here is None or here.kata != ahead.id):
        yield Suggestion(command=f"kata start {ahead.id}", why=f"{ahead.title}, {ahead.minutes} minutes")
    known = {standing.kata.id: standing.kata for standing in every}
    if last is not None and last.verdict == "passed" and last.kata in known and has_rooms(known[last.kata]):
        yield Suggestion(
            command=f"kata debug {last.kata}", why="the same with bugs planted in it, to be found"
        )
    if ahead is None:
        hardest = every[-1].kata
        yield Suggestion(
            command=f"kata reset {hardest.id} --blank", why="all passed: once more from a blank page"
        )


def _progress(best: Best | None, started: bool) -> Progress:
    if best is not None:
        return "passed" if best.passed else "tried"
    return "started" if started else "new"
