"""What a worker may use up, by setrlimit(2). The kernel enforces these; nobody has to watch."""

from __future__ import annotations

import os
import sys
import time

from grader.records import Record

if sys.platform != "win32":
    import resource

MIB = 1 << 20


class Limits(Record):
    """The limits of one worker. Where a platform has no such limit, or its own is lower, that one stays."""

    memory: int = 2048 * MIB  # bytes of address space beyond what is mapped when the worker is confined
    # Of all threads together, from now on. The judge's deadline comes first, also where a caller gives a
    # grade an hour; this is for a worker whose judge does not end it.
    cpu_seconds: int = 2 * 3600
    file_size: int = 16 * MIB  # bytes of any one file it writes
    open_files: int = 256
    # Beyond what the user runs when a policy is prepared: the kernel counts processes and threads of the
    # whole user, so this stops a flood of threads and nothing smaller. Root is not bound by it.
    threads: int = 2048


def user_processes() -> int:
    """How many processes and threads this user runs, as far as /proc tells; 0 where there is no /proc."""
    count = 0
    try:
        folders = list(os.scandir("/proc"))
    except OSError:
        return 0
    for folder in folders:
        if not folder.name.isdigit():
            continue
        try:
            if folder.stat().st_uid == os.getuid():
                count += max(os.stat(f"{folder.path}/task").st_nlink - 2, 1)  # noqa: PTH116 - once per process
        except OSError:
            continue  # it ended meanwhile
    return count


def apply(limits: Limits, processes: int) -> tuple[str, ...]:
    """Set the limits of this process for good; returns the names of those that the platform has.

    `processes` is how many processes and threads the user ran before (`user_processes`).
    """
    if sys.platform == "win32":
        return ()
    wanted = [
        ("CORE", 0),
        ("MEMLOCK", 0),
        ("MSGQUEUE", 0),
        ("FSIZE", limits.file_size),
        ("NOFILE", limits.open_files),
        ("NPROC", processes + limits.threads),
        ("CPU", int(time.process_time()) + limits.cpu_seconds),
    ]
    mapped = _mapped_bytes()
    if mapped is not None:
        wanted.append(("AS", mapped + limits.memory))
    done = []
    for name, value in wanted:
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            _lower(kind, value)
            done.append(name)
    return tuple(done)


def _lower(kind: int, value: int) -> None:
    # One second between soft and hard: SIGXCPU names the reason in the exit status before SIGKILL comes.
    ceiling = value + 1 if kind == resource.RLIMIT_CPU else value
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(kind, (min(value, ceiling), ceiling))


def _mapped_bytes() -> int | None:
    """Address space in use; None where it is not known (macOS ignores RLIMIT_AS anyway)."""
    try:
        descriptor = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Not through Path and io: in a fresh fork every object they touch is a page to copy, 1.4 ms in all.
        return int(os.read(descriptor, 256).split()[0]) * resource.getpagesize()
    finally:
        os.close(descriptor)
