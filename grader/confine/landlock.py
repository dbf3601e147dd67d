"""Landlock: a process takes away its own rights to files, TCP, abstract sockets and signals.

Constants and structures: Linux, `include/uapi/linux/landlock.h`. A right that a ruleset *handles* is refused
everywhere except beneath the paths that a rule names; rules only ever add up, so what shall stay unreadable
must never lie beneath a granted path.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

from grader.confine import libc, syscalls

CREATE_RULESET_VERSION = 1 << 0
RULE_PATH_BENEATH = 1
RESTRICT_SELF_LOG_SAME_EXEC_OFF = 1 << 0  # ABI 7: refusals are expected here, keep them out of the audit log

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_CHAR = 1 << 6
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_FIFO = 1 << 10
MAKE_BLOCK = 1 << 11
MAKE_SYM = 1 << 12
REFER = 1 << 13  # ABI 2; before it, moving between folders is always refused
TRUNCATE = 1 << 14  # ABI 3; before it, seccomp refuses truncation of what is not open for writing
IOCTL_DEV = 1 << 15  # ABI 5

NET_BIND_TCP = 1 << 0  # ABI 4
NET_CONNECT_TCP = 1 << 1  # ABI 4

SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0  # ABI 6
SCOPE_SIGNAL = 1 << 1  # ABI 6

READ = READ_FILE | READ_DIR
# Executing, devices, sockets, links and pipes are nobody's business, in the scratch folder neither.
SCRATCH = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


def abi() -> int:
    """The version the running kernel speaks; 0 where Landlock is not built in, not enabled or hidden.

    Asked by the system call itself: a list of security modules may be absent though Landlock is there.
    """
    architecture = syscalls.this_architecture()
    if architecture is None:
        return 0
    number = syscalls.number(syscalls.LANDLOCK_CREATE_RULESET, architecture)
    assert number is not None
    try:
        return libc.syscall(number, None, 0, CREATE_RULESET_VERSION)
    except OSError:
        return 0


def _file_rights(version: int) -> int:
    rights = (1 << 13) - 1  # EXECUTE to MAKE_SYM
    if version >= 2:
        rights |= REFER
    if version >= 3:
        rights |= TRUNCATE
    if version >= 5:
        rights |= IOCTL_DEV
    return rights


def create_ruleset(version: int) -> int:
    """A new ruleset that handles all that ABI `version` knows; returns its descriptor (close-on-exec)."""
    attributes = struct.pack("=Q", _file_rights(version))
    if version >= 4:
        attributes += struct.pack("=Q", NET_BIND_TCP | NET_CONNECT_TCP)
    if version >= 6:
        attributes += struct.pack("=Q", SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL)
    return libc.syscall(_number(syscalls.LANDLOCK_CREATE_RULESET), attributes, len(attributes), 0)


def allow_path(ruleset: int, path: Path, rights: int, version: int) -> bool:
    """Grant `rights` on `path` and all beneath it. False when there is no such path for this user."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    try:
        allow_descriptor(ruleset, descriptor, rights, version)
    finally:
        os.close(descriptor)
    return True


def allow_descriptor(ruleset: int, descriptor: int, rights: int, version: int) -> None:
    """Like `allow_path`, for a file or folder that is open already (O_PATH is enough)."""
    rights &= _file_rights(version)
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _OF_FILES
    rule = struct.pack("=Qi", rights, descriptor)  # packed, 12 bytes
    libc.syscall(_number(syscalls.LANDLOCK_ADD_RULE), ruleset, RULE_PATH_BENEATH, rule, 0)


def restrict_self(ruleset: int, version: int) -> None:
    """Bind the calling thread, and whatever it starts later, for good. Needs no_new_privs."""
    flags = RESTRICT_SELF_LOG_SAME_EXEC_OFF if version >= 7 else 0
    libc.syscall(_number(syscalls.LANDLOCK_RESTRICT_SELF), ruleset, flags)


def _number(call: syscalls.Call) -> int:
    architecture = syscalls.this_architecture()
    number = syscalls.number(call, architecture) if architecture is not None else None
    assert number is not None  # abi() is 0 on such a machine, nobody comes here
    return number
