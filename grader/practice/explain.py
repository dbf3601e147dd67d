"""A mistake explained apart from any answer: what it is, why it matters, and how it looks in code."""

from __future__ import annotations

import difflib

from grader.catalog import Catalog, Label, Lines, load_every_label, load_labels_of, load_lines
from grader.errors import UsageError
from grader.records import Record


class Explained(Record):
    """One mistake by its label. `concept` is the title of what it costs, `katas` have that concept."""

    name: str
    label: Label
    lines: Lines | None
    concept: str
    katas: tuple[str, ...]


class Group(Record):
    """The labels of one concept."""

    concept: str
    title: str
    names: tuple[str, ...]


def explain(name: str, catalog: Catalog) -> Explained:
    """The mistake of that label; raises `UsageError` with the nearest labels when there is none."""
    labels = load_every_label(catalog)
    wanted = name.strip().lower().replace("-", "_")
    if wanted not in labels:
        near = difflib.get_close_matches(wanted, labels, n=3, cutoff=0.5)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"There is no mistake '{name}'.{meant}", "All of them: kata explain")
    label = labels[wanted]
    return Explained(
        name=wanted,
        label=label,
        lines=load_lines(catalog).get(wanted),
        concept=_title(label.concept, catalog),
        katas=tuple(
            kata.id
            for kata in catalog.katas
            if label.concept in {concept.id for concept in kata.concepts}
            and wanted in load_labels_of(kata, catalog)
        ),
    )


def all_labels(catalog: Catalog) -> tuple[Group, ...]:
    """Every label by its concept, in the content's order."""
    groups: dict[str, list[str]] = {}
    for name, label in load_every_label(catalog).items():
        groups.setdefault(label.concept, []).append(name)
    return tuple(
        Group(concept=concept, title=_title(concept, catalog), names=tuple(names))
        for concept, names in groups.items()
    )


def _title(concept: str, catalog: Catalog) -> str:
    known = (found for kata in catalog.katas for found in kata.concepts)
    return next((found.title for found in known if found.id == concept), concept)
