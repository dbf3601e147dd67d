"""From a label, or where it has no line of its own from its concept, to the line to show."""

from __future__ import annotations

from grader.judge.blame import Blame


def line_of(blame: Blame, label: str, concept: str) -> int | None:
    """The line to show for a mistake."""
    known = blame.known
    special = known.of(label).line if label else known.unnamed.get(concept)
    found = special(blame) if special else None
    return known.of_concept.get(concept, Blame.last)(blame) if found is None else found


def line_for(blame: Blame, label: str | None, concept: str, raised_at: int | None) -> int | None:
    """The line to show for a failed check: where it raised, unless the mistake stands elsewhere."""
    mistake = blame.known.of(label)
    if mistake.elsewhere and mistake.line is not None:
        return mistake.line(blame) or raised_at
    return raised_at if raised_at is not None else line_of(blame, label or "", concept)
