"""What a process does about itself and its children."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.confine import libc, process
from tests.confine.arena import CANARY, ROOT


def python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), **environment},
    ).stdout


class TestEnvironment:
    def test_nothing_of_the_callers_but_language_and_time_zone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("API_TOKEN", CANARY)
        monkeypatch.setenv("PYTHONPATH", CANARY)
        monkeypatch.setenv("TZ", "Europe/Berlin")
        environment = process.clean_environment(tmp_path)
        assert environment["TZ"] == "Europe/Berlin"
        assert {environment[name] for name in ("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR")} == {
            str(tmp_path)
        }
        assert CANARY not in environment.values()

    def test_scrubbing_wipes_the_memory_that_the_process_was_started_with(self) -> None:
        code = """
import os
from grader.confine.process import scrub_environment
assert os.environ["TOKEN"].encode() in open("/proc/self/environ", "rb").read()
scrub_environment({"KEPT": "1"})
print(dict(os.environ), set(open("/proc/self/environ", "rb").read()))
import subprocess
print(subprocess.run(["env"], capture_output=True, text=True).stdout.split())
"""
        assert python(code, TOKEN=CANARY) == "{'KEPT': '1'} {0}\n['KEPT=1']\n"

    def test_scrubbing_wipes_pythons_own_copies(self) -> None:
        code = """
import os
from grader.confine.process import scrub_environment
value = os.environb[b"TOKEN"]
assert value
scrub_environment({"ONE": "1"})
print(set(value), dict(os.environ))
"""
        assert python(code, TOKEN=CANARY, ONE="1") == "{0} {'ONE': '1'}\n"


class TestDescriptors:
    def test_all_are_closed_but_those_kept(self) -> None:
        code = """
import os
from grader.confine.process import close_descriptors
kept, lost = os.pipe()
report = os.dup(1)
close_descriptors((kept, report))
found = []
for descriptor in range(64):
    try: found.append((descriptor, os.fstat(descriptor).st_rdev == os.stat(os.devnull).st_rdev))
    except OSError: pass
os.write(report, repr((found, kept, report)).encode())
"""
        found, kept, report = eval(python(code))
        assert found == [(0, True), (1, True), (2, True), (kept, False), (report, False)]

    def test_those_above_a_lowered_limit_are_closed_too(self) -> None:
        code = """
import os, resource
from grader.confine.process import close_descriptors
os.dup2(1, 100)
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
close_descriptors((1,))
try: os.fstat(100)
except OSError: print("closed")
"""
        assert python(code) == "closed\n"

    def test_closed_standard_descriptors_become_the_null_device(self) -> None:
        code = """
import os
from grader.confine.process import close_descriptors
report = os.dup(1)
os.closerange(0, 3)
close_descriptors((report,))
os.write(report, repr([os.fstat(n).st_rdev == os.stat(os.devnull).st_rdev for n in range(3)]).encode())
"""
        assert python(code) == "[True, True, True]"


class TestJudge:
    def test_a_hardened_process_is_closed_to_others_of_its_user(self) -> None:
        code = """
import os, resource, ctypes
from grader.confine.process import drop_capabilities, harden_judge
harden_judge()
parent = os.getpid()
if os.fork() == 0:
    drop_capabilities()
    for name in ("environ", "mem", "maps"):
        try: print(open(f"/proc/{parent}/{name}", "rb").read(1))
        except OSError as error: print(type(error).__name__)
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.ptrace(0x4206, parent, 0, 0), flush=True)
    os._exit(0)
os.wait()
print(resource.getrlimit(resource.RLIMIT_CORE))
"""
        refused = "PermissionError\n" * 3
        assert python(code) == f"{refused}-1\n(0, 0)\n"


class TestOrphans:
    def test_daemons_come_home_and_are_swept(self) -> None:
        code = """
import os, signal
from grader.confine.process import adopt_orphans, sweep
adopt_orphans()
kept = os.fork()
if kept == 0: signal.pause()
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(reading); os.write(writing, b"daemon"); signal.pause()
    os._exit(0)
os.close(writing)
assert os.read(reading, 6) == b"daemon"
print(len(sweep(frozenset({kept}))) >= 1, os.read(reading, 1), os.waitpid(kept, os.WNOHANG))
print(sweep() == (kept,), sweep())
"""
        assert python(code) == "True b'' (0, 0)\nTrue ()\n"


class TestCapabilities:
    def test_only_those_asked_for_are_kept(self) -> None:
        code = """
from grader.confine.process import CAP_DAC_READ_SEARCH, drop_capabilities
def held():
    lines = open("/proc/self/status").read().splitlines()
    return [int(line.split()[1], 16) for line in lines if line[:6] in ("CapPrm", "CapEff")]
before = held()[0]
drop_capabilities(CAP_DAC_READ_SEARCH)
print(held() == [before & CAP_DAC_READ_SEARCH] * 2)
drop_capabilities()
print(held())
drop_capabilities(CAP_DAC_READ_SEARCH)
print(held())
"""
        assert python(code) == "True\n[0, 0]\n[0, 0]\n"

    def test_a_machine_without_a_table_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
        with pytest.raises(OSError, match="not implemented"):
            process.drop_capabilities()


class TestLibc:
    def test_a_failing_call_raises_the_kernels_errno(self) -> None:
        with pytest.raises(OSError, match="Invalid argument") as caught:
            libc.prctl(process.PR_SET_PDEATHSIG, 1 << 20)
        assert caught.value.errno == errno.EINVAL

    def test_anything_but_linux_has_no_prctl(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        with pytest.raises(OSError, match="prctl") as caught:
            libc.prctl(process.PR_SET_NO_NEW_PRIVS, 1)
        assert caught.value.errno == errno.ENOSYS

    def test_answers_come_back_through_pointers(self) -> None:
        answer = (ctypes.c_int * 1)(99)
        libc.prctl(process.PR_GET_PDEATHSIG, answer)
        assert answer[0] in (0, signal.SIGKILL)


class TestStarved:
    def test_it_grows_while_others_have_the_processors(self) -> None:
        code = """
import os, time
from grader.confine.process import starved
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if (rival := os.fork()) == 0:
    while True: pass
before, ends_at = starved(os.getpid()), time.monotonic() + 0.6
while time.monotonic() < ends_at: pass
print(starved(os.getpid()) - before > 0.1)
os.kill(rival, 9)
"""
        assert python(code) == "True\n"

    def test_it_is_nothing_for_a_process_that_is_not_there(self) -> None:
        assert process.starved(-1) == 0.0


class TestProcessorTime:
    def test_it_is_that_of_all_threads_whatever_the_process_is_called(self) -> None:
        code = """
import os, threading, time
from grader.confine.process import processor_time
open("/proc/self/comm", "w").write("a) R 1 (b")
def burn():
    ends_at = time.thread_time() + 0.3
    while time.thread_time() < ends_at: pass
before, threads = processor_time(os.getpid()), [threading.Thread(target=burn) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
used = processor_time(os.getpid()) - before
time.sleep(0.2)
print(used > 0.5, abs(processor_time(os.getpid()) - time.process_time()) < 0.05)
"""
        assert python(code) == "True True\n"

    def test_nobody_counts_it_for_a_process_that_is_not_there(self) -> None:
        assert process.processor_time(-1) is None


def test_a_process_has_ended_when_it_is_gone_or_waits_to_be_collected() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)
    assert not process.has_ended(os.getpid())
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process.has_ended(child.pid)
    child.wait()
    assert process.has_ended(child.pid)
