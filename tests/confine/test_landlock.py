"""Rulesets on kernels of every age."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from grader.confine import landlock, libc

NEWEST_FIRST = (7, 6, 5, 4, 3, 2, 1)


def test_the_kernel_is_asked_by_the_system_call() -> None:
    assert landlock.abi() >= 1


def test_without_landlock_the_version_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(libc, "syscall", refuse)
    assert landlock.abi() == 0
    monkeypatch.undo()
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert landlock.abi() == 0


@pytest.mark.parametrize("version", NEWEST_FIRST)
def test_a_ruleset_handles_what_its_version_knows(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[bytes] = []

    def record(_: int, attributes: bytes, size: int, flags: int) -> int:
        passed.append(attributes)
        assert (size, flags) == (len(attributes), 0)
        return 3

    monkeypatch.setattr(libc, "syscall", record)
    landlock.create_ruleset(version)
    [attributes] = passed
    [rights] = struct.unpack_from("=Q", attributes)
    assert rights & landlock.READ == landlock.READ
    assert bool(rights & landlock.REFER) == (version >= 2)
    assert bool(rights & landlock.TRUNCATE) == (version >= 3)
    assert bool(rights & landlock.IOCTL_DEV) == (version >= 5)
    assert len(attributes) == 8 + 8 * (version >= 4) + 8 * (version >= 6)


@pytest.mark.parametrize("version", [version for version in NEWEST_FIRST if version <= landlock.abi()])
def test_the_kernel_takes_rulesets_of_older_versions(version: int, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ruleset = landlock.create_ruleset(version)
    assert landlock.allow_path(ruleset, tmp_path, landlock.SCRATCH, version)
    assert landlock.allow_path(ruleset, tmp_path / "file", landlock.READ, version)
    os.close(ruleset)


def test_a_path_beneath_a_file_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not landlock.allow_path(-1, tmp_path / "file" / "beneath", 0, 1)


def test_a_path_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    ruleset = landlock.create_ruleset(landlock.abi())
    assert not landlock.allow_path(ruleset, tmp_path / "nothing", landlock.READ, landlock.abi())
    os.close(ruleset)


@pytest.mark.parametrize(("version", "flags"), [(7, 1), (6, 0)])
def test_refusals_stay_out_of_the_audit_log_where_the_kernel_can(
    version: int, flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[tuple[object, ...]] = []
    monkeypatch.setattr(libc, "syscall", lambda *arguments: passed.append(arguments) or 0)
    landlock.restrict_self(5, version)
    assert passed[0][1:] == (5, flags)
