"""Every promise about speed, measured: a table on the screen, JSON in a file.

    python benchmarks/speed.py                         all, in about a quarter of an hour on two processors
    python benchmarks/speed.py commands saves          only these
    python benchmarks/speed.py --sizes 100,1000,5000   the cohort grows further

Each figure is a ratio to something that is measured beside it, in turns, in the same run. Linux only. A quiet
machine gives steadier figures; a busy one slows both sides of a ratio.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cohorts import leaks, rates
from commands import cold_and_warm, helps, katas, saves
from figures import Figure, table, write_json


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9, help="pairs of runs; their median counts")
    parser.add_argument("--sizes", default="100,1000", help="of the cohorts")
    parser.add_argument("--json", type=Path, default=Path("benchmark.json"))
    parser.add_argument("names", nargs="*", help="commands, katas, help, saves, cohorts, leaks")
    wanted = parser.parse_args()
    sizes = [int(size) for size in wanted.sizes.split(",")]
    groups: dict[str, Callable[[], list[Figure]]] = {
        "commands": lambda: cold_and_warm(wanted.rounds),
        "katas": lambda: katas(wanted.rounds),
        "help": lambda: helps(2 * wanted.rounds),
        "saves": lambda: saves(2 * wanted.rounds),
        "leaks": leaks,
        "cohorts": lambda: rates(sizes),
    }
    unknown = set(wanted.names) - set(groups)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(groups)}")
    figures: list[Figure] = []
    began = time.time()
    for name, measure in groups.items():
        if not wanted.names or name in wanted.names:
            found = measure()
            print(table(found), flush=True)
            figures += found
    write_json(wanted.json, figures, {"seconds": round(time.time() - began), "rounds": wanted.rounds})
    print(f"\nWritten to {wanted.json}")
    return 0 if all(figure.reached for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
