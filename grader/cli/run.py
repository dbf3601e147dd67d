"""`kata run`."""

from __future__ import annotations

from functools import partial

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.interview_guard import tell_interviews
from grader.cli.params import ANSWER_OR_KATA, isolation_option
from grader.confine.policy import Level
from grader.exit_codes import ExitCode
from grader.practice.targets import resolve_target
from grader.practice.trials import page, try_target


@click.command("run", epilog="\b\nExamples:\n  kata run\n  kata run v3\n  kata run answer.py")
@click.argument("what", nargs=-1, type=ANSWER_OR_KATA, metavar="[FILE] [ID]")
@isolation_option(default="standard")
@click.option("--no-engine", is_flag=True, help="Without the warm process: slower, the same outcome.")
@click.pass_context
def run_command(ctx: click.Context, *, what: tuple[str, ...], isolation: Level, no_engine: bool) -> None:
    """Your code on an example: what it returns, shapes line by line.

    No verdict and no attempt; it costs nothing in an interview either. FILE and ID are found as `kata grade`
    finds them. Exit code 1 when it raised.
    """
    from grader.records import Options

    app = ctx.ensure_object(App)
    target = resolve_target(what, app.folder, app.catalog, app.history)
    tell_interviews(app)
    options = Options(isolation=isolation, engine=not no_engine)
    tried = try_target(target, options, app.catalog, app.try_out, folder=app.folder)
    console.draw(partial(page, tried))
    ctx.exit(ExitCode.NOT_PASSED if tried.trial.reason else ExitCode.PASSED)
