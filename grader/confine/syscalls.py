"""The system calls a worker may make, with their numbers on x86-64 and aarch64.

Numbers: Linux, `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h` (the table
that aarch64 uses), as installed by linux-libc-dev in `asm/unistd_64.h` and `asm-generic/unistd.h`. None: the
architecture has no such call. Whatever stands in none of these groups is refused, so a call that is new
to the kernel is refused too until somebody has thought about it.
"""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple


class Call(NamedTuple):
    """One system call and its number on each architecture."""

    name: str
    x86_64: int | None
    aarch64: int | None


class Architecture(NamedTuple):
    """What a filter must know about the machine. `audit` is AUDIT_ARCH_* of `linux/audit.h`."""

    name: str
    audit: int


X86_64 = Architecture("x86_64", 0xC000003E)
AARCH64 = Architecture("aarch64", 0xC00000B7)

# The highest number in the tables that this list was written from (file_setattr, Linux 6.17). Above it the
# answer is "no such call", so that a C library falls back to what it used before.
LAST_KNOWN = 469

# On descriptors that are open already. No splice, no vmsplice, no memfd: nothing needs them.
READ_AND_WRITE = (
    Call("read", 0, 63),
    Call("write", 1, 64),
    Call("readv", 19, 65),
    Call("writev", 20, 66),
    Call("pread64", 17, 67),
    Call("pwrite64", 18, 68),
    Call("preadv", 295, 69),
    Call("pwritev", 296, 70),
    Call("preadv2", 327, 286),
    Call("pwritev2", 328, 287),
    Call("lseek", 8, 62),
    Call("sendfile", 40, 71),
    Call("copy_file_range", 326, 285),
    Call("close", 3, 57),
    Call("close_range", 436, 436),
    Call("dup", 32, 23),
    Call("dup2", 33, None),
    Call("dup3", 292, 24),
    Call("pipe", 22, None),
    Call("pipe2", 293, 59),
    Call("eventfd", 284, None),
    Call("eventfd2", 290, 19),
    Call("flock", 73, 32),
    Call("fsync", 74, 82),
    Call("fdatasync", 75, 83),
    Call("ftruncate", 77, 46),
    Call("fallocate", 285, 47),
    Call("fadvise64", 221, 223),
)
# By name: Landlock decides which. Not here: truncate (Landlock covers it from ABI 3 only), link, symlink,
# mknod, chmod, chown, utime, extended attributes (Landlock covers none of these), statmount, file handles.
FILES = (
    Call("creat", 85, None),
    Call("access", 21, None),
    Call("faccessat", 269, 48),
    Call("faccessat2", 439, 439),
    Call("stat", 4, None),
    Call("lstat", 6, None),
    Call("fstat", 5, 80),
    Call("newfstatat", 262, 79),
    Call("statx", 332, 291),
    Call("statfs", 137, 43),
    Call("fstatfs", 138, 44),
    Call("readlink", 89, None),
    Call("readlinkat", 267, 78),
    Call("getdents", 78, None),
    Call("getdents64", 217, 61),
    Call("getcwd", 79, 17),
    Call("chdir", 80, 49),
    Call("fchdir", 81, 50),
    Call("mkdir", 83, None),
    Call("mkdirat", 258, 34),
    Call("rmdir", 84, None),
    Call("unlink", 87, None),
    Call("unlinkat", 263, 35),
    Call("rename", 82, None),
    Call("renameat", 264, 38),
    Call("renameat2", 316, 276),
    Call("umask", 95, 166),
)
# No memory of other processes, no locking, no userfaultfd, no protection keys.
MEMORY = (
    Call("mmap", 9, 222),
    Call("munmap", 11, 215),
    Call("mprotect", 10, 226),
    Call("mremap", 25, 216),
    Call("madvise", 28, 233),
    Call("brk", 12, 214),
    Call("msync", 26, 227),
    Call("membarrier", 324, 283),
    Call("get_mempolicy", 239, 236),
)
# Its own threads and clocks; no priority, no timers that signal.
THREADS_AND_TIME = (
    Call("futex", 202, 98),
    Call("futex_waitv", 449, 449),
    Call("set_robust_list", 273, 99),
    Call("get_robust_list", 274, 100),
    Call("set_tid_address", 218, 96),
    Call("rseq", 334, 293),
    Call("exit", 60, 93),
    Call("exit_group", 231, 94),
    Call("sched_yield", 24, 124),
    Call("sched_getaffinity", 204, 123),
    Call("sched_getparam", 143, 121),
    Call("sched_getscheduler", 145, 120),
    Call("sched_get_priority_max", 146, 125),
    Call("sched_get_priority_min", 147, 126),
    Call("getcpu", 309, 168),
    Call("restart_syscall", 219, 128),
    Call("nanosleep", 35, 101),
    Call("clock_nanosleep", 230, 115),
    Call("clock_gettime", 228, 113),
    Call("clock_getres", 229, 114),
    Call("gettimeofday", 96, 169),
    Call("time", 201, None),
    Call("times", 100, 153),
    Call("getitimer", 36, 102),
    Call("setitimer", 38, 103),
    Call("alarm", 37, None),
    Call("arch_prctl", 158, None),
)
# Receiving; the only sending is tgkill to itself, below.
SIGNALS = (
    Call("rt_sigaction", 13, 134),
    Call("rt_sigprocmask", 14, 135),
    Call("rt_sigreturn", 15, 139),
    Call("rt_sigpending", 127, 136),
    Call("rt_sigtimedwait", 128, 137),
    Call("rt_sigsuspend", 130, 133),
    Call("sigaltstack", 131, 132),
    Call("pause", 34, None),
)
WAITING = (
    Call("poll", 7, None),
    Call("ppoll", 271, 73),
    Call("select", 23, None),
    Call("pselect6", 270, 72),
    Call("epoll_create", 213, None),
    Call("epoll_create1", 291, 20),
    Call("epoll_ctl", 233, 21),
    Call("epoll_wait", 232, None),
    Call("epoll_pwait", 281, 22),
    Call("epoll_pwait2", 441, 441),
    Call("wait4", 61, 260),
    Call("waitid", 247, 95),
)
# Asking, never setting.
ABOUT_ITSELF = (
    Call("getpid", 39, 172),
    Call("gettid", 186, 178),
    Call("getppid", 110, 173),
    Call("getpgid", 121, 155),
    Call("getpgrp", 111, None),
    Call("getsid", 124, 156),
    Call("getuid", 102, 174),
    Call("geteuid", 107, 175),
    Call("getgid", 104, 176),
    Call("getegid", 108, 177),
    Call("getresuid", 118, 148),
    Call("getresgid", 120, 150),
    Call("getgroups", 115, 158),
    Call("getrlimit", 97, 163),
    Call("getrusage", 98, 165),
    Call("getpriority", 140, 141),
    Call("sysinfo", 99, 179),
    Call("uname", 63, 160),
    Call("getrandom", 318, 278),
)
# For a channel that is a socket: nothing that makes, names or connects one, nothing that passes descriptors.
OPEN_SOCKETS = (
    Call("recvfrom", 45, 207),
    Call("shutdown", 48, 210),
    Call("getsockname", 51, 204),
    Call("getpeername", 52, 205),
    Call("getsockopt", 55, 209),
)

