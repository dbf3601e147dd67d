"""Levels: strict fails closed, standard takes what there is, process is plainly less."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader.confine import apply, landlock, libc, seccomp
from grader.confine.apply import Applied, Prepared, confine, prepare
from grader.confine.policy import Level, Policy, worker_policy
from grader.errors import ConfinementUnavailable
from tests.confine.arena import CANARY, Host

FULL = ["rlimits", "descriptors", "pdeathsig", "no_new_privs", "capabilities", "landlock", "seccomp"]


def refuse(*_: object) -> int:
    raise OSError(errno.EOPNOTSUPP, "switched off")


@pytest.fixture
def rules(tmp_path: Path) -> Callable[[Level], Policy]:
    def make(level: Level) -> Policy:
        return worker_policy(tmp_path, level=level)

    return make


def in_a_child(work: Callable[[], object]) -> tuple[str, int]:
    """What `work` returned or raised, as text, and the child's exit status. The child is not a test process:
    it has one thread and ends here."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        text = "nothing"
        try:
            text = repr(work())
        except (OSError, ConfinementUnavailable) as error:
            text = f"{type(error).__name__}: {error}"
        finally:
            os.write(writing, text.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def keeping_all(prepared: Prepared) -> Applied:
    return confine(prepared, keep=range(1, 256))


class TestPrepare:
    def test_strict_needs_landlock(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(landlock, "abi", lambda: 0)
        with pytest.raises(ConfinementUnavailable, match="needs landlock, which") as caught:
            prepare(rules("strict"))
        assert caught.value.missing == ("landlock",)
        assert "standard" in caught.value.fix

    def test_strict_needs_the_filter(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(seccomp, "available", lambda: False)
        with pytest.raises(ConfinementUnavailable, match="needs seccomp"):
            prepare(rules("strict"))

    def test_all_that_is_missing_is_named(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(libc, "syscall", refuse)
        with pytest.raises(ConfinementUnavailable, match="landlock and seccomp"):
            prepare(rules("strict"))

    def test_standard_takes_what_there_is(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(landlock, "abi", lambda: 0)
        prepared = prepare(rules("standard"))
        assert (prepared.ruleset, prepared.filter is None) == (None, False)
        text, _ = in_a_child(lambda: keeping_all(prepared).missing)
        assert text == "('landlock',)"

    def test_standard_without_a_filter_says_so(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(seccomp, "available", lambda: False)
        prepared = prepare(rules("standard"))
        text, _ = in_a_child(lambda: keeping_all(prepared).missing)
        assert text == "('seccomp',)"
        prepared.close()

    def test_what_it_opened_is_closed_again(self, rules: Callable[[Level], Policy]) -> None:
        def open_descriptors() -> int:
            return len(list(Path("/proc/self/fd").iterdir()))

        policy, before = rules("strict"), open_descriptors()
        prepared = prepare(policy)
        assert open_descriptors() > before
        prepared.close()
        assert open_descriptors() == before

    def test_a_root_that_vanished_meanwhile_is_left_out(self, tmp_path: Path) -> None:
        gone = Policy(
            scratch=tmp_path, readable=(tmp_path / "x",), listable=(), writable=(), roots=(tmp_path / "x",)
        )
        prepared = prepare(gone)
        assert prepared.roots == ()
        prepared.close()


class TestConfine:
    def test_strict_applies_everything(self, host: Host, user: str) -> None:
        answer = host.run("", "strict", user)
        assert answer["mechanisms"] == FULL
        assert (answer["missing"], answer["level"]) == ([], "strict")
        assert answer["landlock_abi"] >= 1
        assert {"AS", "CPU", "FSIZE", "NOFILE", "CORE", "NPROC"} <= set(answer["limits"])

    def test_standard_applies_the_same_where_it_is_to_be_had(self, host: Host) -> None:
        assert host.run("", "standard")["mechanisms"] == FULL

    def test_process_limits_and_separates_but_restricts_no_file(self, host: Host) -> None:
        answer = host.run("result = open(HOME + '/canary').read()", "process")
        assert answer["value"] == CANARY
        assert answer["mechanisms"] == ["rlimits", "descriptors", "pdeathsig", "no_new_privs"]

    def test_strict_stops_when_a_mechanism_fails_after_all(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepared = prepare(rules("strict"))
        monkeypatch.setattr(seccomp, "install", refuse)
        text, _ = in_a_child(lambda: keeping_all(prepared))
        assert text.startswith("ConfinementUnavailable: strict isolation needs seccomp (switched off)")
        prepared.close()

    def test_a_process_with_threads_is_not_confined(
        self, rules: Callable[[Level], Policy], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Landlock binds the calling thread: the others would stay free."""
        prepared = prepare(rules("strict"))
        monkeypatch.setattr(apply.os, "listdir", lambda _: ["1", "2"])
        text, _ = in_a_child(lambda: keeping_all(prepared))
        assert "more than one thread" in text
        prepared.close()

    def test_a_scratch_folder_that_vanished_is_an_error(self, rules: Callable[[Level], Policy]) -> None:
        prepared = prepare(rules("strict"))
        text, _ = in_a_child(lambda: confine(prepared, Path("/no/such/folder")))
        assert text.startswith("FileNotFoundError")
        text, _ = in_a_child(lambda: apply._restrict_files(prepared, Path("/no/such/folder")))
        assert text.startswith("FileNotFoundError")
        prepared.close()

    def test_a_worker_ends_with_its_host(self, rules: Callable[[Level], Policy]) -> None:
        """Also when the host is killed, and though the worker may signal nobody."""
        prepared = prepare(rules("strict"))
        reading, writing = os.pipe()
        if (host := os.fork()) == 0:
            if os.fork() == 0:
                confine(prepared, keep=(writing,))
                os.write(writing, b"confined")
                signal.pause()
            signal.pause()
        os.close(writing)
        with os.fdopen(reading) as stream:
            assert stream.read(8) == "confined"
            os.kill(host, signal.SIGKILL)
            os.waitpid(host, 0)
            assert stream.read() == ""  # the end of file comes when the worker is gone
        prepared.close()

    def test_a_worker_whose_host_ended_before_does_not_start(self, rules: Callable[[Level], Policy]) -> None:
        prepared = prepare(rules("strict"))
        _, status = in_a_child(lambda: confine(prepared, parent=1 if os.getppid() != 1 else 2))
        assert status == -signal.SIGKILL
        prepared.close()


ESCAPES: dict[str, Callable[[Path], object]] = {
    "read": lambda outside: (outside / "canary").read_text(),
    "write": lambda outside: (outside / "canary").write_text(""),
    "create": lambda outside: (outside / "new").touch(),
    "unlink": lambda outside: (outside / "canary").unlink(),
    "move out": lambda outside: Path("own").rename(outside / "own"),
    "truncate": lambda outside: os.truncate(outside / "canary", 0),
    "truncate what may be read": lambda outside: os.open(outside / "readable", os.O_RDONLY | os.O_TRUNC),
    "TCP": lambda _: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "signal": lambda _: os.kill(os.getppid(), 0),
}


@pytest.mark.parametrize("version", range(1, min(landlock.abi(), 7) + 1))
def test_kernels_of_every_age_hold(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Landlock could not do when it was young, the filter does."""
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    for folder in (scratch, outside):
        folder.mkdir()
    for name in ("canary", "readable"):
        (outside / name).write_text(CANARY, encoding="utf-8")
    monkeypatch.setattr(landlock, "abi", lambda: version)
    rules = worker_policy(scratch)
    readable = outside / "readable"
    rules = msgspec.structs.replace(
        rules, readable=(*rules.readable, readable), roots=(*rules.roots, readable)
    )
    prepared = prepare(rules)

    def attempt() -> list[str]:
        keeping_all(prepared)
        Path("own").write_text(readable.read_text(encoding="utf-8"), encoding="utf-8")
        succeeded = []
        for name, escape in ESCAPES.items():
            try:
                escape(outside)
            except OSError:
                continue
            succeeded.append(name)
        return succeeded

    assert in_a_child(attempt) == ("[]", 0)
    assert {path.name: path.read_text(encoding="utf-8") for path in outside.iterdir()} == {
        "canary": CANARY,
        "readable": CANARY,
    }
    prepared.close()


class TestInside:
    def test_nothing_is_open_but_what_was_kept(self, host: Host, user: str) -> None:
        code = (
            "def opened(fd):\n"
            "    try: os.fstat(fd)\n"
            "    except OSError: return False\n"
            "    return True\n"
            "result = [fd for fd in range(256) if opened(fd)]"
        )
        descriptors = host.run(code, "strict", user)["value"]
        assert descriptors[:3] == [0, 1, 2]
        assert len(descriptors) == 4  # and the channel

    def test_standard_input_is_empty(self, host: Host) -> None:
        assert host.run("result = os.read(0, 10).decode()")["value"] == ""

    def test_it_starts_in_its_scratch_folder_with_files_of_its_own(self, host: Host) -> None:
        code = "open('f', 'w').close(); result = [os.getcwd() == SCRATCH, oct(os.stat('f').st_mode & 0o777)]"
        assert host.run(code)["value"] == [True, "0o600"]

    def test_it_leads_a_session_of_its_own(self, host: Host) -> None:
        assert host.run("result = os.getsid(0) == os.getpid() == os.getpgrp()")["value"]

    def test_root_has_no_power_left_but_reading_what_it_may_read(self, host: Host) -> None:
        code = """
head, held = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
os.chroot(SCRATCH)
"""
        assert host.run(code, "none")["outcome"] == ("ok" if os.getuid() == 0 else "error")
        assert host.run(code)["errno"] == errno.EPERM
