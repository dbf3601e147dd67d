"""The system call filter: an allow-list, compiled to classic BPF.

What is not allowed fails with EPERM, so that honest code that wanted too much gets a `PermissionError` with
its line, not a dead process. Calls that are newer than our table, and clone3 (whose flags a filter cannot
see), fail with ENOSYS, and the C library falls back to what it used before.

Constants: Linux, `include/uapi/linux/{seccomp,filter,bpf_common,audit,prctl,fcntl,sched}.h` and
`include/uapi/asm-generic/ioctls.h`.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from grader.confine import libc, syscalls
from grader.confine.syscalls import Architecture

SET_MODE_FILTER = 1
GET_ACTION_AVAIL = 2
FILTER_FLAG_TSYNC = 1 << 0  # all threads of the process, not the calling one alone

RET_ALLOW = 0x7FFF0000
RET_ERRNO = 0x00050000

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_SET = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

# Offsets into struct seccomp_data; both architectures are little-endian, so the low word comes first.
_OFFSET_NUMBER = 0
_OFFSET_ARCHITECTURE = 4
_OFFSET_ARGUMENTS = 16

CLONE_THREAD = 0x00010000
# New namespaces, a borrowed parent, vfork, being traced along: no thread of a C library asks for these.
_CLONE_REFUSED = 0x7E020000 | 0x00008000 | 0x00004000 | 0x00002000 | 0x00000080

# F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_GETLK F_SETLK F_SETLKW F_OFD_* F_DUPFD_CLOEXEC F_GETPIPE_SZ.
# Not here: F_SETOWN, F_SETSIG (together they kill a parent without kill), leases, notifications, seals.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
# TCGETS, TCGETS2 (isatty), TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Not here: TIOCSTI, FIOASYNC.
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_GET_DUMPABLE PR_SET_NAME PR_GET_NAME PR_GET_NO_NEW_PRIVS PR_SET_VMA. Not here: PR_SET_PDEATHSIG.
_PRCTL = (3, 15, 16, 39, 0x53564D41)

O_TRUNC = 0o1000
_O_ACCMODE = 0o3


class Instruction(NamedTuple):
    """struct sock_filter."""

    code: int
    jump_true: int
    jump_false: int
    value: int


Program = tuple[Instruction, ...]

# Stands for the worker's process id in a program that all workers share.
_PROCESS_ID = 0xFFFFFFFF


class Filter(NamedTuple):
    """A program as the kernel takes it, complete but for the process id, which goes to `process_id_at`."""

    code: bytes
    process_id_at: int

    @classmethod
    def of(cls, program: Program) -> Filter:
        code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
        [position] = [index for index, step in enumerate(program) if step.value == _PROCESS_ID]
        return cls(code, 8 * position + 4)

    def for_process(self, pid: int) -> bytes:
        return self.code[: self.process_id_at] + struct.pack("=I", pid) + self.code[self.process_id_at + 4 :]


def available() -> bool:
    """Whether the kernel filters system calls here and there is a table for this architecture."""
    architecture = syscalls.this_architecture()
    if architecture is None:
        return False
    number = syscalls.number(syscalls.SECCOMP, architecture)
    assert number is not None
    try:
        libc.syscall(number, GET_ACTION_AVAIL, 0, struct.pack("=I", RET_ERRNO))
    except OSError:
        return False
    return True


def build(architecture: Architecture) -> Program:
    """The filter of all workers on this architecture, but for the process id."""
    answers: dict[int, Program] = {}
    for call in syscalls.ALLOWED:
        _put(answers, call, architecture, _allow())
    for call, answer in _conditions():
        _put(answers, call, architecture, answer)
    _put(answers, syscalls.CLONE3, architecture, _refuse(errno.ENOSYS))
    return (
        Instruction(_LOAD_WORD, 0, 0, _OFFSET_ARCHITECTURE),
        Instruction(_JUMP_EQUAL, 1, 0, architecture.audit),
        *_refuse(),  # 32-bit calls on a 64-bit kernel have other numbers
        Instruction(_LOAD_WORD, 0, 0, _OFFSET_NUMBER),
        # x32 calls carry bit 30: far above, so they do not exist either.
        Instruction(_JUMP_GREATER_EQUAL, 0, 1, syscalls.LAST_KNOWN + 1),
        *_refuse(errno.ENOSYS),
        *_search(_partition(answers)),
    )


def _conditions() -> tuple[tuple[syscalls.Call, Program], ...]:
    return (
        (syscalls.OPEN, _truncates_only_for_writing(1)),
        (syscalls.OPENAT, _truncates_only_for_writing(2)),
        (syscalls.CLONE, _is_a_thread()),
        (syscalls.FCNTL, _one_of(1, _FCNTL)),
        (syscalls.IOCTL, _one_of(1, _IOCTL)),
        (syscalls.PRCTL, _one_of(0, _PRCTL)),
        (syscalls.PRLIMIT64, _is_null(2)),  # reading limits, not setting them
        (syscalls.TGKILL, _one_of(0, (_PROCESS_ID,))),  # abort() and raise()
        (syscalls.SENDTO, _is_null(4)),  # on a connected channel, to nowhere else
        (syscalls.SCHED_SETAFFINITY, _one_of(0, (0,))),
    )


def install(shared: Filter) -> None:
    """Filter every thread of this process from now on. Needs no_new_privs. Raises `OSError`."""
    architecture = syscalls.this_architecture()
    number = syscalls.number(syscalls.SECCOMP, architecture) if architecture is not None else None
    assert number is not None  # available() is False on such a machine
    code = shared.for_process(os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))  # struct sock_fprog
    result = libc.syscall(number, SET_MODE_FILTER, FILTER_FLAG_TSYNC, header)
    if result != 0:  # the id of a thread that could not be bound
        raise OSError(errno.EBUSY, f"thread {result} does not take the filter")


def _allow() -> Program:
    return (Instruction(_RETURN, 0, 0, RET_ALLOW),)


def _refuse(code: int = errno.EPERM) -> Program:
    return (Instruction(_RETURN, 0, 0, RET_ERRNO | code),)


def _argument(index: int, *, high: bool = False) -> Instruction:
    return Instruction(_LOAD_WORD, 0, 0, _OFFSET_ARGUMENTS + 8 * index + (4 if high else 0))


def _one_of(index: int, values: Sequence[int]) -> Program:
    """Allow when the low word of the argument is one of `values` (the kernel reads these as 32 bits)."""
    tests = [
        Instruction(_JUMP_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)
    ]
    return (_argument(index), *tests, *_refuse(), *_allow())


def _is_null(index: int) -> Program:
    return (
        _argument(index),
        Instruction(_JUMP_EQUAL, 0, 2, 0),
        _argument(index, high=True),
        Instruction(_JUMP_EQUAL, 1, 0, 0),
        *_refuse(),
        *_allow(),
    )


def _is_a_thread() -> Program:
    return (
        _argument(0),
        Instruction(_JUMP_SET, 0, 1, CLONE_THREAD),
        Instruction(_JUMP_SET, 0, 1, _CLONE_REFUSED),
        *_refuse(),
        *_allow(),
    )


def _truncates_only_for_writing(index: int) -> Program:
    """Before ABI 3 Landlock lets O_RDONLY | O_TRUNC empty any file that may be read."""
    return (
        _argument(index),
        Instruction(_AND, 0, 0, O_TRUNC | _O_ACCMODE),
        Instruction(_JUMP_EQUAL, 1, 0, O_TRUNC),
        Instruction(_JUMP_EQUAL, 0, 1, O_TRUNC | _O_ACCMODE),
        *_refuse(),
        *_allow(),
    )


def _put(answers: dict[int, Program], call: syscalls.Call, machine: Architecture, answer: Program) -> None:
    number = syscalls.number(call, machine)
    if number is not None:
        answers[number] = answer


def _partition(answers: dict[int, Program]) -> list[tuple[int, Program]]:
    """(first number, answer) of each run of neighbours with one answer; together they cover all numbers."""
    numbered = ((number, answers.get(number, _refuse())) for number in range(syscalls.LAST_KNOWN + 1))
    return [next(run) for _, run in itertools.groupby(numbered, key=lambda pair: pair[1])]


def _search(runs: Sequence[tuple[int, Program]]) -> Program:
    """A binary search for the run that holds the number in the accumulator."""
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    below, above = _search(runs[:middle]), _search(runs[middle:])
    if len(below) > 255:  # a jump is one byte
        raise ValueError("the filter has grown too long for one-byte jumps")
    return (Instruction(_JUMP_GREATER_EQUAL, len(below), 0, runs[middle][0]), *below, *above)
