"""What a trial may give: the right label, or a declared synonym; the points of its own concept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from grader.catalog import Catalog, own_or_ours
from grader.errors import GraderFault
from grader.linting.records import Trial
from grader.records import Record

UNREACHED = "interface"  # what an answer costs that never runs


class Synonyms(Record):
    """Labels that the same numbers explain: any of them is a right name."""

    labels: tuple[str, ...]
    reason: str


class AlsoCosts(Record):
    """Mistakes that by their nature cost the points of other concepts as well."""

    labels: tuple[str, ...]
    concepts: tuple[str, ...]
    reason: str


class Exceptions(Record):
    """The declared exceptions of a set of katas."""

    synonyms: tuple[Synonyms, ...] = ()
    also_costs: tuple[AlsoCosts, ...] = ()

    def names(self, label: str) -> frozenset[str]:
        """The label and those that say the same."""
        groups = [entry.labels for entry in self.synonyms if label in entry.labels]
        return frozenset({label}.union(*groups))

    def other_costs(self, label: str) -> frozenset[str]:
        """Concepts that the mistake may cost besides its own."""
        return frozenset(
            concept for entry in self.also_costs if label in entry.labels for concept in entry.concepts
        )


def load_exceptions(catalog: Catalog, pack: str = "") -> Exceptions:
    """`katas/common/exceptions.toml` of the content, else ours; with those of a pack."""
    found = _read(own_or_ours(catalog.root, "common/exceptions.toml"))
    for path in (one.root / "katas/common/exceptions.toml" for one in catalog.packs if one.name == pack):
        if path.is_file():
            own = _read(path)
            found = Exceptions(
                synonyms=(*found.synonyms, *own.synonyms), also_costs=(*found.also_costs, *own.also_costs)
            )
    return found


def _read(path: Path) -> Exceptions:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Exceptions)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file.") from error


def is_named(trial: Trial, exceptions: Exceptions) -> bool:
    """Whether the first diagnosis names the mistake, as itself or by a declared synonym."""
    assert trial.label is not None
    return bool(trial.named) and bool(exceptions.names(trial.label) & set(trial.named[0]))


def strangers(trial: Trial, exceptions: Exceptions) -> tuple[str, ...]:
    """Labels of other mistakes that were named as well, though they were not made."""
    assert trial.label is not None
    known = exceptions.names(trial.label) | set(trial.entails)
    return tuple(label for labels in trial.named for label in labels if label not in known)


def wrongly_blamed(trial: Trial, exceptions: Exceptions, concepts: Iterable[str]) -> tuple[str, ...]:
    """Concepts that failed for a mistake that is not theirs. `concepts`: its own, under all of its names."""
    assert trial.label is not None
    allowed = {*concepts, *exceptions.other_costs(trial.label)}
    if set(trial.failed) == {UNREACHED} and trial.not_reached:
        return ()  # it never ran, so nothing else could be asked
    return tuple(concept for concept in trial.failed if concept not in allowed)
