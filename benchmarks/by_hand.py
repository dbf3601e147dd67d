"""How many wrong answers have an example on paper, and what looking for it costs.

    python -m benchmarks.by_hand [KATA ...]

Every wrong answer of the corpora is graded with an example and without. Those count whose first
diagnosis is a mistake that shows in values; the rest has an experiment. Times are shares of
`import torch`, beside it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from grader.catalog import Catalog, load_catalog
from grader.engine.private import PrivateEngine, private_engine
from grader.records import Grade, Options
from grader.snapshot import read_submission
from tests.judge.corpus import HERE, SHARED, Answer, answers, answers_in
from tests.judge.stage import content

SEED = 20481
FAMILIES = ((HERE / "tests" / "corpus", "families.jsonl"), (SHARED / "families", "expected.jsonl"))


@dataclass(frozen=True)
class Tried:
    """One wrong answer. `more` are the seconds that the example took on top of the grade."""

    answer: Answer
    grade: Grade
    more: float

    @property
    def shows_in_values(self) -> bool:
        """Whether what is named first is one of the kata's mistakes in values."""
        labels = {form.label for form in content(self.answer.kata).values}
        return any(labels & set(item.mistakes) for item in self.grade.diagnosis[:1])


def wrong(katas: list[str]) -> list[Answer]:
    every = [*answers(), *(one for root, rows in FAMILIES if root.is_dir() for one in answers_in(root, rows))]
    return [one for one in every if not one.passes and (not katas or one.kata in katas)]


def tried(engine: PrivateEngine, catalog: Catalog, answer: Answer) -> Tried:
    submission, kata = read_submission(answer.path), catalog.get(answer.kata)
    seconds = []
    for by_hand in (False, True):
        began = time.perf_counter()
        grade = engine.grade(submission, kata, catalog, Options(seed=SEED, by_hand=by_hand))
        seconds.append(time.perf_counter() - began)
    return Tried(answer, grade, seconds[1] - seconds[0])


def main(katas: list[str]) -> None:
    """The table, one kata a line."""
    catalog = load_catalog()
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    torch = time.perf_counter() - began
    with private_engine(catalog) as engine:
        found = [tried(engine, catalog, answer) for answer in wrong(katas)]
    failed = [one for one in found if one.grade.verdict == "failed"]
    for kata in dict.fromkeys(one.answer.kata for one in failed):
        own = [one for one in failed if one.answer.kata == kata]
        valued = [one for one in own if one.shows_in_values]
        shown = [one for one in valued if one.grade.by_hand is not None]
        rest = [one for one in own if one.grade.by_hand is None]
        others = sum(one.grade.experiment is not None for one in rest)
        share = f"{100 * len(shown) / len(valued):.0f} %" if valued else "-"
        print(
            f"{kata:8} {len(shown):4} of {len(valued):4} with a value label ({share}), "
            f"{others} of {len(rest)} others with an experiment"
        )
    missing = Counter(
        f"{one.answer.kata} {'+'.join(one.grade.diagnosis[0].mistakes)}"
        for one in failed
        if one.shows_in_values and one.grade.by_hand is None
    )
    print("without an example:", ", ".join(f"{name} {count}" for name, count in missing.most_common()))
    more = sorted(max(0.0, one.more) / torch for one in failed)
    middle, most = statistics.median(more), more[int(0.95 * len(more))]
    print(
        f"more than a grade: median {middle:.3f}, 95 of 100 below {most:.3f} x import torch ({torch:.2f} s)"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
