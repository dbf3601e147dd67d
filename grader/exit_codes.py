"""Every exit code of `kata`, in one place."""

from __future__ import annotations

from enum import IntEnum

from grader.records import Verdict


class ExitCode(IntEnum):
    """What the shell sees. Documented in the README."""

    PASSED = 0
    NOT_PASSED = 1  # checks failed, or the candidate's code crashed, hung or could not be loaded
    USAGE = 2
    GRADER_FAULT = 3
    INTERRUPTED = 130  # Ctrl-C, as shells say it
    BROKEN_PIPE = 141  # whoever read the output left, as shells say it


OF_VERDICT: dict[Verdict, ExitCode] = {
    "passed": ExitCode.PASSED,
    "failed": ExitCode.NOT_PASSED,
    "unrunnable": ExitCode.NOT_PASSED,
    "grader_error": ExitCode.GRADER_FAULT,
}
