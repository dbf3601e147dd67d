"""What the diagnosis costs, in CPU time, beside the same grade without it.

    python -m benchmarks.diagnosis_cost

Mistakes of the catalogue are played by the oracle, so that no worker's time is in the numbers. The goal: at
most 150 ms for one answer, 40 ms in the mean.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from grader.catalog import load_catalog
from grader.judge.candidate import Candidate
from grader.judge.content import KataContent, load_content
from grader.judge.explain import explain
from grader.judge.oracle import Form
from grader.judge.oracle_caller import OracleCaller
from grader.linting.oracle_trials import forms_of, judge_forms

SEED = 20481
GOAL_EACH, GOAL_MEAN = 0.150, 0.040  # seconds
TIMES = 3  # the least counts: what else the machine does only adds, to processor time too


def spent(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def costs(content: KataContent, some: Sequence[tuple[Form, ...]]) -> Iterator[tuple[float, float]]:
    """For each answer the CPU seconds of its whole grade, and of the search for its mistake alone."""
    for forms in some:
        candidate = Candidate(content, OracleCaller(content, forms), SEED, b"", "answer.py")
        assert candidate.observations  # made before the clock starts: the checks need them anyway
        search = min(spent(partial(explain, candidate)) for _ in range(TIMES))
        yield spent(partial(judge_forms, content, forms, SEED)), search


def line(name: str, pairs: Sequence[tuple[float, float]]) -> str:
    """One row: the goal is in the last two columns."""
    whole = [grade for grade, _ in pairs]
    search = [cost for _, cost in pairs]
    without = statistics.mean(whole) - statistics.mean(search)
    ratio = statistics.mean(whole) / without
    return (
        f"{name:<14} {len(pairs):>3} answers   grade {1e3 * statistics.mean(whole):6.1f} ms"
        f"   without the search {1e3 * without:6.1f} ms   ratio {ratio:5.2f}"
        f"   search {1e3 * statistics.mean(search):6.1f} ms, most {1e3 * max(search):6.1f} ms"
    )


def main(step: int = 4) -> int:
    """Every `step`-th form alone, pairs of them, and answers that nothing explains."""
    torch.set_num_threads(1)
    catalog = load_catalog()
    late = False
    for kata in catalog.katas:
        content = load_content(kata, catalog)
        judge_forms(content, (), SEED)
        gc.collect()
        gc.freeze()
        forms = [form for form in forms_of(content) if not form.neutral][::step]
        odd = Form("odd", {"mix": lambda c: c.but(mixed=(c.weights**2) @ c.value.sin())})
        pairs = [
            (one, other)
            for one, other in zip(forms, forms[len(forms) // 2 :], strict=False)
            if not one.steps.keys() & other.steps.keys()
        ]
        for name, some in (
            ("alone", [(form,) for form in forms]),
            ("pairs", pairs),
            ("unexplained", [(odd,)]),
        ):
            measured = list(costs(content, some))
            print(line(f"{kata.id} {name}", measured))
            if name == "alone":
                late = late or statistics.mean(cost for _, cost in measured) > GOAL_MEAN
            late = late or max(cost for _, cost in measured) > GOAL_EACH
    print(f"goal: {1e3 * GOAL_MEAN:.0f} ms in the mean of single mistakes, {1e3 * GOAL_EACH:.0f} ms at most")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
