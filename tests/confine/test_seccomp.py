"""The filter says the same on every architecture: its program is run here by a small BPF machine."""

from __future__ import annotations

import errno
import struct

import pytest

from grader.confine import seccomp, syscalls
from grader.confine.seccomp import RET_ALLOW, RET_ERRNO, Filter, Instruction, Program
from grader.confine.syscalls import AARCH64, X86_64, Architecture, Call

PID = 4711
ARCHITECTURES = pytest.mark.parametrize("machine", [X86_64, AARCH64], ids=lambda machine: machine.name)
PERMITTED = RET_ALLOW
REFUSED = RET_ERRNO | errno.EPERM
ABSENT = RET_ERRNO | errno.ENOSYS


def verdict(machine: Architecture, call: Call | int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel would answer, as the filter's return value."""
    number = call if isinstance(call, int) else syscalls.number(call, machine)
    assert number is not None
    shared = Filter.of(seccomp.build(machine))
    code = shared.for_process(PID)
    program = [Instruction(*struct.unpack("=HBBI", code[at : at + 8])) for at in range(0, len(code), 8)]
    padded = [value & (2**64 - 1) for value in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("=IIQ6Q", number, machine.audit if audit is None else audit, 0, *padded)
    return execute(tuple(program), data)


def execute(program: Program, data: bytes) -> int:
    accumulator, at = 0, 0
    while True:
        step = program[at]
        at += 1
        match step.code:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, step.value)[0]
            case 0x54:
                accumulator &= step.value
            case 0x15:
                at += step.jump_true if accumulator == step.value else step.jump_false
            case 0x35:
                at += step.jump_true if accumulator >= step.value else step.jump_false
            case 0x45:
                at += step.jump_true if accumulator & step.value else step.jump_false
            case 0x06:
                return step.value
            case unknown:
                raise AssertionError(f"no such instruction: {unknown:#x}")


@ARCHITECTURES
def test_every_allowed_call_passes(machine: Architecture) -> None:
    for call in syscalls.ALLOWED:
        if syscalls.number(call, machine) is not None:
            assert verdict(machine, call) == PERMITTED, call


@ARCHITECTURES
def test_all_other_numbers_are_refused(machine: Architecture) -> None:
    named = [*syscalls.ALLOWED, *(value for value in vars(syscalls).values() if isinstance(value, Call))]
    known = {syscalls.number(call, machine) for call in named}
    for number in set(range(syscalls.LAST_KNOWN + 1)) - known:
        assert verdict(machine, number) == REFUSED, number


@ARCHITECTURES
def test_numbers_beyond_the_table_do_not_exist(machine: Architecture) -> None:
    assert verdict(machine, syscalls.LAST_KNOWN + 1) == ABSENT
    assert verdict(machine, 0x40000000 | 39) == ABSENT


@ARCHITECTURES
def test_calls_of_another_architecture_are_refused(machine: Architecture) -> None:
    assert verdict(machine, syscalls.OPENAT, audit=0x40000003) == REFUSED  # 32-bit x86


@ARCHITECTURES
def test_clone_makes_threads_only(machine: Architecture) -> None:
    thread_of_the_c_library = 0x3D0F00
    assert verdict(machine, syscalls.CLONE, thread_of_the_c_library) == PERMITTED
    for flags in (
        17,
        0x4111,
        0x01200011,
        thread_of_the_c_library | 0x10000000,
        thread_of_the_c_library | 0x80,
    ):
        assert verdict(machine, syscalls.CLONE, flags) == REFUSED, hex(flags)
    assert verdict(machine, syscalls.CLONE3) == ABSENT


@ARCHITECTURES
def test_opening_may_not_truncate_what_is_not_opened_for_writing(machine: Architecture) -> None:
    truncate = 0o1000
    cases = [(0, PERMITTED), (1 | truncate, PERMITTED), (2 | truncate, PERMITTED), (0o2000000, PERMITTED)]
    cases += [(truncate, REFUSED), (3 | truncate, REFUSED), (0o2000000 | truncate, REFUSED)]
    for flags, expected in cases:
        assert verdict(machine, syscalls.OPENAT, 0, 0, flags) == expected, oct(flags)


def test_the_old_open_of_x86_is_judged_like_openat() -> None:
    assert verdict(X86_64, syscalls.OPEN, 0, 0o1000) == REFUSED
    assert verdict(X86_64, syscalls.OPEN, 0, 0o1001) == PERMITTED


@ARCHITECTURES
def test_signals_go_to_the_process_itself(machine: Architecture) -> None:
    assert verdict(machine, syscalls.TGKILL, PID, PID, 6) == PERMITTED
    assert verdict(machine, syscalls.TGKILL, PID + 1, PID + 1, 6) == REFUSED


@ARCHITECTURES
def test_limits_are_read_not_set(machine: Architecture) -> None:
    assert verdict(machine, syscalls.PRLIMIT64, 0, 7, 0, 1) == PERMITTED
    assert verdict(machine, syscalls.PRLIMIT64, 0, 7, 0xFFFF, 0) == REFUSED
    assert verdict(machine, syscalls.PRLIMIT64, 0, 7, 1 << 32, 0) == REFUSED  # the upper half counts too


@ARCHITECTURES
def test_an_open_socket_sends_to_its_peer_only(machine: Architecture) -> None:
    assert verdict(machine, syscalls.SENDTO, 3, 1, 1, 0, 0, 0) == PERMITTED
    assert verdict(machine, syscalls.SENDTO, 3, 1, 1, 0, 0x7FFF00000000, 16) == REFUSED


@ARCHITECTURES
def test_files_do_not_send_signals(machine: Architecture) -> None:
    for command, expected in ((1, PERMITTED), (1030, PERMITTED), (8, REFUSED), (10, REFUSED), (15, REFUSED)):
        assert verdict(machine, syscalls.FCNTL, 3, command) == expected, command


@ARCHITECTURES
def test_terminals_are_asked_not_typed_into(machine: Architecture) -> None:
    assert verdict(machine, syscalls.IOCTL, 1, 0x5401) == PERMITTED
    assert verdict(machine, syscalls.IOCTL, 1, 0x5412) == REFUSED


@ARCHITECTURES
def test_the_parents_death_stays_fatal(machine: Architecture) -> None:
    assert verdict(machine, syscalls.PRCTL, 15) == PERMITTED  # PR_SET_NAME
    assert verdict(machine, syscalls.PRCTL, 1) == REFUSED  # PR_SET_PDEATHSIG
    assert verdict(machine, syscalls.PRCTL, 22) == REFUSED  # PR_SET_SECCOMP


@ARCHITECTURES
def test_a_thread_pins_itself_only(machine: Architecture) -> None:
    assert verdict(machine, syscalls.SCHED_SETAFFINITY, 0) == PERMITTED
    assert verdict(machine, syscalls.SCHED_SETAFFINITY, 1) == REFUSED


@ARCHITECTURES
def test_no_number_stands_for_two_calls(machine: Architecture) -> None:
    named = [*syscalls.ALLOWED, *(value for value in vars(syscalls).values() if isinstance(value, Call))]
    numbers = [number for call in named if (number := syscalls.number(call, machine)) is not None]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) <= syscalls.LAST_KNOWN


def test_a_filter_that_has_grown_too_long_is_noticed() -> None:
    long = tuple(Instruction(0x20, 0, 0, 0) for _ in range(256))
    with pytest.raises(ValueError, match="too long"):
        seccomp._search([(0, long), (1, long)])


def test_a_machine_without_a_table_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert not seccomp.available()


def test_a_kernel_that_refuses_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EPERM, "not here")

    monkeypatch.setattr("grader.confine.libc.syscall", refuse)
    assert not seccomp.available()


def test_a_thread_that_does_not_take_the_filter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel answers with that thread's id; the process must not go on half filtered."""
    monkeypatch.setattr("grader.confine.libc.syscall", lambda *_: 4712)
    with pytest.raises(OSError, match="thread 4712"):
        seccomp.install(Filter.of(seccomp.build(X86_64)))
