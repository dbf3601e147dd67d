"""Faults injected into the program itself, to find out whether its tests notice.

    python -m benchmarks.faults [--count 120] [--seed 20481] [--start 0] [--stop N] [--only TEXT]

Each fault is one small change of one node in `grader/`: a statement dropped, a condition negated, a bound ten
times as large … Places are drawn by the seed over all functions; `faults.toml` names more that a person
thought of. Every fault is written into a throw-away copy of the project, where the tests that mirror its
module run, the nearest first, up to the first failure. What no test notices is printed. It is a hole in the
tests, or it changes nothing that anybody could see: then `faults.toml` says why.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue

import msgspec
import pytest

from benchmarks.mutation import Change, become, mutated, setting

ROOT = Path(__file__).resolve().parents[1]
KNOWN = Path(__file__).with_suffix(".toml")
SEED = 20481
COUNT = 120
SECONDS = 120  # of processor time for the tests of one fault
WAITS = 8  # times as long on the wall: other programs run too
JOBS = 2
UNEXPLAINED, EQUIVALENT = 0.05, 0.10  # the shares of all faults that may survive
MODULE = "<module>"  # in place of a function's name: what runs at import
STRING = "shorter: "  # such changes are for the named ones: most strings are words for people

FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)  # in pytest's summary, less parameters

# Sets the limit in the process that it then becomes: nothing of ours runs between a thread's fork and exec.
_LIMITED = (
    "import os, resource, sys; seconds = int(sys.argv[1]);"
    "resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5));"
    "os.execv(sys.argv[2], sys.argv[2:])"
)


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault by what it changes, not by a line number: it is found again when the file around it changes."""

    module: str
    function: str
    node: str
    change: str
    why: str = ""  # nobody can see it; or, for a named one, what it does
    test: str = ""  # for a named one, which test notices it

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Equal to the `key` of the fault that it means."""
        return self.module, self.function, self.node, self.change


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`faults.toml`: faults that are always worth injecting, and survivors that change nothing."""

    named: tuple[Key, ...] = ()
    equivalent: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A place in the program, and how to spoil it."""

    module: str
    function: str
    node: ast.AST
    change: str
    mutate: Callable[[ast.AST], None]
    tree: ast.Module
    test: str = ""

    def __str__(self) -> str:
        line = getattr(self.node, "lineno", 0)
        return f"{self.module}:{line} {self.function}: `{words(self.node)}`: {self.change}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.function, words(self.node), self.change

    def text(self) -> str:
        """The module with the fault in."""
        place = next(place for place, node in enumerate(ast.walk(self.tree)) if node is self.node)
        return mutated(self.tree, place, self.mutate)


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: the test that noticed it, or None."""

    fault: Fault
    noticed_by: str | None
    says: str = ""  # how the tests ended where no test is to be named

    @property
    def is_test(self) -> bool:
        return self.noticed_by is not None and self.noticed_by.startswith("tests/")


def load_known() -> Known:
    return msgspec.toml.decode(KNOWN.read_bytes(), type=Known)


# where, and what -------------------------------------------------------------------------------------------


def faults(root: Path = ROOT, modules: Container[str] | None = None) -> list[Fault]:
    """Every fault that can be made in the program, or in some modules of it, in the order of its files."""
    found: list[Fault] = []
    for path in sorted((root / "grader").rglob("*.py")):
        module = str(path.relative_to(root))
        if "_content" not in path.parts and (modules is None or module in modules):
            found += faults_of(path.read_text(encoding="utf-8"), module)
    return found


def faults_of(source: str, module: str) -> list[Fault]:
    """Every fault of one file."""
    tree = ast.parse(source)
    return [
        Fault(module, function, node, change, mutate, tree)
        for node, function in _running(tree, MODULE)
        for change, mutate in changes(node)
    ]


