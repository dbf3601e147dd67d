"""`kata autograder`: an archive to upload, so that a platform grades with these katas."""

from __future__ import annotations

from pathlib import Path

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.params import FOLDER, KATA
from grader.errors import UsageError

PLATFORMS = ("gradescope", "prairielearn", "github-action")


@click.command(
    "autograder",
    epilog="""\b
Examples:
  kata autograder gradescope v3 -o autograder.zip
  kata autograder gradescope v3 -o autograder.zip --wheels wheels/   nothing is downloaded there
  kata autograder github-action v1 -o action.zip                    a workflow, and its image""",
)
@click.argument("platform", type=click.Choice(PLATFORMS))
@click.argument("kata", type=KATA)
@click.option("-o", "--output", type=FOLDER, required=True, metavar="FILE", help="The archive to write.")
@click.option("--wheels", type=FOLDER, metavar="FOLDER", help="Wheels of all packages, to go with it.")
@pass_app
def autograder_command(app: App, platform: str, kata: Kata, output: Path, wheels: Path | None) -> None:
    """An autograder for a platform, to upload.

    It holds this program as it is here and the versions of its packages. The hidden checks are in it: it is
    for the platform and not for students.
    """
    from grader.cohort.documents import write_whole
    from grader.cohort.upload import autograder

    if wheels is not None and not list((app.folder / wheels).glob("*.whl")):
        raise UsageError(
            f"There are no wheels in {wheels}.", "Make them: pip download -d wheels attention-kata"
        )
    made = autograder(platform, kata, app.catalog, wheels and app.folder / wheels)
    path = write_whole(app.folder / output, made)
    console.say(f"Wrote {console.place(path)}, {len(made) / 2**20:.1f} MiB.")
