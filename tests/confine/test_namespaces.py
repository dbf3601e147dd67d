"""The extra layer for hosts: no network device, and a scratch file system of bounded size."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from grader.confine import namespaces
from tests.confine.test_process import python

ENTER = """
import errno, os, socket, sys
from pathlib import Path
from grader.confine.namespaces import enter
scratch = Path(os.environ["SCRATCH"])
try:
    enter(scratch, 1 << 20)
except OSError as error:
    print("refused", os.listdir(scratch))
else:
    try:
        socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), timeout=5)
    except OSError as error:
        print(os.getuid() == int(os.environ["WHO"]), os.listdir(scratch), errno.errorcode[error.errno])
    try:
        (scratch / "f").write_bytes(bytes(2 << 20))
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


def test_inside_there_is_no_network_and_little_room(tmp_path: Path) -> None:
    """Or the system refuses, as `offered` said it would, and nothing has changed."""
    import os
    import socket

    (tmp_path / "canary").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        printed = python(ENTER, SCRATCH=str(tmp_path), PORT=str(port), WHO=str(os.getuid()))
    expected = "True [] ENETUNREACH\nENOSPC\n" if namespaces.offered() is None else "refused ['canary']\n"
    assert printed == expected
    assert [path.name for path in tmp_path.iterdir()] == ["canary"]


def test_a_refusal_has_the_systems_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "_PROBE", "print('Operation not permitted')")
    assert namespaces.offered() == "Operation not permitted"
    monkeypatch.setattr(namespaces, "_PROBE", "raise SystemExit(3)")
    assert namespaces.offered() == "the trial ended with status 3"
    monkeypatch.setattr(namespaces, "_PROBE", "print()")
    assert namespaces.offered() is None


def test_a_trial_that_does_not_end_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", 10)

    monkeypatch.setattr(subprocess, "run", hang)
    assert "timed out" in (namespaces.offered() or "")


def test_other_platforms_have_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert namespaces.offered() == "only Linux has them"
    with pytest.raises(OSError, match="not implemented") as caught:
        namespaces.enter(tmp_path, 1 << 20)
    assert caught.value.errno == errno.ENOSYS
