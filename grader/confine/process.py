"""Small things a process does about itself and its children. Constants: Linux, `include/uapi/linux/prctl.h`,
`include/uapi/linux/capability.h`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.confine import libc, syscalls

if sys.platform != "win32":
    import resource

PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39

_SIGKILL = 9  # Windows' signal module does not name it

CAP_DAC_READ_SEARCH = 1 << 2
_CAPABILITY_VERSION_3 = 0x20080522

KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


def clean_environment(scratch: Path) -> dict[str, str]:
    """All that a worker's environment holds: nothing of the caller's but the language and the time zone.

    Give it to the process that hosts workers when it is started: what a process was started with stays
    in its memory, and so in that of all its forks (`scrub_environment` is for hosts that could not be).
    """
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {
        "LANG": "C.UTF-8",
        **kept,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch),
        "USER": "candidate",
        "LOGNAME": "candidate",
        "PATH": os.defpath,
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def scrub_environment(environment: Mapping[str, str]) -> None:
    """Replace this process's environment, and on Linux wipe the memory that held it.

    /proc/self/environ and a look through the process's own memory would show it otherwise: the block that the
    process was started with, and Python's copies of the values.
    """
    if sys.platform == "linux":
        for value in os.environb.values():
            if len(value) > 1:  # those of one byte are everybody's
                ctypes.memset(id(value) + bytes.__basicsize__ - 1, 0, len(value))
    os.environ.clear()  # calls unsetenv, so nothing points into the block any more
    os.environ.update(environment)
    if sys.platform == "linux":
        # proc(5): fields 50 and 51 are env_start and env_end; the name in brackets may hold blanks.
        stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        fields = stat.rpartition(")")[2].split()
        start, end = int(fields[50 - 3]), int(fields[51 - 3])
        if 0 < start < end:
            ctypes.memset(start, 0, end - start)


def close_descriptors(keep: Iterable[int]) -> None:
    """Close all descriptors but `keep`; 0, and 1 and 2 unless kept, become /dev/null.

    0 to 2 are never left closed: the next file to be opened would take their place. Nothing on Windows,
    where a new process inherits none.
    """
    if sys.platform == "win32":
        return
    kept = set(keep) - {0}
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        if standard not in kept and standard != null:
            os.dup2(null, standard)
    # Listed, not counted up to a limit: limits may have been lowered below what is open.
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - cheap in a fresh fork
        descriptor = int(name)
        if descriptor > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):  # the listing's own is gone already
                os.close(descriptor)


def lead_session() -> None:
    """A session and a process group of its own: no terminal to type into, one group to kill."""
    if sys.platform != "win32" and os.getpgrp() != os.getpid():
        os.setsid()


def die_with_parent(parent: int) -> None:
    """SIGKILL for this process when the thread that forked it ends. `parent` is that process's id."""
    libc.prctl(PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:  # it ended before the line above
        os.kill(os.getpid(), _SIGKILL)


def no_new_privileges() -> None:
    """No setuid program gives this process or its children anything. Landlock and seccomp ask for it."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities(keep: int = 0) -> None:
    """Give up all capabilities but the bits in `keep`: root becomes a user called root."""
    architecture = syscalls.this_architecture()
    if architecture is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    get, put = (syscalls.number(call, architecture) for call in (syscalls.CAPGET, syscalls.CAPSET))
    assert get is not None
    assert put is not None
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)  # effective, permitted, inheritable: low words, then high words
    libc.syscall(get, header, data)
    keep &= struct.unpack("=6I", data.raw)[1]
    libc.syscall(put, header, struct.pack("=6I", keep, keep, 0, 0, 0, 0))


def harden_judge() -> None:
    """For processes that hold secrets: not readable or traceable by the same user, no core file.

    Children inherit it. Takes the process's own files in /proc away from other processes of its user.
    """
    if sys.platform == "linux":
        libc.prctl(PR_SET_DUMPABLE, 0)
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processor_time(pid: int) -> float | None:
    """Seconds of processor time that the process has used, with all its threads; None where nobody counts.

    proc(5): fields 14 and 15 of /proc/PID/stat, utime and stime, in clock ticks. Its first thread's name in
    brackets may hold blanks.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[14 - 3]) + int(fields[15 - 3])) / os.sysconf("SC_CLK_TCK")


def starved(pid: int) -> float:
    """Seconds that the process was ready to run while others had the processors; 0 where nobody counts them.

    proc(5): the second number of /proc/PID/schedstat, in nanoseconds, of the first thread.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def has_ended(pid: int) -> bool:
    """Whether there is no such process, or one that nobody has collected yet (where nobody is init)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[:1] in (["Z"], ["X"])


def adopt_orphans() -> None:
    """Make this process the parent of whatever its descendants leave behind, so that `sweep` finds it."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)


def sweep(keep: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Kill and collect all children of this process but `keep`; returns their ids.

    After `adopt_orphans`, and once a worker has ended, these are what that worker left behind. Killing one
    may hand us its children, so it goes on until there are none.
    """
    swept: list[int] = []
    while found := [child for child in _children() if child not in keep and child not in swept]:
        for child in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, _SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)
        swept += found
    return tuple(swept)


def _children() -> list[int]:
    """The ids of this process's children, of all its threads."""
    me = str(os.getpid())
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it ended meanwhile
        if stat.rpartition(")")[2].split()[1] == me:
            found.append(int(folder.name))
    return found
