"""System calls that Python's `os` does not offer, through ctypes; a failing call raises `OSError`."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library that the interpreter itself is linked against: nothing to install, nothing to find."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | bytes | None) -> int:
    """The raw system call `number`. Integers are passed as 64 bits, buffers by address, None as NULL.

    Raises `OSError` with the kernel's errno.
    """
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    function = _libc().syscall
    function.restype = ctypes.c_long
    result: int = function(ctypes.c_long(number), *wide)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, *arguments: int | ctypes.Array[ctypes.c_int]) -> int:
    """prctl(2) with unused arguments as zero. Raises `OSError`; on anything but Linux, ENOSYS."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "prctl is a system call of Linux")
    values = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    values += [ctypes.c_ulong(0)] * (4 - len(values))
    result: int = _libc().prctl(ctypes.c_int(option), *values)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
