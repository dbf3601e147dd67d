"""Whole processes, as a person starts them: `kata grade` cold and warm, `--help`, a save in `watch`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from figures import Figure, paired, ratio

from grader.catalog import load_catalog
from grader.engine.shared import SharedEngine

KATA = [sys.executable, "-c", "from grader.cli.main import main; main()"]
TORCH = [sys.executable, "-c", "import torch"]

# As on macOS, where the worker is a fresh interpreter.
SPAWNED = """
import subprocess, types
import grader.engine.subprocess_grade as once
COLD = "import sys, types, grader.engine.cold as cold; cold.sys = types.SimpleNamespace(platform='darwin')"
COLD += "; from grader.engine.subprocess_grade import main; main(*sys.argv[1:])"
def started(words, **more):
    place = words.index("-m")
    return subprocess.Popen([*words[:place], "-c", COLD, *words[place + 2:]], **more)
once.subprocess = types.SimpleNamespace(**{**vars(subprocess), "Popen": started})
from grader.cli.main import main
main()
"""

MANY_CALLS = {"cache": 0.35}  # a text comes in pieces: many calls for one output

TEN_LINES = """
import click
@click.group()
def cli():
    "A program."
@cli.command()
@click.argument("name")
def greet(name):
    "Say hello."
    click.echo(f"Hello {name}")
cli()
"""


def run(command: list[str], environment: Mapping[str, str], codes: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode()}")


@contextmanager
def desk() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with a right and a wrong answer, and an environment in which nothing of the user's is met."""
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        (folder / "run").mkdir(mode=0o700)
        right = load_catalog().get("v3").solution.read_text(encoding="utf-8")
        (folder / "right.py").write_text(right, encoding="utf-8")
        wrong = right.replace("math.sqrt(self.hidden_dim)", "self.hidden_dim")
        (folder / "wrong.py").write_text(wrong, encoding="utf-8")
        environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "KATA_HOME": str(folder / "home"),
        }
        environment.pop("KATA_ENGINE", None)
        yield folder, environment


@contextmanager
def warm(environment: Mapping[str, str]) -> Iterator[SharedEngine]:
    """The engine of that environment, ready."""
    engine = SharedEngine.of(environment)
    if engine is None:
        raise SystemExit("There is no engine on this machine.")
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = environment["XDG_RUNTIME_DIR"]
    try:
        engine.start()
        while not engine.is_running():
            threading.Event().wait(0.05)
        yield engine
    finally:
        engine.stop()
        os.environ.pop("XDG_RUNTIME_DIR")
        if before is not None:
            os.environ["XDG_RUNTIME_DIR"] = before


def cold_and_warm(rounds: int) -> list[Figure]:
    with desk() as (folder, environment):

        def torch() -> None:
            run(TORCH, environment)

        def graded(program: list[str], answer: str, *words: str) -> None:
            run([*program, "grade", str(folder / answer), "v3", *words], environment, (0, 1))

        cold = ratio("kata grade, cold", lambda: graded(KATA, "right.py", "--no-engine"), torch, 1.35, rounds)
        spawned = [sys.executable, "-c", SPAWNED]
        spawn = ratio(
            "kata grade, cold, worker spawned",
            lambda: graded(spawned, "right.py", "--no-engine"),
            torch,
            2.5,
            rounds,
        )
        with warm(environment):
            right = ratio(
                "kata grade, warm, right answer", lambda: graded(KATA, "right.py"), torch, 0.25, rounds
            )
            wrong = ratio(
                "kata grade, warm, diagnosed", lambda: graded(KATA, "wrong.py"), torch, 0.25, rounds
            )
        return [cold, spawn, right, wrong]


def katas(rounds: int) -> list[Figure]:
    """The solution of each kata, warm; an answer's run on an example; the short form beside the long one."""
    with desk() as (folder, environment), warm(environment):
        found = load_catalog().katas
        for kata in found:
            text = kata.solution.read_text(encoding="utf-8")
            (folder / f"{kata.id}.py").write_text(text, encoding="utf-8")

        def asked(*words: str, codes: tuple[int, ...] = (0,)) -> Callable[[], None]:
            return lambda: run([*KATA, *words], environment, codes)

        def beside_torch(name: str, work: Callable[[], None], goal: float) -> Figure:
            return ratio(name, work, lambda: run(TORCH, environment), goal, rounds)

        wrong = ("grade", str(folder / "wrong.py"), "v3")
        return [
            *(
                beside_torch(
                    f"kata grade, warm, {kata.id}",
                    asked("grade", str(folder / f"{kata.id}.py"), kata.id),
                    MANY_CALLS.get(kata.id, 0.3),
                )
                for kata in found
            ),
            beside_torch("kata run, warm", asked("run", str(folder / "right.py"), "v3"), 0.2),
            ratio(
                "the short form to the long one",
                asked(*wrong, codes=(1,)),
                asked(*wrong, "--full", codes=(1,)),
                1.05,
                rounds,
            ),
        ]


def helps(rounds: int) -> list[Figure]:
    with desk() as (_, environment):
        small = [sys.executable, "-c", TEN_LINES, "--help"]
        return [
            ratio(
                f"kata {word}", lambda word=word: run([*KATA, word], environment),  # type: ignore[misc]
                lambda: run(small, environment), 2.5, rounds,
            )
            for word in ("--help", "list")
        ]  # fmt: skip


def saves(rounds: int) -> list[Figure]:
    """From the end of a save to the verdict on the screen of `kata watch`."""
    with desk() as (folder, environment), warm(environment):
        answer = folder / "self_attention_v3.py"
        right, wrong = ((folder / name).read_text(encoding="utf-8") for name in ("right.py", "wrong.py"))
        answer.write_text(wrong, encoding="utf-8")
        command = [*KATA, "watch", str(answer), "v3", "--keep-going"]
        words = {**environment, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, env=words, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            verdicts = (line for line in watching.stdout if "points" in line and "of" in line)
            next(verdicts)
            times: list[float] = []

            def save() -> None:
                text = f"{wrong if len(times) % 2 else right}\n# {len(times)}\n"
                answer.write_text(text, encoding="utf-8")
                began = time.perf_counter()
                next(verdicts)
                times.append(time.perf_counter() - began)
                threading.Event().wait(0.3)  # as a person would, and for the rest of the report

            _, theirs = paired(save, lambda: run(TORCH, environment), rounds)
            watching.terminate()
    mine = median(times[1:])
    return [Figure("save to verdict, kata watch", mine / theirs, 0.15, detail=f"{mine * 1e3:.0f} ms")]
