"""Runs one hostile file through the real command line, and says what it did and what it could not do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests import patience
from tests.patience import until
from tests.processes import naming
from tests.trust.arena import Arena, open_arena
from tests.trust.corpus import Case

GONE_SECONDS = 10.0  # after which no process may be left; what an attack leaves would stay for 30 and more
KATA = (sys.executable, "-P", "-c", "from grader.cli.main import main; main()")
NOBODY = 65534
# Sentences of the hidden checks: whoever prints them has read what nobody but the judge may read.
JUDGE_TEXTS = ("from grader.authoring import", "kata_content.common")
KEPT = ("PATH", "LANG", "PYTHONPATH", "VIRTUAL_ENV")


@dataclass
class Ground:
    """Where graders run: their own folders, away from the arenas; `user` is an ordinary user's id or None.

    `home` is the grader's own home, of the history.
    """

    folder: Path
    home: Path
    isolation: str
    user: int | None
    engine: bool

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {
            **kept,
            "KATA_HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "TMPDIR": str(self.folder / "tmp"),
            "KATA_ENGINE": "on" if self.engine else "off",
        }

    def kata(self, *words: str | Path, arena: Arena | None = None) -> Finished:
        """`kata WORDS` as the user, bounded in time."""
        began = time.monotonic()
        process = self.start(*words, arena=arena)
        try:
            out, err = process.communicate(timeout=patience.SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return Finished(None, out, err, time.monotonic() - began)
        return Finished(process.returncode, out, err, time.monotonic() - began)

    def start(self, *words: str | Path, arena: Arena | None = None) -> subprocess.Popen[bytes]:
        """`kata WORDS` as the user, running."""
        return subprocess.Popen(
            [*KATA, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment | (arena.environment if arena else {"HOME": str(self.folder / "kata")}),
            cwd=arena.work if arena else self.folder,
            start_new_session=True,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
        )

    def processes(self) -> dict[int, str]:
        """Processes that have to do with this ground, by their id."""
        return naming(self.folder)

    def temporary(self) -> list[str]:
        """What lies in the folder for temporary files."""
        return sorted(path.name for path in (self.folder / "tmp").iterdir())


@dataclass(frozen=True)
class Finished:
    """A command that ended; `code` is None when it did not in time."""

    code: int | None
    out: bytes
    err: bytes
    seconds: float

    @property
    def text(self) -> str:
        return (self.out + self.err).decode("utf-8", "replace")


@dataclass
class Outcome:
    """What came of one case. Empty `faults` are what an honest grader shows."""

    case: Case
    verdict: str
    reason: str
    milliseconds: float
    faults: list[str] = field(default_factory=list)

    @property
    def contained(self) -> str:
        return "; ".join(self.faults) if self.faults else "all"


@contextlib.contextmanager
def open_ground(isolation: str, *, user: int | None = None, engine: bool = False) -> Iterator[Ground]:
    """Folders for graders that run as `user`; an engine that was started is stopped."""
    with tempfile.TemporaryDirectory(prefix="trust-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        ground = Ground(folder, folder / "kata", isolation, user, engine)
        for part in ("kata", "run", "tmp"):
            (folder / part).mkdir(mode=0o700)
            if user is not None:
                os.chown(folder / part, user, user)
        with _engine(ground) if engine else contextlib.nullcontext():
            yield ground


@contextlib.contextmanager
def _engine(ground: Ground) -> Iterator[None]:
    """An engine that the user's commands find, until the block ends."""
    running = ground.start("engine", "run")
    try:
        until(lambda: running.poll() is not None or list((ground.folder / "run").rglob("*.sock")))
        assert running.poll() is None, f"the engine does not start: {running.communicate()}"
        yield
    finally:
        ground.kata("engine", "stop")
        running.kill()
        running.communicate()


def run(case: Case, ground: Ground) -> Outcome:
    """Grade the file in an arena of its own, then look for damage."""
    with open_arena(ground.folder, ground.user) as arena:
        file = arena.put(case.file)
        if ground.user is not None:
            os.chown(file, ground.user, ground.user, follow_symlinks=False)
        before, running, files = arena.tree(), ground.processes(), ground.temporary()
        done = ground.kata("grade", file, case.kata, "--json", "--isolation", ground.isolation, arena=arena)
        outcome = _outcome(case, done)
        outcome.faults += _damage(arena, before)
        outcome.faults += _left(ground, running, files)
        secrets = (*arena.canaries, *JUDGE_TEXTS)
        outcome.faults += [f"leaked {text[:14]}" for text in secrets if text in done.text]
        return outcome


def _outcome(case: Case, done: Finished) -> Outcome:
    if done.code is None:
        return Outcome(case, "none", "", done.seconds * 1e3, ["the grader did not end in time"])
    try:
        grade = json.loads(done.out)
    except json.JSONDecodeError:
        return Outcome(case, "none", done.text[-200:], done.seconds * 1e3, [f"no document, exit {done.code}"])
    reason = grade["reason"] or ""
    outcome = Outcome(case, grade["verdict"], reason, done.seconds * 1e3)
    if (grade["verdict"] == "passed") is not case.passes:
        outcome.faults.append("FORGED" if not case.passes else f"a right answer was refused: {reason}")
    if done.code != (0 if case.passes else 1):
        outcome.faults.append(f"exit code {done.code}")
    if not case.passes and not reason:
        outcome.faults.append("no sentence")
    if "uses_builtin" in case.want and "uses_builtin" not in str(grade["diagnosis"]):
        outcome.faults.append("the banned call is not named")
    if any(sign in reason for sign in "\x1b\r\u202e"):
        outcome.faults.append("control characters in the sentence")
    return outcome


def _damage(arena: Arena, before: dict[str, tuple[int, int, int, str]]) -> list[str]:
    after = arena.tree()
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    faults = [f"changed {name}" for name in changed]
    return faults + [f"sent: {what}" for what in arena.arrived()]


def _left(ground: Ground, running: dict[int, str], files: list[str]) -> list[str]:
    ends_at = time.monotonic() + GONE_SECONDS
    while True:
        left = {pid: command for pid, command in ground.processes().items() if pid not in running}
        if not left or time.monotonic() > ends_at:
            break
        time.sleep(patience.PAUSE)
    made = [name for name in ground.temporary() if name not in files]
    return [f"left running: {command[:80]}" for command in left.values()] + [
        f"left in TMPDIR: {name}" for name in made
    ]
