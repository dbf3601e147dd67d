"""What `kata doctor` shows: every mechanism, there or not, and nothing is changed by asking."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grader.confine import landlock, libc, namespaces, seccomp
from grader.confine.probe import STOPS, Mechanism, probe
from tests.confine.test_process import python


def by_name() -> dict[str, Mechanism]:
    return {mechanism.name: mechanism for mechanism in probe()}


def test_every_mechanism_says_what_it_stops() -> None:
    assert {name: mechanism.stops for name, mechanism in by_name().items()} == STOPS


def test_what_the_tests_of_this_room_rely_on_is_there() -> None:
    found = by_name()
    assert all(found[name].available for name in ("landlock", "seccomp", "no_new_privs", "rlimits", "pidfd"))
    assert found["landlock"].detail.startswith(f"ABI {landlock.abi()}: files")


def test_asking_changes_nothing() -> None:
    status = Path("/proc/self/status")
    watched = ("NoNewPrivs", "Seccomp", "CapEff", "Threads")

    def state() -> list[str]:
        return [line for line in status.read_text().splitlines() if line.startswith(watched)]

    before, namespace = state(), Path("/proc/self/ns/user").readlink()
    probe()
    assert (state(), Path("/proc/self/ns/user").readlink()) == (before, namespace)


def test_an_old_kernel_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(libc, "syscall", refuse)
    monkeypatch.setattr(libc, "prctl", refuse)
    monkeypatch.setattr(namespaces, "offered", lambda: "Operation not permitted")
    found = by_name()
    assert not any(found[name].available for name in ("landlock", "seccomp", "no_new_privs", "namespaces"))
    assert "5.13" in found["landlock"].detail
    assert found["namespaces"].detail == "Operation not permitted"


def test_an_unknown_processor_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert "processor" in by_name()["seccomp"].detail


@pytest.mark.parametrize(("platform", "detail"), [("darwin", "macOS"), ("win32", "Windows")])
def test_other_platforms_offer_little(platform: str, detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.delattr(os, "pidfd_open")
    found = by_name()
    assert not any(
        found[name].available for name in ("landlock", "seccomp", "namespaces", "pidfd", "pdeathsig")
    )
    assert detail in found["rlimits"].detail


def test_the_room_imports_neither_torch_nor_the_rest_of_the_grader() -> None:
    code = """
import sys
import grader.confine.apply, grader.confine.probe, grader.confine.scratch
print("torch" in sys.modules, sorted(name for name in sys.modules if name.startswith("grader.")
      and not name.startswith("grader.confine")))
"""
    assert python(code) == "False ['grader.errors', 'grader.records']\n"


def test_a_filter_that_is_there_is_named_by_its_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "available", lambda: False)
    assert "refused" in by_name()["seccomp"].detail
