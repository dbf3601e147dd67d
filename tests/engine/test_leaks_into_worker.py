"""What a worker of the engine inherits: nothing of the judge, of a kata, or of an earlier submission."""

from __future__ import annotations

import re

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.records import Options
from tests.engine.answers import patient, submission

MODULES = b"""
import sys
print(*sorted(name for name in sys.modules if name.split(".")[0] in ("grader", "kata_content", "solutions")))
"""

# The words arrive with every byte moved on by one, and the memory is moved before it is searched: looking for
# them does not put them there.
HEAP = b"""
import ctypes
MOVE = bytes((byte + 1) % 256 for byte in range(256))
found = set()
for line in open("/proc/self/maps"):
    bounds, rights, _, _, _, *path = line.split()
    if "r" not in rights or (path and path[0].startswith(("/", "[v"))):
        continue
    start, end = (int(bound, 16) for bound in bounds.split("-"))
    memory = ctypes.string_at(start, end - start).translate(MOVE)
    found |= {index for index, word in enumerate(WORDS) if word in memory}
print(*sorted(found))
"""


def printed(engine: PrivateEngine, catalog: Catalog, source: bytes) -> str:
    options = Options(isolation="process")
    grade = engine.grade(submission(source), patient(catalog.get("v1")), catalog, options)
    return grade.printed.text


def words_of_the_katas(catalog: Catalog) -> list[str]:
    """Names of checks and lines of hints, which stand in the content only."""
    words = set()
    for kata in catalog.katas:
        words |= set(re.findall(r"^def (\w{14,})\(", kata.text("checks.py"), re.MULTILINE))
        words |= {line for line in kata.text("hints.md").splitlines() if len(line) > 40}
    return sorted(words)


def test_it_has_loaded_the_workers_modules_only(engine: PrivateEngine, catalog: Catalog) -> None:
    loaded = printed(engine, catalog, MODULES).split()
    assert "grader.worker.main" in loaded
    rooms = {".".join(name.split(".")[:2]) for name in loaded} - {"grader"}
    assert rooms <= {
        "grader.answer_text",
        "grader.confine",
        "grader.engine",
        "grader.errors",
        "grader.handles",
        "grader.paths",
        "grader.protocol",
        "grader.records",
        "grader.worker",
    }
    assert {name for name in loaded if name.startswith("grader.engine.")} <= {
        "grader.engine.descriptors",
        "grader.engine.launch",
        "grader.engine.warmup",
    }


def test_its_memory_holds_no_word_of_the_katas_and_of_nobody_elses_answer(
    engine: PrivateEngine, catalog: Catalog
) -> None:
    earlier = "an_earlier_candidate_wrote_this"
    printed(engine, catalog, f"{earlier} = 1\n".encode())
    words = [*words_of_the_katas(catalog), earlier, "own_word_of_this_answer"]
    assert len(words) > 20
    source = hide(words) + b"own_word_of_this_answer = 1\n" + HEAP
    found = [words[int(index)] for index in printed(engine, catalog, source).split()]
    assert found == ["own_word_of_this_answer"]


def hide(words: list[str]) -> bytes:
    moved = [bytes((byte + 1) % 256 for byte in word.encode()) for word in words]
    return f"WORDS = {moved!r}\n".encode()
