"""No test reaches the real home, the network or the clock; none runs for ever, and none leaves anything."""

from __future__ import annotations

import faulthandler
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.catalog import Catalog, load_catalog
from grader.engine import client
from grader.engine.private import PrivateEngine, private_engine
from grader.engine.shared import SharedEngine
from grader.history import History
from grader.records import ConceptRecord, Grade, SourceRecord, Status, Submission, Verdict
from tests import browsers, patience
from tests.guardian import Guard

LOOPBACK = ("127.", "::1", "localhost")
LIMIT = 3 * patience.SECONDS  # for one test
SLOW_LIMIT = 60 * patience.SECONDS
STDERR = pytest.StashKey[int]()
NO_BROWSER = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Guard this process: what its tests start, or put into the folder for temporary files, ends with it.

    pytest's own folders stay where they were, to be looked at when a test has failed.
    """
    parent = Path(os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir()))
    guard = Guard(parent)
    config.add_cleanup(guard.close)
    tempfile.tempdir = os.environ["TMPDIR"] = str(guard.folder)
    config.stash[STDERR] = os.dup(2)  # before anybody captures it


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a browser its tests are left out, and the end of the run says so."""
    if left := browsers.leave_out(items):
        config.hook.pytest_deselected(items=left)
        config.stash[NO_BROWSER] = len(left)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if count := config.stash.get(NO_BROWSER, 0):
        left = f"{count} tests need a browser and were left out"
        terminalreporter.write_line(f"{left}: {browsers.how_to_get()}.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test over the limit ends its process, with a look at where it was: whatever it waits for or computes.

    Under pytest-xdist another process takes over; the test is reported as the one that crashed.
    """
    seconds = SLOW_LIMIT if item.get_closest_marker("slow") else LIMIT
    faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


class SteppingClock:
    """A clock that goes on by one minute each time it is looked at."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 10, 15, tzinfo=UTC)

    def __call__(self) -> datetime:
        now = self.now
        self.now += timedelta(minutes=1)
        return now


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with the program's own folder in it; child processes get it too."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("KATA_HOME", str(folder / "kata"))
    monkeypatch.setenv("KATA_ENGINE", "off")
    monkeypatch.setattr(client, "ANSWER_SECONDS", patience.SECONDS)  # a busy machine is no lost engine
    for name in (
        "XDG_DATA_HOME",
        "COLUMNS",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "KATA_DEBUG",
        "EDITOR",
        "VISUAL",
    ):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test reaches for the network: {address}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def engine(catalog: Catalog) -> Iterator[PrivateEngine]:
    """A warm engine of this test run's own: `engine.grade(submission, kata, catalog, options)`."""
    with private_engine(catalog) as started:
        yield started


@pytest.fixture(scope="session")
def warm_runtime(catalog: Catalog) -> Iterator[Path]:
    """Where an engine like the user's own runs: one for all tests of this process that ask for `warm`."""
    folder = Path(tempfile.mkdtemp(prefix="kata-warm-"))  # short, because the address of a socket is
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        patch.setenv("KATA_HOME", str(folder / "kata"))
        engine = SharedEngine.of(os.environ, catalog.roots)
        if engine is not None:  # it is there in a moment; until then grades are cold
            engine.start()
    yield folder
    if engine is not None:
        engine.stop()
    shutil.rmtree(folder)


@pytest.fixture
def warm(warm_runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are graded and run by a warm engine, as usual: a cold one imports torch each time."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(warm_runtime))
    monkeypatch.delenv("KATA_ENGINE")


@pytest.fixture
def history(home: Path, clock: SteppingClock) -> Iterator[History]:
    with History(home / "kata" / "history.db", clock, busy_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def submission() -> Submission:
    return Submission(name="self_attention_v3.py", source=b"class SelfAttentionV3: ...\n", sha256="a" * 64)


@pytest.fixture
def make_grade(catalog: Catalog) -> Callable[..., Grade]:
    """A grade as the judge would give it: all concepts passed but those in `missed`."""

    def make(
        kata: str = "v3", *, missed: tuple[str, ...] = (), verdict: Verdict | None = None, source: str = ""
    ) -> Grade:
        concepts = []
        for concept in catalog.get(kata).concepts:
            status: Status = "failed" if concept.id in missed else "passed"
            concepts.append(
                ConceptRecord(
                    id=concept.id,
                    title=concept.title,
                    points=concept.points if status == "passed" else 0,
                    max_points=concept.points,
                    status=status,
                    required=concept.required,
                )
            )
        return Grade(
            kata=kata,
            verdict=verdict or ("failed" if missed else "passed"),
            seed=20481,
            points=sum(concept.points for concept in concepts),
            max_points=sum(concept.max_points for concept in concepts),
            seconds={"total": 0.25},
            concepts=tuple(concepts),
            source=SourceRecord(name="self_attention_v3.py", sha256="a" * 64, text=source),
        )

    return make
