"""Confinement in the right order: prepared once by the trusted host, bound by each worker to itself.

Two Landlock rulesets are stacked, because rules only add up and one shared by all forks would collect every
worker's scratch folder. The first is built once: what the policy grants, and the folder of all scratch
folders. The second is each worker's own and coarse: the policy's roots for reading, its own scratch folder
for writing. A worker may do what both allow.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.confine import landlock, process, rlimits, seccomp, syscalls
from grader.confine.policy import Level, Policy
from grader.errors import ConfinementUnavailable
from grader.records import Record

LANDLOCK = "landlock"
SECCOMP = "seccomp"
NEEDED_BY_STRICT = (LANDLOCK, SECCOMP)


class Applied(Record):
    """What holds for a worker from now on, and what of it this machine did not offer."""

    level: Level
    mechanisms: tuple[str, ...]
    missing: tuple[str, ...] = ()
    landlock_abi: int = 0
    limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """What all forks share: opened by `prepare`, inherited by the fork, closed by `close`."""

    policy: Policy
    landlock_abi: int  # 0: no Landlock
    ruleset: int | None
    roots: tuple[int, ...]  # O_PATH descriptors of the policy's roots
    writable: tuple[int, ...]
    filter: seccomp.Filter | None  # None: no seccomp
    processes: int  # that the user ran when it was prepared

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.roots, *self.writable, *(() if self.ruleset is None else (self.ruleset,)))

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


def missing_for_strict() -> tuple[str, ...]:
    """What `strict` needs and this machine does not offer; nothing is changed by asking."""
    found = {LANDLOCK: bool(landlock.abi()), SECCOMP: syscalls.this_architecture() and seccomp.available()}
    return tuple(name for name in NEEDED_BY_STRICT if not found[name])


def prepare(policy: Policy) -> Prepared:
    """Look at the machine and build what every worker of this policy needs.

    Raises `ConfinementUnavailable` when the level is `strict` and Landlock or the filter is not to be had.
    """
    running = rlimits.user_processes()
    if policy.level == "process":
        return Prepared(policy, 0, None, (), (), None, running)
    version, architecture = landlock.abi(), syscalls.this_architecture()
    calls = seccomp.Filter.of(seccomp.build(architecture)) if architecture and seccomp.available() else None
    missing = tuple(name for name, there in ((LANDLOCK, version), (SECCOMP, calls)) if not there)
    if policy.level == "strict" and missing:
        raise ConfinementUnavailable(missing)
    if not version:
        return Prepared(policy, 0, None, (), (), calls, running)
    ruleset = landlock.create_ruleset(version)
    for path in policy.readable:
        landlock.allow_path(ruleset, path, landlock.READ, version)
    for path in policy.listable:
        landlock.allow_path(ruleset, path, landlock.READ_DIR, version)
    for path in policy.writable:
        landlock.allow_path(ruleset, path, landlock.READ_FILE | landlock.WRITE_FILE, version)
    landlock.allow_path(ruleset, policy.scratch, landlock.SCRATCH, version)
    roots, writable = _open_paths(policy.roots), _open_paths(policy.writable)
    return Prepared(policy, version, ruleset, roots, writable, calls, running)


def confine(
    prepared: Prepared, scratch: Path | None = None, keep: Iterable[int] = (1, 2), parent: int | None = None
) -> Applied:
    """Bind the calling process, which must be freshly forked and have one thread, for good.

    `scratch` is the worker's own folder, at or beneath the policy's; `keep` the descriptors that stay open (0
    becomes /dev/null, as do 1 and 2 unless kept); `parent` the process whose end ends this one, by default
    the present parent. Everything the worker needs of this package must be imported before.

    Raises `ConfinementUnavailable` when the level is `strict` and a mechanism fails after all: the caller
    must then end the process without touching the candidate's file.
    """
    policy = prepared.policy
    own = policy.scratch if scratch is None else scratch
    kept = [*keep]
    mechanisms: list[str] = []
    missing: list[str] = []
    process.lead_session()
    os.chdir(own)
    os.umask(0o077)
    limits = rlimits.apply(policy.limits, prepared.processes)
    if limits:
        mechanisms.append("rlimits")
    steps: dict[str, Callable[[], None]] = {
        "descriptors": lambda: process.close_descriptors([*kept, *prepared.descriptors]),
        "pdeathsig": lambda: process.die_with_parent(os.getppid() if parent is None else parent),
        "no_new_privs": process.no_new_privileges,
    }
    if policy.level != "process":
        reading = process.CAP_DAC_READ_SEARCH if prepared.landlock_abi else 0
        steps["capabilities"] = lambda: process.drop_capabilities(reading)
        steps[LANDLOCK] = lambda: _restrict_files(prepared, own)
        steps[SECCOMP] = lambda: _filter_calls(prepared)
    for name, step in steps.items():
        try:
            step()
        except OSError as error:
            missing.append(name if error.errno == errno.ENOSYS else f"{name} ({error.strerror})")
            if policy.level == "strict":
                raise ConfinementUnavailable((missing[-1],)) from error
        else:
            mechanisms.append(name)
    return Applied(
        level=policy.level,
        mechanisms=tuple(mechanisms),
        missing=tuple(missing),
        landlock_abi=prepared.landlock_abi,
        limits=limits,
    )


def _restrict_files(prepared: Prepared, scratch: Path) -> None:
    try:
        if prepared.ruleset is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208 - Landlock would bind this thread alone
            raise OSError(errno.EBUSY, "there is more than one thread")
        _stack_rulesets(prepared, prepared.ruleset, scratch)
    finally:
        prepared.close()  # this process's copies: a folder that is open is a way around Landlock


def _stack_rulesets(prepared: Prepared, shared: int, scratch: Path) -> None:
    version = prepared.landlock_abi
    own = landlock.create_ruleset(version)
    try:
        for descriptor in prepared.roots:
            landlock.allow_descriptor(own, descriptor, landlock.READ, version)
        for descriptor in prepared.writable:
            landlock.allow_descriptor(own, descriptor, landlock.READ_FILE | landlock.WRITE_FILE, version)
        if not landlock.allow_path(own, scratch, landlock.SCRATCH, version):
            raise OSError(errno.ENOENT, f"there is no scratch folder {scratch}")
        landlock.restrict_self(shared, version)
        landlock.restrict_self(own, version)
    finally:
        os.close(own)


def _filter_calls(prepared: Prepared) -> None:
    if prepared.filter is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    seccomp.install(prepared.filter)


def _open_paths(paths: Iterable[Path]) -> tuple[int, ...]:
    descriptors = []
    for path in paths:
        try:
            descriptors.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
        except (FileNotFoundError, PermissionError):
            continue
    return tuple(descriptors)
