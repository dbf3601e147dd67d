"""How well each kata and each concept of it is remembered, by FSRS.

The schedule is not stored: the sittings are replayed each time. So a history that came from another machine,
or a rule that changed, gives the same schedule as if it had been there from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from grader.memory.sittings import Rating, Sitting
from grader.records import Record


class Memory(Record):
    """One card: `v3`, or `v3/mask`. `recall` is the predicted chance to get it right now."""

    card: str
    reviews: int
    lapses: int  # how often it was lost
    last: datetime
    last_rating: Rating
    due: datetime
    recall: float
    stability: float  # days until the chance falls to nine in ten

    @property
    def kata(self) -> str:
        return self.card.partition("/")[0]

    @property
    def concept(self) -> str:
        """The concept's id; empty for the kata itself."""
        return self.card.partition("/")[2]


def memories(sittings: Iterable[Sitting], now: datetime) -> dict[str, Memory]:
    """The state of every card at `now`, by the card's name."""
    # Loaded for those who ask: it costs more than all of `kata list`.
    from fsrs import Card, Scheduler
    from fsrs import Rating as Fsrs

    # Whole days only: nobody writes the same attention again after ten minutes to learn it.
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    numbers = {"again": Fsrs.Again, "hard": Fsrs.Hard, "good": Fsrs.Good, "easy": Fsrs.Easy}
    cards: dict[str, Card] = {}
    reviews: dict[str, list[tuple[datetime, Rating]]] = {}
    for sitting in sittings:
        at = sitting.at.astimezone(UTC)
        for name, rating in sitting.ratings:
            card = cards.get(name) or Card(card_id=len(cards), due=at)
            cards[name], _ = scheduler.review_card(card, numbers[rating], at)
            reviews.setdefault(name, []).append((at, rating))
    return {
        name: Memory(
            card=name,
            reviews=len(reviews[name]),
            lapses=sum(rating == "again" for _, rating in reviews[name]),
            last=reviews[name][-1][0],
            last_rating=reviews[name][-1][1],
            due=card.due,
            recall=scheduler.get_card_retrievability(card, now.astimezone(UTC)),
            stability=card.stability or 0.0,
        )
        for name, card in cards.items()
    }
