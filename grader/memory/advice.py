"""What to practise now, and why: own mistakes first, then what is about to be forgotten, then what is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from grader.catalog import Catalog, Kata
from grader.history import History
from grader.interview.store import InterviewStore
from grader.memory.hunts import Hunted, hunted
from grader.memory.schedule import Memory, memories
from grader.memory.sittings import Sitting, sittings
from grader.records import Record

Reason = Literal["mistake", "due", "new", "ahead"]


class Advice(Record):
    """One kata to practise. `concepts` are those that it is for, the most urgent first."""

    kata: str
    title: str
    reason: Reason
    why: str
    command: str
    concepts: tuple[str, ...] = ()
    recall: float | None = None  # the predicted chance of the weakest of them
    due: datetime | None = None


def what_next(
    catalog: Catalog, history: History, interviews: InterviewStore, now: datetime
) -> tuple[Advice, ...]:
    """What to practise now, from all that is remembered."""
    found = sittings(catalog, history, interviews)
    return advise(catalog, found, memories(found, now), now, hunted(catalog, history))


def advise(
    catalog: Catalog,
    sittings: Sequence[Sitting],
    memories: dict[str, Memory],
    now: datetime,
    hunts: Sequence[Hunted] = (),
) -> tuple[Advice, ...]:
    """All that makes sense now, the most useful first; `ahead` only when nothing else is left."""
    found = [
        *_mistakes(catalog, sittings, memories, now),
        *_missed(catalog, hunts),
        *_due(catalog, memories, now),
        *_new(catalog, sittings),
    ]
    once = {advice.kata: advice for advice in reversed(found)}
    ordered = tuple(advice for advice in found if once[advice.kata] is advice)
    return ordered or tuple(_ahead(catalog, memories, now))


def _mistakes(
    catalog: Catalog, sittings: Sequence[Sitting], memories: dict[str, Memory], now: datetime
) -> Iterator[Advice]:
    """Concepts that were lost last time: at once where they are still open, else when they are due."""
    latest = {sitting.kata: sitting for sitting in sittings}
    for sitting in sorted(latest.values(), key=lambda sitting: sitting.at, reverse=True):
        kata = catalog.get(sitting.kata)
        lost = [
            memory
            for memory in memories.values()
            if memory.kata == kata.id and memory.concept and memory.last_rating == "again"
        ]
        if not lost:
            continue
        lost.sort(key=lambda memory: (-memory.lapses, memory.recall))
        concepts = tuple(memory.concept for memory in lost)
        if not sitting.passed:
            yield Advice(
                kata=kata.id,
                title=kata.title,
                reason="mistake",
                why=f"You lost {_names(concepts)} last time, and have not mended it yet.",
                command=f"kata grade {kata.id}",
                concepts=concepts,
                recall=lost[0].recall,
                due=lost[0].due,
            )
        elif lost[0].due <= now:
            days = (now - lost[0].last).days
            yield Advice(
                kata=kata.id,
                title=kata.title,
                reason="mistake",
                why=f"You lost {_names(concepts)} {_ago(days)}, and mended it. Does it come from memory now?",
                command=_again(kata),
                concepts=concepts,
                recall=lost[0].recall,
                due=lost[0].due,
            )


def _missed(catalog: Catalog, hunts: Sequence[Hunted]) -> Iterator[Advice]:
    """Katas whose last bug hunt left a bug in its file, the last one first."""
    latest = {hunt.kata: hunt for hunt in reversed(hunts)}
    for hunt in sorted(latest.values(), key=lambda hunt: hunt.at, reverse=True):
        if hunt.mended < hunt.planted:
            about = f", about {_names(hunt.concepts)}" if hunt.concepts else ""
            left = hunt.planted - hunt.mended
            yield Advice(
                kata=hunt.kata,
                title=catalog.get(hunt.kata).title,
                reason="mistake",
                why=f"Your last bug hunt left {left} of {hunt.planted} bugs{about}.",
                command=f"kata debug {hunt.kata}",
                concepts=hunt.concepts,
            )


def _due(catalog: Catalog, memories: dict[str, Memory], now: datetime) -> Iterator[Advice]:
    """Katas with something that FSRS expects to be forgotten, the least certain first."""
    found = []
    for kata in catalog.katas:
        due = [memory for memory in memories.values() if memory.kata == kata.id and memory.due <= now]
        if due:
            due.sort(key=lambda memory: memory.recall)
            found.append((kata, due))
    for kata, due in sorted(found, key=lambda entry: entry[1][0].recall):
        concepts = tuple(memory.concept for memory in due if memory.concept)
        weakest = due[0]
        what = _names(concepts[:2]) if concepts else kata.id
        days = (now - weakest.last).days
        chance = f"The chance that you still have {what}: {_percent(weakest.recall)}."
        yield Advice(
            kata=kata.id,
            title=kata.title,
            reason="due",
            why=f"Last practised {_ago(days)}. {chance}",
            command=_again(kata),
            concepts=concepts,
            recall=weakest.recall,
            due=weakest.due,
        )


def _new(catalog: Catalog, sittings: Sequence[Sitting]) -> Iterator[Advice]:
    """The next kata whose prerequisites were passed once, from the track that was practised last onward."""
    tried = {sitting.kata for sitting in sittings}
    passed = {sitting.kata for sitting in sittings if sitting.passed}
    for kata in catalog.onward(catalog.get(sittings[-1].kata).track if sittings else None):
        if kata.id not in tried and set(kata.prerequisites) <= passed:
            after = f" after {', '.join(kata.prerequisites)}" if kata.prerequisites else ""
            yield Advice(
                kata=kata.id,
                title=kata.title,
                reason="new",
                why=f"It comes next{after}: {kata.title}, {kata.minutes} minutes.",
                command=f"kata start {kata.id}",
            )
            return


def _ahead(catalog: Catalog, memories: dict[str, Memory], now: datetime) -> Iterator[Advice]:
    """Nothing is due: what will be first, and an interview for those who want more."""
    if not memories:
        yield from _new(catalog, ())
        return
    first = min(memories.values(), key=lambda memory: memory.due)
    kata = catalog.get(first.kata)
    days = max(0, (first.due - now).days)
    when = "later today" if days == 0 else f"in {days} day{'' if days == 1 else 's'}"
    yield Advice(
        kata=kata.id,
        title=kata.title,
        reason="ahead",
        why=f"Nothing is due. {kata.id} comes back {when}; until then, the real thing against the clock.",
        command="kata interview --random",
        recall=first.recall,
        due=first.due,
    )


def _again(kata: Kata) -> str:
    return f"kata reset {kata.id} --blank"


def _names(concepts: Sequence[str]) -> str:
    words = [concept.replace("_", " ") for concept in concepts]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ago(days: int) -> str:
    return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"
