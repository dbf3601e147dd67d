"""The errors that people see. Each says what happened and what to do next; none needs a traceback.

The candidate's own mistakes are not errors of this program: they are records in a `Grade`.
"""

from __future__ import annotations


class KataError(Exception):
    """Base of everything the command line turns into a message.

    `message` says what happened and where; `fix` what to do next.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(KataError):
    """The caller asked for something that is not there: wrong id, wrong path, several katas in one file."""


class GraderFault(KataError):
    """The grader's own fault, or a broken installation: never the candidate's."""


class ConfinementUnavailable(GraderFault):
    """`strict` was asked for and this machine cannot do it. Nothing of the candidate's has run."""

    def __init__(self, missing: tuple[str, ...]) -> None:
        super().__init__(
            f"strict isolation needs {' and '.join(missing)}, which this machine does not offer here",
            "`kata doctor` shows what there is; for files that you trust, use `--isolation standard`",
        )
        self.missing = missing
