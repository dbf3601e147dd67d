"""Every grade of some corpora as one canonical line each, so that `diff` says whether a change changed any.

    python -m benchmarks.grades FOLDER... [--part N] > before.jsonl

FOLDER holds one folder a kata, each with its answers. `--part 10` grades a tenth of them, the same each
time. What a clock or a machine gives (seconds, versions, isolation) is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from grader.catalog import Catalog, Kata, load_catalog
from grader.engine.private import Engine, private_engine
from grader.records import Grade, Options, Submission

SEED = 20481
THREADS = 4
CLOCKED = ("seconds", "environment", "source", "printed", "version")


def answers(folders: list[Path], catalog: Catalog, part: int) -> Iterator[tuple[Kata, Path]]:
    """The answers to known katas, in order; of so many parts one."""
    for folder in folders:
        for kata in catalog.katas:
            for path in sorted((folder / kata.id).glob("*")):
                name = f"{kata.id}/{path.name}"
                if path.suffix in (".py", ".ipynb") and zlib.crc32(name.encode()) % part == 0:
                    yield kata, path


def canonical(grade: Grade, name: str) -> bytes:
    """One line: what a reader of the grade sees, in a fixed order."""
    document = {key: value for key, value in msgspec.to_builtins(grade).items() if key not in CLOCKED}
    return msgspec.json.encode({"file": name, **document}, order="sorted")


def graded(engine: Engine, catalog: Catalog, kata: Kata, path: Path) -> bytes:
    source = path.read_bytes()
    submission = Submission(name=path.name, source=source, sha256=hashlib.sha256(source).hexdigest())
    grade = engine.grade(submission, kata, catalog, Options(seed=SEED))
    return canonical(grade, f"{path.parent.parent.name}/{kata.id}/{path.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--part", type=int, default=1)
    asked = parser.parse_args()
    catalog = load_catalog()
    wanted = list(answers(asked.folders, catalog, asked.part))
    with private_engine(catalog) as engine, ThreadPoolExecutor(THREADS) as threads:
        for line in threads.map(lambda one: graded(engine, catalog, *one), wanted):
            sys.stdout.buffer.write(line + b"\n")
    print(f"{len(wanted)} answers", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
