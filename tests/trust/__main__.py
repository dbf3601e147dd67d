"""`python -m tests.trust`: the attack corpus and two controls against this checkout, as a table.

    python -m tests.trust                                our own sample, and the whole corpus where it lies
    python -m tests.trust --isolation standard --engine  with the warm engine
    python -m tests.trust --user 65534 udp_exfil         as an ordinary user (needs root), one file

Linux. Every file runs in a throw-away folder, in bounded time. The exit code is 0 if all were contained.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.trust.corpus import Case, corpora, load
from tests.trust.run import Ground, Outcome, open_ground, run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description="Run the attack corpus.")
    parser.add_argument("names", nargs="*", help="only these files (default: all)")
    parser.add_argument("--isolation", choices=("strict", "standard"), default="strict")
    parser.add_argument("--user", type=int, help="run the grader as this user (needs root)")
    parser.add_argument("--engine", action="store_true", help="through the user's warm engine")
    parser.add_argument("--corpus", type=Path, action="append", help="a folder with expected.jsonl")
    asked = parser.parse_args(arguments)
    cases = [case for folder in asked.corpus or corpora() for case in load(folder)]
    if asked.names:
        cases = [case for case in cases if case.name in asked.names]
    with open_ground(asked.isolation, user=asked.user, engine=asked.engine) as ground:
        return report(cases, ground)


def report(cases: Sequence[Case], ground: Ground) -> int:
    """Run all, print a line for each as it ends, then the sum."""
    width = max(len(case.name) for case in cases)
    print(f"{'attack':{width}}  {'family':8}  {'verdict':10}  {'ms':>6}  contained")
    bad: list[Outcome] = []
    for case in cases:
        outcome = run(case, ground)
        line = f"{case.name:{width}}  {case.family:8}  {outcome.verdict:10}  {outcome.milliseconds:6.0f}"
        print(f"{line}  {outcome.contained}", flush=True)
        if outcome.faults:
            bad.append(outcome)
    print(f"{len(cases)} files, {len(bad)} not as they should be ({ground.isolation})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