# Allowed for some arguments only: the conditions stand in seccomp.py.
OPEN = Call("open", 2, None)
OPENAT = Call("openat", 257, 56)
CLONE = Call("clone", 56, 220)
CLONE3 = Call("clone3", 435, 435)
FCNTL = Call("fcntl", 72, 25)
IOCTL = Call("ioctl", 16, 29)
PRCTL = Call("prctl", 157, 167)
PRLIMIT64 = Call("prlimit64", 302, 261)
TGKILL = Call("tgkill", 234, 131)
SENDTO = Call("sendto", 44, 206)
SCHED_SETAFFINITY = Call("sched_setaffinity", 203, 122)

# What this package itself calls, before the filter is on.
SECCOMP = Call("seccomp", 317, 277)
UNSHARE = Call("unshare", 272, 97)
MOUNT = Call("mount", 165, 40)
CAPGET = Call("capget", 125, 90)
CAPSET = Call("capset", 126, 91)
LANDLOCK_CREATE_RULESET = Call("landlock_create_ruleset", 444, 444)
LANDLOCK_ADD_RULE = Call("landlock_add_rule", 445, 445)
LANDLOCK_RESTRICT_SELF = Call("landlock_restrict_self", 446, 446)

ALLOWED = (
    *READ_AND_WRITE,
    *FILES,
    *MEMORY,
    *THREADS_AND_TIME,
    *SIGNALS,
    *WAITING,
    *ABOUT_ITSELF,
    *OPEN_SOCKETS,
)


def this_architecture() -> Architecture | None:
    """The architecture of this machine; None when it is not Linux or there is no table for it."""
    if sys.platform != "linux":
        return None
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        return X86_64
    if machine in ("aarch64", "arm64"):
        return AARCH64
    return None


def number(call: Call, architecture: Architecture) -> int | None:
    """The number of `call` on `architecture`, None where there is no such call."""
    return call.x86_64 if architecture is X86_64 else call.aarch64
