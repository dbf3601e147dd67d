"""`kata list` and `kata show`."""

from __future__ import annotations

from typing import get_args

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.documents import standings_document
from grader.cli.interview_guard import tell_interviews
from grader.cli.params import KATA, TRACK
from grader.practice.overview import Progress, standings
from grader.tracks import Track

NOT_PASSED: tuple[Progress, ...] = tuple(step for step in get_args(Progress) if step != "passed")


@click.command(
    "list",
    epilog="\b\nExamples:\n  kata list\n  kata list --todo\n  kata list --track heads --json",
)
@click.option(
    "--track", "tracks", type=TRACK, multiple=True, help="Only katas of this track; may be repeated."
)
@click.option("--level", "levels", type=int, multiple=True, help="Only katas of this level; may be repeated.")
@click.option(
    "--todo", "progress", flag_value=NOT_PASSED, type=click.UNPROCESSED, help="Only katas not passed yet."
)
@click.option(
    "--passed", "progress", flag_value=("passed",), type=click.UNPROCESSED, help="Only katas you passed."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@pass_app
def list_command(
    app: App,
    tracks: tuple[Track, ...],
    levels: tuple[int, ...],
    progress: tuple[Progress, ...] | None,
    as_json: bool,
) -> None:
    """All katas, track by track, with your best score in each."""
    if not as_json:
        tell_interviews(app)
    wanted = tuple(track.id for track in tracks)
    found = standings(app.catalog, app.history, tracks=wanted, levels=levels, progress=progress or ())
    if as_json:
        console.data(standings_document(found))
        return
    from grader.cli import screens

    console.show(*screens.katas(found, app.catalog.tracks))
    console.left_out(app.catalog.left_out)


@click.command("show", epilog="\b\nExample:\n  kata show v3")
@click.argument("kata", type=KATA)
@pass_app
def show_command(app: App, kata: Kata) -> None:
    """The interviewer's brief, and what gives points."""
    from grader.cli import screens

    tell_interviews(app)
    console.show(*screens.brief(kata, app.catalog.tracks.get(kata.track)))
