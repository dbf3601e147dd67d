"""docs/authors.md, followed word for word in an empty folder: what it writes, runs, and promises to print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging.project import ROOT

FENCED = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1\n", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"`([\w/.-]+\.(?:toml|md|py))`:\s*\Z")


class Block(NamedTuple):
    """A fenced block: its language, its text, and the file that the line before it names."""

    kind: str
    text: str
    file: str | None


def blocks() -> list[Block]:
    guide = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
    found = []
    for fence in FENCED.finditer(guide):
        place = PLACE.search(guide[: fence.start()])
        found.append(Block(fence[2], fence[3], None if place is None else place[1]))
    return found


class Author:
    """Somebody with an empty folder, into whose own site packages are installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        site = folder / "site"
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(site),
            "PIP_TARGET": str(site),
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "COLUMNS": "200",
            "KATA_ENGINE": "off",
        }

    def follow(self, block: Block) -> None:
        if block.kind == "sh":
            done = self.run(f"set -e\n{block.text}\npwd > {self.folder}/.here")
            assert done.returncode == 0, done.stdout
            self.stand = Path((self.folder / ".here").read_text().strip())
        elif block.kind == "console":
            for command, promised in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
                self.compare(command, promised.splitlines())
        else:
            assert block.file is not None, block.text
            self.write(self.stand / block.file, block)

    stand = Path()

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder / self.stand,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def compare(self, command: str, promised: list[str]) -> None:
        """Each line that the guide shows is printed; … stands for what differs from place to place."""
        printed = self.run(command).stdout
        for line in promised:
            wanted = ".*".join(re.escape(part) for part in line.split("…"))
            assert re.search(f"^{wanted}$", printed, re.MULTILINE), f"$ {command}\n{printed}\n\nnot: {line}"

    def write(self, path: Path, block: Block) -> None:
        """A new file; of a kata.toml the lines that are shown; Python goes to the end."""
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if path.name == "kata.toml":
            for line in block.text.splitlines():
                key = line.partition(" = ")[0]
                old, count = re.subn(rf"(?m)^{key} = .*$", lambda _, line=line: line, old, count=1)
                assert count == 1, line
        else:
            old = old + "\n" + block.text if path.suffix == ".py" else block.text
        path.write_text(old, encoding="utf-8")


@pytest.mark.slow
def test_the_guide_leads_to_a_pack_that_is_linted_installed_and_graded(tmp_path: Path, home: Path) -> None:
    author = Author(tmp_path)
    author.environment["KATA_HOME"] = str(home / "kata")
    kinds = []
    for block in blocks():
        author.follow(block)
        kinds.append(block.kind)
    assert {"sh", "console", "toml", "markdown", "python"} == set(kinds)


def test_the_guide_is_read_block_by_block() -> None:
    found = blocks()
    assert len(found) >= 10
    assert all(block.file for block in found if block.kind not in ("sh", "console"))
