"""Run a program as on a machine whose kernel lacks a means of confinement.

    python tests/trust/without.py landlock,seccomp PROGRAM [ARGUMENT…]

A system call filter, inherited by all that the program starts, answers "no such call" for it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

from grader.confine import libc, process, seccomp, syscalls

CALLS = {"landlock": syscalls.LANDLOCK_CREATE_RULESET, "seccomp": syscalls.SECCOMP}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


def take_away(names: list[str]) -> None:
    architecture = syscalls.this_architecture()
    assert architecture is not None
    steps = [(LOAD, 0, 0, 0)]
    for name in names:
        steps.append((EQUAL, 0, 1, syscalls.number(CALLS[name], architecture) or 0))
        steps.append((RETURN, 0, 0, seccomp.RET_ERRNO | errno.ENOSYS))
    steps.append((RETURN, 0, 0, seccomp.RET_ALLOW))
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    process.no_new_privileges()
    number = syscalls.number(syscalls.SECCOMP, architecture)
    assert number is not None
    libc.syscall(number, seccomp.SET_MODE_FILTER, 0, struct.pack("@HP", len(steps), ctypes.addressof(buffer)))


if __name__ == "__main__":
    take_away(sys.argv[1].split(","))
    os.execv(sys.argv[2], sys.argv[2:])
