"""`kata report` and `kata history`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.documents import attempts_document
from grader.cli.params import BY_HAND, KATA, shown_options
from grader.practice.attempts import Shown, recall
from grader.practice.on_paper import on_paper
from grader.practice.reports import FORMATS, Format, document, format_for, write_report


@click.command(
    "report",
    epilog="""\b
Examples:
  kata report                         in the terminal
  kata report --open                  as a page in the browser
  kata report v3 --format md          as Markdown on standard output
  kata report v3 --format html --output v3.html""",
)
@click.argument("kata", type=KATA, required=False)
@click.option("--open", "open_it", is_flag=True, help="Write it as HTML and open it in the browser.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: text, and html with --open.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file."
)
@shown_options
@BY_HAND
@pass_app
def report_command(
    app: App,
    *,
    kata: Kata | None,
    open_it: bool,
    form: Format | None,
    output: Path | None,
    full: bool,
    fix: bool,
    by_hand: bool,
) -> None:
    """The last grade again, in any format.

    How to mend it is left out until you asked for it; a page keeps it folded.
    """
    shown = Shown(verbose=full, fixes=fix)
    graded = recall(kata, app.catalog, app.history, folder=app.folder, shown=shown)
    if by_hand:
        with console.progress("Looking for a small example …"):
            graded = on_paper(graded, app.catalog, app.grade)
    if open_it or output is not None:
        chosen = form or format_for(output, "html" if open_it else "text")
        written = write_report(graded, chosen, output, app.home)
        console.say(f"Report: {console.place(written)}")
        if open_it:
            app.show_page(written)
    elif form is None or form == "text":
        console.draw(partial(document, graded, "text"))
    elif form == "json":
        console.data(document(graded, form))
    else:
        console.report(document(graded, form))


@click.command(
    "history", epilog="\b\nExamples:\n  kata history\n  kata history v3 -n 5\n  kata history --json"
)
@click.argument("kata", type=KATA, required=False)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the latest so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@pass_app
def history_command(app: App, kata: Kata | None, limit: int | None, as_json: bool) -> None:
    """Your attempts: when, how many points, what was missed.

    The latest comes first.
    """
    found = app.history.attempts(None if kata is None else kata.id, limit)
    if as_json:
        console.data(attempts_document(found))
        return
    if not found:
        console.say("No attempts yet. Begin with: kata start v1")
        return
    from grader.cli import screens

    console.show(screens.attempts(found))
