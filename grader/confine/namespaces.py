"""User, network, IPC and mount namespaces: an extra layer for the process that hosts the workers.

Never the only layer: many systems refuse them to ordinary users. Entered once by the host, before it
imports torch, and inherited by all its forks, so a worker pays nothing. Inside there is no network device and
no System V memory of the outside, and the scratch folders lie on a file system of bounded size that ends with
the host. A process namespace is left out: a worker cannot fork, so there is nothing it could leave behind.

Constants: Linux, `include/uapi/linux/sched.h` and `include/uapi/linux/mount.h`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path

from grader.confine import libc, syscalls

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_NOEXEC = 8


def enter(scratch: Path, scratch_bytes: int) -> None:
    """Move this process, which must have one thread, into namespaces of its own, with an empty file system of
    `scratch_bytes` mounted on the folder `scratch`.

    Raises `OSError` where the system refuses; then nothing has changed that a worker would notice. The user
    keeps its number; capabilities are those of the new user namespace until they are dropped.
    """
    user, group = os.getuid(), os.getgid()
    _call(syscalls.UNSHARE, CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS)
    # user_namespaces(7): an ordinary user may map itself alone, and the group only once setgroups is off.
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    # The mounts of a new user namespace's mount namespace do not propagate outwards.
    options = f"size={scratch_bytes},nr_inodes=16384,mode=700".encode()
    _call(
        syscalls.MOUNT,
        _text(b"kata-scratch"),
        _text(os.fsencode(scratch)),
        _text(b"tmpfs"),
        _MS_NOSUID | _MS_NODEV | _MS_NOEXEC,
        _text(options),
    )


# What `offered` runs in an interpreter of its own: entering cannot be undone.
_PROBE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
ok = libc.unshare(int(sys.argv[1]))
print("" if ok == 0 else os.strerror(ctypes.get_errno()))
"""


def offered() -> str | None:
    """None if this user may enter such namespaces, else why not. Tried by a process of its own."""
    if sys.platform != "linux":
        return "only Linux has them"
    flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS
    try:
        tried = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROBE, str(flags)],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if tried.returncode != 0:
        return f"the trial ended with status {tried.returncode}"
    return tried.stdout.strip() or None


def _call(call: syscalls.Call, *arguments: int | ctypes.Array[ctypes.c_char]) -> None:
    architecture = syscalls.this_architecture()
    number = syscalls.number(call, architecture) if architecture is not None else None
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    libc.syscall(number, *arguments)


def _text(value: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(value)