def _running(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """The nodes that do something, with the function that they stand in: no annotation, no documentation."""
    yield node, function
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_said_only(child):
                continue
            inner = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = child.name if function == MODULE else f"{function}.{child.name}"
            yield from _running(child, inner)


def _is_said_only(node: ast.AST) -> bool:
    """Documentation, or the list of what a module shows."""
    if isinstance(node, ast.Assign):
        return words(node.targets[0]) == "__all__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def words(node: ast.AST) -> str:
    """The node's source on one line, not too long."""
    return " ".join(ast.unparse(node).split())[:120]


def changes(node: ast.AST) -> Iterator[Change]:
    """What can be spoiled about a node."""
    if isinstance(node, ast.FunctionDef):
        yield "returns at once", setting(_returns_at_once)
    elif isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Delete) or _is_kept(node):
        yield "dropped", setting(lambda twin: become(twin, ast.Pass()))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "returns None", setting(lambda twin: setattr(twin, "value", None))
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and words(node.test) != "TYPE_CHECKING":
        yield "negated", setting(_negated)
        yield "never", setting(lambda twin: setattr(twin, "test", ast.Constant(False)))
    elif isinstance(node, ast.Compare):
        yield from _comparisons(node)
    elif isinstance(node, ast.BoolOp):
        yield from _each("values", node.values)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set) and isinstance(getattr(node, "ctx", None), _READ):
        yield from _each("elts", node.elts)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.BinOp):
        yield from _sums(node)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.ExceptHandler):
        yield "swallowed", setting(lambda twin: setattr(twin, "body", [ast.Pass()]))


_READ = ast.Load | None
_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPPOSITE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}  # fmt: skip


