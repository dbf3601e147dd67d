"""What Gradescope writes beside the submissions of an export: who handed in which folder, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.errors import UsageError
from grader.records import Record


class Submitter(Record):
    """One of those who handed in a folder; a group has several."""

    name: str
    id: str = ""
    email: str = ""
    submitted: str = ""


def submitters(metadata: bytes) -> dict[str, tuple[Submitter, ...]]:
    """By the name of the folder; raises `UsageError` when that is no metadata of an export.

    The file holds the outputs of earlier autograders too, any text in any of YAML's forms: a parser reads it.
    """
    import yaml

    try:
        # Everything stays text: no tag makes an object, no number loses its zeros.
        document: Any = yaml.load(metadata, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(
            f"Gradescope's submission_metadata.yml cannot be read: {str(error)[:200]}", "Export it again."
        ) from error
    if not isinstance(document, Mapping):
        raise UsageError("Gradescope's submission_metadata.yml names no submissions.", "Export it again.")
    return {str(unit): _people(unit, told) for unit, told in document.items() if isinstance(told, Mapping)}


def _people(unit: str, told: Mapping[str, Any]) -> tuple[Submitter, ...]:
    submitted = str(told.get(":created_at", ""))
    people = told.get(":submitters")
    return tuple(
        Submitter(
            name=str(person.get(":name") or person.get(":email") or unit),
            id=str(person.get(":sid") or ""),
            email=str(person.get(":email") or ""),
            submitted=submitted,
        )
        for person in (people if isinstance(people, list) else [])
        if isinstance(person, Mapping)
    )
