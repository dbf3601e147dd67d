"""The command `kata`: the list of its commands, each loaded from its own module when it is asked for."""

from __future__ import annotations

import contextlib
import difflib
import gc
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from grader import __version__
from grader.cli import console, failures
from grader.cli.app import App
from grader.errors import UsageError

# In the order of the help: name -> the module that has a command function of that name.
COMMANDS = {
    "list": "browse",
    "show": "browse",
    "start": "begin",
    "edit": "begin",
    "grade": "grade",
    "run": "run",
    "watch": "watch",
    "debug": "debug",
    "hint": "learn",
    "solution": "learn",
    "questions": "study",
    "explain": "learn",
    "reset": "begin",
    "report": "past",
    "history": "past",
    "interview": "interview",
    "next": "memory",
    "plan": "study",
    "stats": "memory",
    "export": "transfer",
    "import": "transfer",
    "grade-all": "grade_all",
    "web": "web",
    "autograder": "autograder",
    "demo": "demo",
    "engine": "engine",
    "doctor": "doctor",
    "lint": "lint",
    "new": "new",
}

# What the help says of each: the first sentence of its own help, here so that the help loads no command.
SUMMARIES = {
    "list": "All katas, track by track, with your best score in each.",
    "show": "The interviewer's brief, and what gives points.",
    "start": "Put a kata's stub into your folder.",
    "edit": "Open your answer in $VISUAL or $EDITOR.",
    "grade": "Grade an answer: a .py file or a notebook.",
    "run": "Your code on an example: what it returns, shapes line by line.",
    "watch": "Grade on every save, until it passes.",
    "debug": "A file with bugs planted in it, to be found and mended.",
    "hint": "One more hint each time.",
    "solution": "The reference beside your own code, after a pass.",
    "questions": "What an interviewer could ask next, with answers.",
    "explain": "What a mistake is, and why it matters.",
    "reset": "Put the stub back, and keep the old work beside it.",
    "report": "The last grade again, in any format.",
    "history": "Your attempts: when, how many points, what was missed.",
    "interview": "A mock interview against the clock.",
    "next": "What to practise now, and why.",
    "plan": "Which kata on which day, until a date.",
    "stats": "How it went so far, in honest numbers.",
    "export": "Your whole history as one JSON file.",
    "import": "Add an exported history to yours.",
    "grade-all": "Grade many answers, for interviewers and courses.",
    "web": "The same in your browser, from this machine only.",
    "autograder": "An autograder for a platform, to upload.",
    "demo": "A tour of two minutes, in a temporary folder.",
    "engine": "The warm process behind quick verdicts.",
    "doctor": "Versions, paths, PyTorch, isolation: for a bug report.",
    "lint": "For authors: are the katas whole, and do their checks bite?",
    "new": "For authors: a kata of your own, from one that there is.",
}


class LazyGroup(click.Group):
    """Imports a command's module when the command is used, and ends with a code of `ExitCode`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"grader.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, COMMANDS, n=2, cutoff=0.5)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"There is no command '{name}'.{meant}", "All commands: kata --help")
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, obj: App | None = None, **extra: Any
    ) -> None:
        app = App() if obj is None else obj
        # What is raised is made into a message here, not by Click; the name is always the same.
        extra |= {"standalone_mode": False, "prog_name": self.name}
        with contextlib.closing(app):
            code = failures.run(
                lambda: super(LazyGroup, self).main(args, obj=app, **extra),
                lambda: app.home,
            )
            console.warn(app.passed_over)
        sys.exit(code)

    def make_context(self, *words: Any, **extra: Any) -> click.Context:
        with failures.noticing_that_the_reader_left():  # `--help` is printed here
            return super().make_context(*words, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with failures.noticing_that_the_reader_left():
            return super().invoke(ctx)


@click.group(
    "kata",
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nBegin with:\n  kata demo       a tour of two minutes\n  kata start v1   your first kata",
)
@click.option(
    "--katas",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A pack of katas, beside ours; may be repeated. KATA_PATH lists others.",
)
@click.version_option(__version__, "-V", "--version", message="attention-kata %(version)s")
@click.pass_context
def cli(ctx: click.Context, katas: tuple[Path, ...]) -> None:
    """Write self-attention from memory, and be told which mistake you made, on which line.

    Without a command: where you are, and what to do next.
    """
    ctx.ensure_object(App).katas += katas
    if ctx.invoked_subcommand is None:
        _where_you_are(ctx)


def _where_you_are(ctx: click.Context) -> None:
    from grader.cli import screens
    from grader.cli.interview_guard import tell_interviews
    from grader.practice.overview import overview

    app = ctx.ensure_object(App)
    seen = overview(app.catalog, app.history, app.folder)
    if any(session.plan.folder == app.folder for session in tell_interviews(app)):
        seen = msgspec.structs.replace(seen, suggestions=())  # they would cost it; its own way on is above
    console.show(*screens.overview(seen, app.catalog.tracks))
    console.left_out(app.catalog.left_out)


def main() -> None:
    """The console script. Signs that the terminal's encoding lacks are replaced, not a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        cli()
    finally:
        gc.freeze()  # at its end the interpreter would walk over all that was loaded, to free it one by one
