"""`python -m grader.engine.subprocess_grade PID`: one grade in a process of its own.

The request comes on stdin, the answer goes to stdout.

Every grade without an engine is made so: what its caller knows (the history, the home) is not in the process
that the worker is forked from, threads and a cluster's tasks need neither import torch nor fork, and a judge
that misses its deadline takes nobody with it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec

from grader.catalog import Catalog, Kata
from grader.confine.policy import Level, unnamed
from grader.confine.process import clean_environment, die_with_parent
from grader.engine import deadline
from grader.engine.cold import START_SECONDS, answer_cold, cold_worker
from grader.engine.launch import kept_from_workers, no_room, user_site
from grader.engine.messages import Answer, Fault, Garbled, Request, pack, read_answer, read_request
from grader.errors import GraderFault, KataError
from grader.records import Grade, Options, Submission


def grade_in_subprocess(submission: Submission, kata: Kata, catalog: Catalog, options: Options) -> Grade:
    """Grade cold, in a fresh interpreter."""
    began = time.perf_counter()
    request = Request.of(submission, kata, catalog, options)
    grade = finish(launch(options.isolation, catalog.roots), request)
    total = {"total": round(time.perf_counter() - began, 4)}
    return msgspec.structs.replace(grade, seconds={**grade.seconds, **total})


def launch(level: Level, roots: Sequence[Path]) -> subprocess.Popen[bytes]:
    """The fresh interpreter, waiting for its request. Killing it ends the grade.

    It is told as little of the user as an engine is: what it knows, its worker inherits.
    """
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError as error:
        raise no_room("the folder for temporary files", error) from error
    deny = (*map(unnamed, roots), *kept_from_workers())
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.engine.subprocess_grade", str(os.getpid()), level, *deny],
        env={**clean_environment(temporary), **user_site()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("KATA_DEBUG") else subprocess.PIPE,
        start_new_session=True,  # an interruption of the caller's is for the caller
    )


def finish(process: subprocess.Popen[bytes], request: Request) -> Grade:
    """Hand it the request and wait for its grade; raises the judge's `KataError`."""
    grade = answered(process, request).grade
    assert grade is not None
    return grade


def answered(process: subprocess.Popen[bytes], request: Request) -> Answer:
    """Hand it the request and wait for its answer; raises the judge's `KataError`."""
    total = request.total_seconds
    at_most = deadline.seconds(request.kata.deadlines, total) + 2 * START_SECONDS
    with process:
        try:
            out, err = process.communicate(pack(request), at_most)
            answer = read_answer(io.BytesIO(out).read)
        except subprocess.TimeoutExpired:
            raise deadline.missed() from None
        except Garbled as error:
            if -process.returncode in deadline.SIGNALS:
                raise deadline.missed() from None
            said = (err or b"").decode(errors="replace").strip().splitlines()
            last = said[-1] if said else f"exit code {process.returncode}"
            raise GraderFault(
                f"A grade in a process of its own failed: {last}",
                "Run `kata doctor`; KATA_DEBUG=1 shows the traceback.",
            ) from error
        finally:
            process.kill()
            if process.wait() != 0:
                _clear_up()
    if answer.fault is not None:
        raise answer.fault.error()
    return answer


def _clear_up() -> None:
    """Remove the folder of a grade that was ended from outside."""
    from grader.engine.launch import remove_left

    remove_left()


def main(parent: str, name: str, *deny: str) -> None:
    """Nothing but the answer goes to standard output. The request is read when there is a worker."""
    if sys.platform == "linux":
        die_with_parent(int(parent))  # it may have ended already
    levels: dict[str, Level] = {level: level for level in get_args(Level)}
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    try:
        with cold_worker(levels[name], deny) as worker:
            request = read_request(sys.stdin.buffer.read)
            answer = answer_cold(request, worker)
    except KataError as error:
        answer = Answer(fault=Fault.of(error))
    with os.fdopen(answer_fd, "wb") as out:
        out.write(pack(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