def _is_kept(node: ast.AST) -> bool:
    """An assignment that outlives its function."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)


def _returns_at_once(twin: ast.FunctionDef) -> None:
    twin.body = [ast.Return(None)]


def _negated(twin: ast.If | ast.While | ast.IfExp) -> None:
    twin.test = ast.UnaryOp(ast.Not(), twin.test)


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for place, kind in enumerate(node.ops):
        other = _OTHER[type(kind)]
        name = f"{type(kind).__name__} -> {other.__name__}"
        yield name, setting(lambda twin, place=place, other=other: twin.ops.__setitem__(place, other()))


def _each(field: str, parts: Sequence[ast.expr]) -> Iterator[Change]:
    """Without one of its parts."""
    if len(parts) > 1:
        for place, part in enumerate(parts):
            yield f"without {words(part)}", setting(lambda twin, at=place: getattr(twin, field).pop(at))


def _constants(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    others: list[object] = []
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int | float):
        others = [value + 1] if value in (0, 1) else [value * 10, value // 2 if value > 1 else value / 2]
    elif isinstance(value, str) and len(value) > 3 and not any(letter.isalnum() for letter in value):
        for place, letter in enumerate(value):
            rest = value[:place] + value[place + 1 :]
            yield f"{STRING}no {letter!r}", setting(lambda twin, rest=rest: setattr(twin, "value", rest))
    elif isinstance(value, str) and len(value.split()) > 1:
        yield f"{STRING}no last word", setting(lambda twin: setattr(twin, "value", value.rsplit(None, 1)[0]))
    for other in others:
        yield f"{value!r} -> {other!r}", setting(lambda twin, other=other: setattr(twin, "value", other))


def _sums(node: ast.BinOp) -> Iterator[Change]:
    other = _OPPOSITE.get(type(node.op))
    if other is not None:
        name = f"{type(node.op).__name__} -> {other.__name__}"
        yield name, setting(lambda twin: setattr(twin, "op", other()))


def _calls(node: ast.Call) -> Iterator[Change]:
    """Without one of its keywords; of `min` and `max`, one of the two bounds."""
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield f"without {keyword.arg}=", setting(lambda twin, at=place: twin.keywords.pop(at))
    if words(node.func) in ("min", "max") and len(node.args) == 2:
        for place, argument in enumerate(node.args):
            yield f"only {words(argument)}", setting(lambda twin, at=place: become(twin, twin.args[at]))


def drawn(all_faults: Iterable[Fault], count: int, seed: int) -> list[Fault]:
    """One fault each of so many functions; a long function counts as much as a short one."""
    by_function: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in all_faults:
        if not fault.change.startswith(STRING):
            by_function[fault.module, fault.function].append(fault)
    chance = random.Random(seed)
    functions = chance.sample(sorted(by_function), min(count, len(by_function)))
    return [chance.choice(by_function[function]) for function in functions]


def named(known: Known, root: Path = ROOT) -> list[Fault]:
    """The faults that `faults.toml` names; raises `LookupError` for one that can no longer be made."""
    at = found(known.named, root)
    return [replace(at[key.place], test=key.test) for key in known.named]


def found(keys: Collection[Key], root: Path = ROOT) -> dict[tuple[str, str, str, str], Fault]:
    """The faults that these keys mean; raises `LookupError` when the program has such a place no more."""
    at = {fault.key: fault for fault in reversed(faults(root, {key.module for key in keys}))}
    for key in keys:
        if key.place not in at:
            raise LookupError(f"{KNOWN.name} names what is not there: {key}")
    return at


# who should notice ----------------------------------------------------------------------------------------


def mirrored(fault: Fault, root: Path = ROOT) -> list[str]:
    """The test that a named fault goes with; for any other the test files, the nearest first: named like its
    module, importing it, of its room.
    """
    if fault.test:
        return [fault.test]
    *rooms, file = Path(fault.module.removesuffix("/__init__.py")).with_suffix("").parts[1:]
    names = {f"test_{file}", *(f"test_{room}" for room in rooms[1:])}
    dotted = ".".join(("grader", *rooms))
    imported = re.compile(rf"{re.escape(dotted)}\.{file}\b|from {re.escape(dotted)} import .*\b{file}\b")
    ranked = []
    for path, text in _tests(root):
        in_room = path.parent.name in (*rooms, "tests")
        near = path.stem == f"test_cli_{file}" or (in_room and path.stem in names)
        asks = imported.search(text) is not None
        if near or asks or path.parent.name in rooms:
            ranked.append((not near, not asks, not in_room, len(text), str(path.relative_to(root))))
    return [name for *_, name in sorted(ranked)]


@cache
def _tests(root: Path) -> tuple[tuple[Path, str], ...]:
    return tuple((path, path.read_text(encoding="utf-8")) for path in (root / "tests").rglob("test_*.py"))


# the copy -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Copy:
    """A throw-away copy of the project, with an environment whose programs run the copy's code."""

    root: Path

    @classmethod
    def make(cls, folder: Path, root: Path = ROOT) -> Copy:
        copy = cls(folder / "project")
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (root / name).is_file():
                (copy.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, copy.root / name)
        copy._furnish()
        (copy.root / ".tmp").mkdir()
        return copy

    def _furnish(self) -> None:
        """Our own packages, linked; only the project itself is the copy."""
        environment = self.root / ".venv"
        venv.EnvBuilder(symlinks=True).create(environment)
        (theirs,) = environment.glob("lib/python*/site-packages")
        ours = Path(msgspec.__file__).parents[1]
        for entry in ours.iterdir():
            if not entry.name.startswith("_editable_impl") and not (theirs / entry.name).exists():
                (theirs / entry.name).symlink_to(entry)
        (theirs / "copy.pth").write_text(f"{self.root}\n", encoding="utf-8")
        for script in ("kata", "lint-imports", "hatchling"):
            text = Path(sys.executable).with_name(script).read_text(encoding="utf-8")
            copied = environment / "bin" / script
            copied.write_text(f"#!{self.python}\n" + text.split("\n", 1)[1], encoding="utf-8")
            copied.chmod(0o755)

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    def judge(self, fault: Fault, seconds: int) -> Outcome:
        """Run the mirrored tests with the fault in; take it out again."""
        path = self.root / fault.module
        kept = path.read_bytes()
        path.write_text(fault.text(), encoding="utf-8")
        try:
            code, printed = self.test(mirrored(fault, self.root), seconds, "-x")
        finally:
            path.write_bytes(kept)
        failed = FAILED.search(printed)
        if failed is not None:
            return Outcome(fault, failed[1])
        if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return Outcome(fault, None, (printed.strip().splitlines() or ["no test"])[-1])
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return Outcome(fault, None, f"not noticed in {seconds} s")
        return Outcome(fault, f"pytest itself, which ended with {code}")

    def test(self, names: Sequence[str], seconds: int, *options: str) -> tuple[int, str]:
        """pytest's exit code and what it printed."""
        program = [str(self.python), "-m", "pytest", "-n0", "-pno:randomly", "-rfE", "--tb=no", "-mnot slow"]
        process = subprocess.Popen(
            [str(self.python), "-c", _LIMITED, str(seconds), *program, *options, *names],
            cwd=self.root,
            env={**os.environ, "TMPDIR": str(self.root / ".tmp"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=seconds * WAITS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
        return process.returncode, printed


def judged(
    some: Sequence[Fault],
    jobs: int = JOBS,
    seconds: int = SECONDS,
    tell: Callable[[Outcome], None] = lambda _: None,
    root: Path = ROOT,
) -> list[Outcome]:
    """What became of each fault; each is told as it comes. In the end every test that noticed one has to pass
    without it: one that fails anyway has noticed nothing.
    """
    with tempfile.TemporaryDirectory(prefix="kata-faults-") as folder, ThreadPoolExecutor(jobs) as threads:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            copies.put(Copy.make(Path(folder) / str(number), root))

        def judge(fault: Fault) -> Outcome:
            copy = copies.get()
            try:
                return copy.judge(fault, seconds)
            finally:
                copies.put(copy)

        outcomes = []
        try:
            for future in as_completed([threads.submit(judge, fault) for fault in some]):
                outcomes.append(future.result())
                tell(outcomes[-1])
        finally:
            threads.shutdown(cancel_futures=True)
        tests = sorted({outcome.noticed_by for outcome in outcomes if outcome.noticed_by and outcome.is_test})
        _, printed = copies.get().test(tests, seconds * max(1, len(tests))) if tests else (0, "")
    shaky = {match[1] for match in FAILED.finditer(printed)}
    return [
        replace(outcome, noticed_by=None, says="its test fails without the fault as well")
        if outcome.noticed_by in shaky
        else outcome
        for outcome in outcomes
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every survivor and the figures; 1 when too many survive."""
    parser = argparse.ArgumentParser(description="Which faults in the program do its tests notice?")
    parser.add_argument("--count", type=int, default=COUNT, help="faults to draw, over those that are named")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--start", type=int, default=0, help="the first of the list to inject")
    parser.add_argument("--stop", type=int, help="the first not to")
    parser.add_argument("--only", default="", help="only faults that hold this text")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of processor time for each")
    wanted = parser.parse_args(arguments)
    known, everything = load_known(), faults()
    some = [*named(known), *drawn(everything, wanted.count, wanted.seed)]
    some = [fault for fault in some[wanted.start : wanted.stop] if wanted.only in str(fault)]
    if not some:
        parser.error("there is no such fault")
    reasons = {key.place: key.why for key in known.equivalent}
    print(f"{len(some)} faults of {len(everything)} that can be made", flush=True)

    def tell(outcome: Outcome) -> None:
        said = f"noticed by {outcome.noticed_by}" if outcome.noticed_by else f"SURVIVES: {outcome.says}"
        print(f"  {outcome.fault}: {said}", flush=True)

    outcomes = judged(some, wanted.jobs, wanted.seconds, tell)
    survivors = [outcome for outcome in outcomes if outcome.noticed_by is None]
    print(f"{len(some) - len(survivors)} of {len(some)} were noticed. Survivors:")
    for outcome in survivors:
        print(f"  {outcome.fault}: {reasons.get(outcome.fault.key) or f'NOT EXPLAINED ({outcome.says})'}")
    explained = sum(outcome.fault.key in reasons for outcome in survivors)
    unexplained = len(survivors) - explained
    print(f"{explained / len(some):.1%} change nothing, {unexplained / len(some):.1%} are not explained")
    return int(unexplained > UNEXPLAINED * len(some) or explained > EQUIVALENT * len(some))


if __name__ == "__main__":
    sys.exit(main())
