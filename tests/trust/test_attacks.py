"""The attack files through the real command line: nothing is forged, changed, sent, leaked or left.

In the normal run our own sample meets the warm engine, and some of it a cold grade. The slow run is the
whole table, with the corpus beside the project where it lies: both levels, as root and as an ordinary user,
with and without the engine. `python -m tests.trust` prints it.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from tests.trust.corpus import OWN, Case, corpora, load
from tests.trust.run import NOBODY, Ground, open_ground, run
from tests.trust.test_soak import ENDLESS

SAMPLE = load(OWN)
COLD = ("looks_through_its_memory", "leaves_a_daemon")
AT_LENGTH = tuple(name for name in ENDLESS if name != "right_but_too_slow")  # the soak is quicker with them


def _open_to_everybody(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents)


def users() -> list[int | None]:
    """Whoever runs the tests; root also lets an ordinary user try, if that one can reach interpreter and
    checkout."""
    reachable = _open_to_everybody(Path(sys.executable)) and _open_to_everybody(OWN)
    return [None, NOBODY] if os.getuid() == 0 and reachable else [None]


@pytest.mark.parametrize(
    "case", [case for case in SAMPLE if case.name not in AT_LENGTH], ids=lambda case: case.name
)
def test_through_the_engine(warm: Ground, case: Case) -> None:
    outcome = run(case, warm)
    assert outcome.faults == []


@pytest.mark.parametrize("case", [case for case in SAMPLE if case.name in COLD], ids=lambda case: case.name)
def test_cold_and_strict(case: Case) -> None:
    with open_ground("strict") as ground:
        assert run(case, ground).faults == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", [True, False], ids=["engine", "cold"])
@pytest.mark.parametrize("user", users(), ids=str)
@pytest.mark.parametrize("isolation", ["strict", "standard"])
@pytest.mark.parametrize("corpus", corpora(), ids=lambda folder: folder.parent.name)
def test_everything(corpus: Path, isolation: str, user: int | None, engine: bool) -> None:
    with open_ground(isolation, user=user, engine=engine) as ground:
        faults = {case.name: run(case, ground).faults for case in load(corpus)}
    assert {name: found for name, found in faults.items() if found} == {}
