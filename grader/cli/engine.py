"""`kata engine`: the warm process behind quick verdicts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from grader.cli import console
from grader.cli.app import App, pass_app
from grader.errors import UsageError
from grader.exit_codes import ExitCode

if TYPE_CHECKING:
    from grader.engine.shared import SharedEngine


@click.group(
    "engine",
    epilog="""\b
Examples:
  kata engine status
  kata engine stop
  KATA_ENGINE=off kata grade   without it""",
)
def engine_command() -> None:
    """The warm process behind quick verdicts.

    It has PyTorch loaded, so that a grade need not wait for that. It is started by itself, serves you alone,
    and leaves after 30 idle minutes. Everything works without it, only slower.
    """


@engine_command.command("status", epilog="\b\nExample:\n  kata engine status")
@click.pass_context
def status_command(ctx: click.Context) -> None:
    """Whether it runs. Exit code 1 when it does not."""
    engine = _engine(ctx.ensure_object(App))
    others = engine.others()
    for other in others:
        left = other.status()
        if left is not None:
            console.say(
                f"Process   {left.pid} is an engine from before the program changed; nothing asks it."
            )
    if others:
        console.say("          kata engine stop ends it.")
    status = engine.status()
    if status is None:
        console.say("No engine is running. The next grade starts one.")
        ctx.exit(ExitCode.NOT_PASSED)
    minutes, seconds = divmod(round(status.seconds), 60)
    console.say(f"Process   {status.pid}, its host {status.host}")
    idle = round(status.idle_seconds / 60)
    console.say(f"Running   for {minutes} min {seconds} s; leaves after {idle} idle minutes")
    console.say(f"Graded    {status.grades}, {status.running} of them under way")
    console.say(f"Memory    {status.bytes / 2**20:.0f} MB")


@engine_command.command("stop", epilog="\b\nExample:\n  kata engine stop")
@pass_app
def stop_command(app: App) -> None:
    """Let it end what it is grading, and leave; also one from before the program was installed anew."""
    engine = _engine(app)
    stopped = [one.stop() for one in (engine, *engine.others())]
    console.say("The engine has stopped." if any(stopped) else "No engine was running.")


@engine_command.command("run", epilog="\b\nExample:\n  kata engine run   until Ctrl-C")
@pass_app
def run_command(app: App) -> None:
    """Be the engine, in this terminal."""
    from grader.engine import daemon

    engine = _engine(app)
    console.say(f"Listening on {console.place(engine.where.socket)}; Ctrl-C ends it.")
    if not daemon.run(engine.where):
        raise UsageError("An engine runs already, or is starting.", "See `kata engine status`.")


def _engine(app: App) -> SharedEngine:
    from grader.engine.shared import SharedEngine

    engine = SharedEngine.of({**os.environ, "KATA_ENGINE": "on"}, app.catalog.roots)
    if engine is None:
        raise UsageError(
            "There is no engine here: it needs Linux, and a runtime folder that is yours alone.",
            "Grading works without it, only slower.",
        )
    return engine
