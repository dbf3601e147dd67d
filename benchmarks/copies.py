"""How many copies of honest answers are found, by what was done to them, and how many false alarms there are.

    python -m benchmarks.copies

The honest answers are those of the corpora that are there. Each copy is laid among all answers to its kata.
"""

from __future__ import annotations

from collections import Counter

from grader.catalog import load_catalog
from grader.cohort.similarity import Print, look, print_of
from tests.cohort.copies import COPIES, CORPORA, FAMILIES, honest


def main() -> None:
    given = [print_of(kata.text("stub.py")) for kata in load_catalog().katas]
    answers = honest(*CORPORA, FAMILIES)
    prints = {kata: [print_of(text) for text in texts] for kata, texts in answers.items()}
    count = sum(map(len, answers.values()))
    groups, pairs = alarms(prints, given)
    print(
        f"{count} honest answers to {len(answers)} katas: {groups} in groups, {pairs} pairs nearly the same"
    )
    for name, make in COPIES.items():
        found, made = Counter[str](), Counter[str]()
        for kata, texts in answers.items():
            for place, text in enumerate(texts):
                copy = make(text)
                if name != "unchanged" and copy == text:
                    continue  # there was nothing to change
                made[kata] += 1
                found[kata] += is_found([*prints[kata], print_of(copy)], place, given)
        missed = {kata: made[kata] - found[kata] for kata in made if made[kata] > found[kata]}
        share = 100 * found.total() / made.total()
        print(f"{name:20} {found.total():4} of {made.total():4}  {share:5.1f} %  missed: {missed or 'none'}")


def is_found(prints: list[Print], place: int, given: list[Print]) -> bool:
    """Whether the last is in a group with that one, or nearly the same."""
    last = len(prints) - 1
    if prints[last].form == prints[place].form:
        return True
    found = look(["kata"] * len(prints), [str(one) for one in range(len(prints))], prints, given)
    return any({pair.first, pair.second} == {place, last} for pair in found.pairs)


def alarms(prints: dict[str, list[Print]], given: list[Print]) -> tuple[int, int]:
    """Honest answers that are in groups, and pairs of them that are called nearly the same."""
    groups = pairs = 0
    for own in prints.values():
        found = look(["kata"] * len(own), [str(one) for one in range(len(own))], own, given)
        groups += sum(len(group.members) for group in found.groups)
        pairs += len(found.pairs)
    return groups, pairs


if __name__ == "__main__":
    main()
