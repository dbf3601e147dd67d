"""The checks of a kata called one after the other, without a pytest session: the same outcomes, 25 ms less.

For the thousands of answers that `kata lint`, tests and benchmarks have the oracle play. A candidate's grade
takes `plugin.run_checks`.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from grader.judge.checks import ATTRIBUTE, CheckFailed, CheckInfo, NotReached
from grader.judge.instruments import Bench
from grader.judge.plugin import Outcome


def run_plainly(module: ModuleType, bench: Bench) -> tuple[Outcome, ...]:
    """Every check of the module, once, with the instruments that its arguments name."""
    outcomes: list[Outcome] = []
    for name, check in vars(module).items():
        info: CheckInfo | None = getattr(check, ATTRIBUTE, None)
        if info is None:
            continue
        raised: BaseException | None = None
        try:
            check(**{wanted: getattr(bench, wanted) for wanted in inspect.signature(check).parameters})
        except (CheckFailed, NotReached) as verdict:
            raised = verdict
        outcomes.append(Outcome(name, info, raised))
    return tuple(outcomes)
