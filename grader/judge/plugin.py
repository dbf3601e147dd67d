"""pytest as the judge's runner: sealed from the user's settings, results taken as records, nothing printed.

A check counts as passed only if pytest ran it and it returned; skip, xfail, exit and silence are "not
passed".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.catalog import Kata
from grader.errors import GraderFault
from grader.judge.blame import Blame
from grader.judge.candidate import Candidate
from grader.judge.checks import ATTRIBUTE, CheckFailed, CheckInfo, NotReached
from grader.judge.content import Label
from grader.judge.delegation import Delegation
from grader.judge.dropout import DropoutMeter
from grader.judge.gradients import GradientMeter
from grader.judge.instruments import Bench
from grader.judge.steps import Steps
from grader.judge.variations import Variations
from grader.judge.xray import XRay

OFF = (
    "terminal", "logging", "warnings", "unraisableexception", "threadexception", "faulthandler", "junitxml",
    "pastebin", "doctest", "unittest", "setuponly", "setupplan", "stepwise", "debugging", "recwarn",
    "monkeypatch", "pytester", "legacypath", "tmpdir", "skipping", "capture", "assertion", "subtests",
    "pythonpath", "reports", "cacheprovider",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of one check: `raised` is None when it passed."""

    id: str
    info: CheckInfo
    raised: BaseException | None

    def is_required(self, kata: Kata) -> bool:
        """Whether the pass depends on it: by its concept, and by how it failed."""
        optional = any(concept.id == self.info.concept and not concept.required for concept in kata.concepts)
        return not optional and not (isinstance(self.raised, CheckFailed) and not self.raised.required)


@dataclass(eq=False)  # pytest keeps its plugins in sets
class JudgePlugin:
    """Collects the checks of one module, gives them their fixtures, keeps their outcomes."""

    module: ModuleType
    bench: Bench
    told: Callable[[int, int], None] | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    collected: list[str] = field(default_factory=list)

    @pytest.fixture
    def candidate(self) -> Candidate:
        return self.bench.candidate

    @pytest.fixture
    def steps(self) -> Steps:
        return self.bench.steps

    @pytest.fixture
    def xray(self) -> XRay:
        return self.bench.xray

    @pytest.fixture
    def dropout(self) -> DropoutMeter:
        return self.bench.dropout

    @pytest.fixture
    def gradients(self) -> GradientMeter:
        return self.bench.gradients

    @pytest.fixture
    def blame(self) -> Blame:
        return self.bench.blame

    @pytest.fixture
    def delegation(self) -> Delegation:
        return self.bench.delegation

    @pytest.fixture
    def variations(self) -> Variations:
        return self.bench.variations

    @pytest.fixture
    def labels(self) -> Mapping[str, Label]:
        return self.bench.labels

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        return ChecksModule.of(self.module, path=module_path, parent=parent)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str, obj: object) -> object:
        if not hasattr(obj, ATTRIBUTE):
            return []
        self.collected.append(name)
        return CheckItem.from_parent(collector, name=name, callobj=obj)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        report = yield
        failed_early = call.when == "setup" and call.excinfo is not None
        if call.when == "call" or failed_early:
            info: CheckInfo = getattr(item.obj, ATTRIBUTE)  # type: ignore[attr-defined]
            raised = call.excinfo.value if call.excinfo is not None else None
            self.outcomes.append(Outcome(item.name, info, raised))
            if self.told is not None:
                self.told(len(self.outcomes), len(self.collected))
        return report


class CheckItem(pytest.Function):
    """A check as pytest runs it. Nobody reads pytest's words on a failure, and making them takes 40 ms."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        del style
        return str(excinfo.value)


class ChecksModule(pytest.Module):
    """The already loaded checks module: pytest imports and rewrites nothing."""

    loaded: ModuleType

    @classmethod
    def of(cls, module: ModuleType, *, path: Path, parent: pytest.Collector) -> ChecksModule:
        made: ChecksModule = cls.from_parent(parent, path=path)
        made.loaded = module
        return made

    def _getobj(self) -> ModuleType:
        return self.loaded


def run_checks(
    module: ModuleType, bench: Bench, told: Callable[[int, int], None] | None = None
) -> tuple[Outcome, ...]:
    """Run every check of the module once; exactly those that were collected must have an outcome.

    A check that raises anything but its own verdicts is broken, which is a fault of the grader. `told` is
    called after each.
    """
    plugin = JudgePlugin(module, bench, told)
    assert module.__file__ is not None
    folder = Path(module.__file__).parent
    # Without confcutdir pytest walks down from the file system's root, with a look at each neighbour.
    arguments = [
        module.__file__, f"--rootdir={folder}", f"--confcutdir={folder}", f"-c{os.devnull}", "--noconftest",
        *(word for name in OFF for word in ("-p", f"no:{name}")),
    ]  # fmt: skip
    with sealed_environment():
        code = pytest.main(arguments, plugins=[plugin])
    ran = [outcome.id for outcome in plugin.outcomes]
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or ran != plugin.collected or not ran:
        raise GraderFault(
            f"The hidden checks did not all run (pytest ended with {code!r}).", "Run `kata lint`."
        )
    for outcome in plugin.outcomes:
        if outcome.raised is not None and not isinstance(outcome.raised, CheckFailed | NotReached):
            raise GraderFault(
                f"The check {outcome.id} is broken: {type(outcome.raised).__name__}: {outcome.raised}",
                "Please report this; it is not your mistake.",
            ) from outcome.raised
    return tuple(plugin.outcomes)


@contextmanager
def sealed_environment() -> Iterator[None]:
    """Without the caller's pytest settings and plugins; put back afterwards."""
    kept: Mapping[str, str] = {
        name: value for name, value in os.environ.items() if name.startswith(("PYTEST_", "PY_COLORS"))
    }
    for name in kept:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(kept)
