"""What this machine offers, without changing anything about the process that asks."""

from __future__ import annotations

import ctypes
import os
import sys

from grader.confine import landlock, libc, namespaces, process, seccomp, syscalls
from grader.records import Record

LANDLOCK_BY_ABI = (
    (1, "files"),
    (3, "truncation"),
    (4, "TCP"),
    (5, "device controls"),
    (6, "abstract sockets and signals"),
)

STOPS = {
    "landlock": "reading the home, katas and solutions; writing outside the scratch folder",
    "seccomp": "network, new processes, signals and tracing, changed modes and times, kernel interfaces",
    "no_new_privs": "gaining rights through setuid programs",
    "rlimits": "using up memory, processor time, descriptors; large files; core files",
    "pdeathsig": "a worker that outlives its host",
    "subreaper": "a daemon that slips away from its parent",
    "pidfd": "ending the wrong process when a number was used again",
    "namespaces": "network and shared memory once more; a scratch folder that fills the disk",
}


class Mechanism(Record):
    """One means of confinement: there or not, in what form, and what it stops."""

    name: str
    available: bool
    detail: str
    stops: str


def probe() -> tuple[Mechanism, ...]:
    """Every mechanism, in the order of importance. Starts one short process (for the namespaces)."""
    version = landlock.abi()
    architecture = syscalls.this_architecture()
    refusal = namespaces.offered()
    filters = sys.platform == "linux" and seccomp.available()
    return (
        _mechanism("landlock", bool(version), _landlock_detail(version)),
        _mechanism("seccomp", filters, _seccomp_detail(filters, architecture)),
        _prctl("no_new_privs", process.PR_GET_NO_NEW_PRIVS),
        _mechanism("rlimits", sys.platform != "win32", _rlimits_detail()),
        _prctl("pdeathsig", process.PR_GET_PDEATHSIG, answers_by_pointer=True),
        _prctl("subreaper", process.PR_GET_CHILD_SUBREAPER, answers_by_pointer=True),
        _mechanism(
            "pidfd", hasattr(os, "pidfd_open"), "" if hasattr(os, "pidfd_open") else "only Linux has it"
        ),
        _mechanism("namespaces", refusal is None, refusal or "user, network, IPC, mount"),
    )


def _mechanism(name: str, available: bool, detail: str) -> Mechanism:
    return Mechanism(name=name, available=available, detail=detail, stops=STOPS[name])


def _landlock_detail(version: int) -> str:
    if not version:
        return "the kernel does not have it (it came with Linux 5.13), or it is switched off"
    covered = [what for since, what in LANDLOCK_BY_ABI if version >= since]
    return f"ABI {version}: {', '.join(covered)}"


def _seccomp_detail(available: bool, architecture: syscalls.Architecture | None) -> str:
    if architecture is None:
        return "there is no table of system calls for this processor"
    return (
        f"filter for {architecture.name}"
        if available
        else "the kernel does not have it, or it is refused here"
    )


def _rlimits_detail() -> str:
    if sys.platform == "darwin":
        return "memory is not limited on macOS"
    return "" if sys.platform != "win32" else "Windows has none"


def _prctl(name: str, option: int, *, answers_by_pointer: bool = False) -> Mechanism:
    answer = (ctypes.c_int * 1)()
    try:
        libc.prctl(option, *((answer,) if answers_by_pointer else ()))
    except OSError as error:
        return _mechanism(name, available=False, detail=str(error.strerror))
    return _mechanism(name, available=True, detail="")
