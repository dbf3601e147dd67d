"""What the report says about wrong answers, to be read beside them; and how many labels are right.

    python -m benchmarks.reading --seed 12 --count 100     # a hundred reports, drawn by the seed
    python -m benchmarks.reading --labels                  # every answer: verdicts and labels

The corpora are `tests/corpus` and, where they lie beside the checkout, the shared ones.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence

from grader.catalog import load_catalog
from grader.engine.private import private_engine
from grader.linting.expected import Exceptions, load_exceptions
from grader.records import Grade
from tests.judge.corpus import Answer, Judgement, answers, judge

GRADE_SEED = 20481
GOAL_LABELS = 0.98


def drawn(of: Sequence[Answer], seed: int, count: int) -> list[Answer]:
    """So many wrong answers, in the order of the corpora."""
    wrong = [answer for answer in of if not answer.passes]
    places = random.Random(seed).sample(range(len(wrong)), min(count, len(wrong)))
    return [wrong[place] for place in sorted(places)]


def report(number: int, one: Judgement) -> str:
    """What is said about one answer, with the lines that it is said of."""
    grade = one.grade
    wanted = "+".join(sorted(one.answer.labels)) or "none"
    return "\n".join(
        [
            f"=== {number}. {one.answer.name}   (record: {wanted})",
            f"{grade.verdict}, {grade.points} of {grade.max_points} points; lost: {_lost(grade)}",
            f"HEADLINE {grade.reason}",
            *_said(grade),
        ]
    )


def _lost(grade: Grade) -> str:
    lost = [concept.id for concept in grade.concepts if concept.status == "failed"]
    return ", ".join(lost) or "nothing"


def _said(grade: Grade) -> Iterator[str]:
    lines = grade.source.text.splitlines() if grade.source is not None else []

    def at(line: int | None) -> str:
        return f"line {line}: {lines[line - 1].strip()}" if line and line <= len(lines) else "no line"

    for found in grade.diagnosis:
        others = "".join(f" | or {'+'.join(names)}" for names in found.alternatives)
        yield f"  {'+'.join(found.mistakes)} [{found.certainty}{others}] {found.sentence}"
        yield f"      {at(found.line)}"
        yield f"      fix: {found.fix}"
    for check in grade.checks:
        if check.status == "failed":
            yield f"  check {check.id} ({check.concept}): {check.message}  [{at(check.line)}]"
            yield f"      expected {check.expected}; actual {check.actual}"
    for note in grade.notes:
        yield f"  note {note.id}: {note.text}"
    if grade.maps:
        yield f"  pictures: {', '.join(picture.title for picture in grade.maps)}"


def names_it(one: Judgement, exceptions: Exceptions) -> bool:
    """Whether every label of the record was named, as itself or by a declared synonym."""
    return all(exceptions.names(label) & one.named for label in one.answer.labels)


def labels(judged: Sequence[Judgement], exceptions: Exceptions) -> bool:
    """Print the verdicts and labels that are not as recorded; whether the goal is reached."""
    misjudged = [one for one in judged if not one.verdict_is_right]
    recorded = [one for one in judged if one.answer.labels]
    missed = [one for one in recorded if not names_it(one, exceptions)]
    for title, some in (("verdict", misjudged), ("label", missed)):
        for one in some:
            print(f"{title}: {one}")
    share = 1 - len(missed) / len(recorded)
    print(f"{len(judged)} answers, {len(misjudged)} misjudged")
    print(f"{share:.1%} of {len(recorded)} recorded labels named; goal {GOAL_LABELS:.0%}")
    return not misjudged and share >= GOAL_LABELS


def main() -> int:
    """0 unless the labels miss their goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=12, help="draws the answers")
    parser.add_argument("--count", type=int, default=100, help="how many reports")
    parser.add_argument("--labels", action="store_true", help="grade everything; count labels and verdicts")
    options = parser.parse_args()
    catalog = load_catalog()
    chosen = answers() if options.labels else drawn(answers(), options.seed, options.count)
    with private_engine(catalog) as engine:
        judged = judge(engine, catalog, chosen, [GRADE_SEED])
    if options.labels:
        return int(not labels(judged, load_exceptions(catalog)))
    for number, one in enumerate(judged, 1):
        print(report(number, one), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
