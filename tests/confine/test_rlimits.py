"""What a worker may use up is bounded by the kernel."""

from __future__ import annotations

import errno
import os

import pytest

from grader.confine import rlimits
from tests.confine.arena import Host


def test_memory_beyond_the_limit_is_an_error_that_torch_reports(host: Host, user: str) -> None:
    code = "import torch; torch.empty(64 << 20, dtype=torch.float32).fill_(1)"
    answer = host.run(code, user=user, memory=64 << 20)
    assert answer["type"] == "RuntimeError"
    assert "memory" in answer["text"]
    assert host.run(code, user=user, memory=512 << 20)["outcome"] == "ok"


def test_a_large_file_is_cut_off(host: Host) -> None:
    answer = host.run("open('f', 'wb').write(bytes(2 << 20))", file_size=1 << 20)
    assert answer["errno"] == errno.EFBIG


def test_descriptors_run_out(host: Host) -> None:
    answer = host.run("kept = [os.pipe() for _ in range(64)]", open_files=64)
    assert answer["errno"] == errno.EMFILE


def test_processor_time_ends(host: Host) -> None:
    """Also for code that ignores the signal that comes first."""
    code = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert host.run(code, cpu_seconds=1)["status"] == -9


def test_processor_time_that_is_up_has_a_signal_of_its_own(host: Host) -> None:
    assert host.run("while True: pass", cpu_seconds=1)["status"] == -24


def test_a_flood_of_threads_is_bounded_for_an_ordinary_user(host: Host) -> None:
    code = """
import resource, threading
limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
stop, started = threading.Event(), 0
try:
    while started <= limit + 10:
        threading.Thread(target=stop.wait, daemon=True).start()
        started += 1
except RuntimeError: pass
stop.set()
result = [started, limit]
"""
    started, limit = host.run(code, user="nobody" if os.getuid() == 0 else "same", threads=0)["value"]
    assert started <= limit


def test_limits_that_are_lower_already_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {}
    monkeypatch.setattr(rlimits.resource, "getrlimit", lambda _: (10, 10))
    monkeypatch.setattr(rlimits.resource, "setrlimit", made.__setitem__)
    rlimits.apply(rlimits.Limits(), 0)
    assert made[rlimits.resource.RLIMIT_NOFILE] == (10, 10)
    assert made[rlimits.resource.RLIMIT_CPU] == (10, 10)
    assert made[rlimits.resource.RLIMIT_CORE] == (0, 0)


def test_the_users_processes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rlimits.user_processes() >= 1

    def refuse(_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(os, "scandir", refuse)
    assert rlimits.user_processes() == 0


def test_a_process_that_ends_meanwhile_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        name = "1"

        def stat(self) -> None:
            raise FileNotFoundError

    monkeypatch.setattr(os, "scandir", lambda _: [Gone()])
    assert rlimits.user_processes() == 0


def test_without_proc_memory_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise FileNotFoundError

    monkeypatch.setattr(rlimits.os, "open", refuse)
    monkeypatch.setattr(rlimits, "_lower", lambda *_: None)
    assert "AS" not in rlimits.apply(rlimits.Limits(), 0)


def test_windows_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert rlimits.apply(rlimits.Limits(), 0) == ()
