"""What a bug report needs to know about this machine. Nothing is changed, and nobody's name is in it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader import __version__, paths
from grader.catalog import Catalog
from grader.confine.apply import missing_for_strict
from grader.confine.probe import probe
from grader.errors import KataError
from grader.history import History
from grader.packs import load_all
from grader.records import Record

_TORCH_SECONDS = 120.0  # the first import after an installation reads a few gigabytes from the disk
_TORCH_PROGRAM = "import torch; print(torch.__version__, torch.get_num_threads(), torch.cuda.is_available())"


class Finding(Record):
    """One line. `fine` is `None` for what is neither good nor bad."""

    name: str
    value: str
    fine: bool | None = None


class Section(Record):
    """Findings on one subject."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        return all(finding.fine is not False for finding in self.findings)


def examine(
    home: Path,
    history: History,
    *,
    python: str = sys.executable,
    load: Callable[[], Catalog] = load_all,
) -> tuple[Section, ...]:
    """Look at everything. PyTorch is imported in a process of its own, by the interpreter `python`; `load`
    gives the katas that the caller has.
    """
    return (
        _section("kata", _program),
        _section("packages", _packages),
        _section("PyTorch", lambda: _torch(python)),
        _section("katas", lambda: _katas(load)),
        _section("history", lambda: _history(home, history)),
        _section("isolation", _isolation),
    )


def _section(title: str, look: Callable[[], Iterator[Finding]]) -> Section:
    return Section(title=title, findings=tuple(look()))


def _program() -> Iterator[Finding]:
    yield Finding(name="attention-kata", value=__version__)
    yield Finding(name="Python", value=f"{platform.python_version()} ({platform.python_implementation()})")
    yield Finding(name="interpreter", value=paths.tilde(Path(sys.executable)))
    yield Finding(name="system", value=platform.platform())
    yield Finding(name="processors", value=str(os.cpu_count()))
    yield Finding(name="SQLite", value=sqlite3.sqlite_version)


def _packages() -> Iterator[Finding]:
    try:
        required = importlib.metadata.requires("attention-kata") or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding(name="attention-kata", value="runs from a checkout, not installed")
        return
    for line in required:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if "extra ==" in line:
            continue
        try:
            yield Finding(name=name, value=importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name=name, value="is not installed", fine=False)


def _torch(python: str) -> Iterator[Finding]:
    began = time.monotonic()
    command = [python, "-c", _TORCH_PROGRAM]
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_TORCH_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        yield Finding(name="import", value=f"took longer than {_TORCH_SECONDS:.0f} s", fine=False)
        return
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        yield Finding(name="import", value=f"fails: {last}", fine=False)
        return
    except OSError as error:
        yield Finding(name="import", value=f"the interpreter does not start: {error.strerror}", fine=False)
        return
    version, threads, cuda = run.stdout.split()
    yield Finding(name="import", value=f"{version} in {time.monotonic() - began:.1f} s", fine=True)
    yield Finding(name="threads", value=threads)
    yield Finding(name="CUDA", value="there (grading uses the CPU)" if cuda == "True" else "none")


def _katas(load: Callable[[], Catalog]) -> Iterator[Finding]:
    try:
        catalog = load()
    except KataError as error:
        yield Finding(name="katas", value=error.message, fine=False)
        return
    yield Finding(name="found in", value=paths.tilde(catalog.root))
    yield Finding(name="katas", value=", ".join(kata.id for kata in catalog.katas), fine=True)
    for pack in catalog.packs:
        count = sum(kata.pack == pack.name for kata in catalog.katas)
        where = f"{paths.tilde(pack.root)} ({pack.origin})"
        yield Finding(
            name=f"pack {pack.name}", value=f"{pack.version}, katas: {count}, in {where}", fine=True
        )
    for left_out in catalog.left_out:
        yield Finding(name="left out", value=f"{left_out.message} {left_out.fix}", fine=False)


def _history(home: Path, history: History) -> Iterator[Finding]:
    yield Finding(name="home", value=paths.tilde(home))
    yield Finding(name="KATA_HOME", value="set" if os.environ.get("KATA_HOME") else "not set")
    try:
        attempts = len(history.attempts())
    except KataError as error:
        yield Finding(name="file", value=error.message, fine=False)
        return
    if not history.path.exists():
        yield Finding(name="file", value="none yet: the first attempt makes it")
        return
    size = history.path.stat().st_size
    yield Finding(name="file", value=f"{attempts} attempts, {size / 1024:.0f} KiB", fine=True)


def _isolation() -> Iterator[Finding]:
    missing = missing_for_strict()
    levels = "standard and process: strict needs " + " and ".join(missing) if missing else "all"
    yield Finding(name="levels", value=levels)
    for mechanism in probe():
        detail = f"{mechanism.detail} · " if mechanism.detail else ""
        there = "yes" if mechanism.available else "no"
        yield Finding(name=mechanism.name, value=f"{there} · {detail}stops: {mechanism.stops}")
