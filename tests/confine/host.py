"""A host of workers for the tests: imports torch once, then forks a child for every line it reads.

Run as a script by `arena.py`. Each line is a JSON request; the child confines itself as asked, runs the
code and sends back what came of it. A process of its own because the test process has threads and other
people's modules, and must never be the one that is confined.
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import json
import multiprocessing.popen_fork  # noqa: F401 - the tests' ordinary user may not reach the interpreter later
import os
import platform
import signal
import socket
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import torch

from grader.confine import apply, libc, policy, process, syscalls

NOBODY = 65534
PR_SET_KEEPCAPS = 8
LEVELS: tuple[policy.Level, ...] = ("strict", "standard", "process")


def raw(x86_64: int, aarch64: int, *arguments: Any) -> int:
    """A system call by its number on this machine."""
    return libc.syscall(x86_64 if platform.machine() == "x86_64" else aarch64, *arguments)


def become_nobody(capabilities: int) -> None:
    """An ordinary user. With CAP_DAC_READ_SEARCH it can use an interpreter that only root can reach."""
    libc.prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    process.drop_capabilities(capabilities)


def start_victim() -> int:
    """A process of the same user that waits to be attacked."""
    parent = os.getpid()
    if (pid := os.fork()) == 0:
        process.die_with_parent(parent)
        while True:
            signal.pause()
    return pid


def answer(
    request: dict[str, Any], names: dict[str, Any], prepared: apply.Prepared | None, keep: int
) -> dict[str, Any]:
    """In the child: confine, run, describe."""
    result: dict[str, Any] = {}
    if request["user"] != "same":
        become_nobody(process.CAP_DAC_READ_SEARCH if request["user"] == "nobody with the interpreter" else 0)
    if prepared is not None:
        limits = msgspec.structs.replace(prepared.policy.limits, **request["limits"])
        chosen = msgspec.structs.replace(prepared.policy, limits=limits)
        applied = apply.confine(
            dataclasses.replace(prepared, policy=chosen), Path(names["SCRATCH"]), (2, keep)
        )
        result = msgspec.to_builtins(applied)
    try:
        exec(compile(request["code"], "<snippet>", "exec"), names)
    except OSError as error:
        return result | {
            "outcome": "error",
            "type": type(error).__name__,
            "errno": error.errno,
            "text": str(error),
        }
    except Exception as error:  # noqa: BLE001 - whatever the snippet raised is the answer
        return result | {"outcome": "error", "type": type(error).__name__, "errno": None, "text": str(error)}
    return result | {"outcome": "ok", "value": names.get("result")}


def serve(arena: Path) -> None:
    scratch = arena / "scratch"
    prepared = {
        level: apply.prepare(policy.worker_policy(scratch, (policy.unnamed(arena / "denied"),), level))
        for level in LEVELS
    }
    warm = torch.ones(2, 2, requires_grad=True)
    (warm @ warm).sum().backward()
    names: dict[str, Any] = {
        "CHECKOUT": str(Path(__file__).resolve().parents[2]),
        "HOME": str(arena / "home"),
        "OUTSIDE": str(arena / "outside"),
        "OTHER": str(scratch / "another-worker"),
        "HOST": os.getpid(),
        "VICTIM": start_victim(),
        "__name__": "snippet",
    }
    names |= {"raw": raw, "syscalls": syscalls, "ctypes": ctypes, "errno": errno, "os": os}
    names |= {"signal": signal, "socket": socket, "struct": struct}
    for line in sys.stdin:
        request = json.loads(line)
        own = Path(tempfile.mkdtemp(dir=scratch))
        if request["user"] != "same":
            os.chown(own, NOBODY, NOBODY)
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                result = answer(
                    request, names | {"SCRATCH": str(own)}, prepared.get(request["level"]), writing
                )
                os.write(writing, json.dumps(result).encode())
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            result = json.loads(stream.read() or b'{"outcome": "died"}')
        result["status"] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps(result), flush=True)
    os.kill(names["VICTIM"], signal.SIGKILL)
    os.waitpid(names["VICTIM"], 0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
