"""`kata next` and `kata stats`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import msgspec

from grader import paths
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_guard import tell_interviews
from grader.errors import UsageError

VERSION = 1
SHOWN = 3


@click.command("next", epilog="\b\nExamples:\n  kata next\n  kata next --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@pass_app
def next_command(app: App, as_json: bool) -> None:
    """What to practise now, and why.

    Your own mistakes come first, then what you are about to forget, then what is new.
    """
    from grader.memory.advice import what_next

    if not as_json:
        tell_interviews(app)
    advice = what_next(app.catalog, app.history, app.interviews, app.clock())
    if as_json:
        document = msgspec.json.encode({"version": VERSION, "advice": advice})
        console.data(msgspec.json.format(document, indent=2).decode())
        return
    from grader.cli import screens

    console.show(*screens.advice(advice[:SHOWN]))


@click.command("stats", epilog="\b\nExamples:\n  kata stats\n  kata stats --open\n  kata stats --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--open", "open_it", is_flag=True, help="Write it as a page and open it in the browser.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file."
)
@pass_app
def stats_command(app: App, as_json: bool, open_it: bool, output: Path | None) -> None:
    """How it went so far, in honest numbers.

    Attempts, times, what you still know, and which mistakes you make most.
    """
    from grader.memory.sections import stats_view
    from grader.memory.stats import stats

    found = stats(app.catalog, app.history, app.interviews, app.clock())
    if as_json:
        console.data(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    view = stats_view(found)
    if not (open_it or output):
        from grader.report.terminal import render_text

        console.draw(partial(render_text, view))
        return
    from grader.report.render import render

    target = output or paths.reports(app.home) / "stats.html"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(view, "html"), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The page could not be written to {target}: {error.strerror}.", "Name another file."
        ) from error
    console.say(f"Statistics: {console.place(target.absolute())}")
    if open_it:
        app.show_page(target.absolute())
