"""What an installed kata must do on any machine: help for each command, the tour, a right and a wrong grade.

    PYTHON -P tools/smoke.py

PYTHON is the one that the wheel is installed for, as `.ci/run` and the workflow in .github do it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from grader.catalog import content_root, load_catalog
from grader.cli.main import cli

SCALE = "math.sqrt(self.hidden_dim)"


def main() -> int:
    """All of it, in an empty folder; `SystemExit` at the first thing that goes another way than it should."""
    content = content_root()
    if not content.is_relative_to(Path(sys.prefix).resolve()):
        raise SystemExit(f"{content} is not of an installation in {sys.prefix}: install the wheel there.")
    print(f"{content}: {', '.join(kata.id for kata in load_catalog().katas)}", flush=True)
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as desk:
        os.environ |= {"KATA_HOME": home, "KATA_ENGINE": "off"}
        for words in commands(cli, click.Context(cli)):
            kata(desk, [*words, "--help"])
            print(" ".join(["kata", *words, "--help"]), flush=True)
        print(kata(desk, ["demo"]), flush=True)
        if left := [path.name for path in Path(desk).iterdir()]:
            raise SystemExit(f"kata demo left something in the folder that it was run in: {left}")
        right = (content / "solutions" / "v3.py").read_text(encoding="utf-8")
        if SCALE not in right:
            raise SystemExit(f"The solution of v3 has no {SCALE} to spoil.")
        Path(desk, "right.py").write_text(right, encoding="utf-8")
        Path(desk, "wrong.py").write_text(right.replace(SCALE, "self.hidden_dim"), encoding="utf-8")
        print(kata(desk, ["grade", "right.py", "v3"]), flush=True)
        print(kata(desk, ["grade", "wrong.py", "v3"], code=1), flush=True)
        found = json.loads(kata(desk, ["report", "v3", "--format", "json"]))["diagnosis"]
        if [one["mistakes"] for one in found] != [["scale_by_dk"]]:
            raise SystemExit(f"The mistake was not named scale_by_dk: {found}")
    return 0


def commands(command: click.Command | None, context: click.Context) -> Iterator[tuple[str, ...]]:
    """The words of `command` and of all below it; the first is the program itself."""
    yield ()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            for rest in commands(command.get_command(context, name), context):
                yield (name, *rest)


def kata(desk: str, words: Sequence[str], code: int = 0) -> str:
    """What `kata` prints, which must end with this code."""
    program = Path(sys.executable).with_name("kata")
    done = subprocess.run(
        [program, *words], cwd=desk, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != code:
        raise SystemExit(
            f"kata {' '.join(words)} ended with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
