"""What lies at the path or beside it: odd files are refused at once, and neighbours shadow nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import Catalog
from tests.trust.run import Ground

SHADOWS = (
    *("torch", "numpy", "msgspec", "click", "pytest", "conftest", "sitecustomize", "usercustomize"),
    *("random", "json", "grader", "candidate", "kata_content"),
)


@pytest.fixture
def surrounded(catalog: Catalog, tmp_path: Path) -> Path:
    """A right answer in a folder of files that end whatever imports them."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in SHADOWS:
        (folder / f"{name}.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --exitfirst --nonsense\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-x'\n", encoding="utf-8")
    answer = folder / "answer.py"
    answer.write_bytes(catalog.get("v1").solution.read_bytes())
    return answer


@pytest.mark.parametrize("words", [(), ("--no-engine",)], ids=["engine", "cold"])
def test_what_lies_beside_the_file_shadows_nothing(
    fresh: Ground, surrounded: Path, words: tuple[str, ...]
) -> None:
    there = dataclasses.replace(fresh, folder=surrounded.parent)  # where the command stands
    (there.folder / "run").symlink_to(fresh.folder / "run")
    (there.folder / "tmp").mkdir()
    done = there.kata("grade", surrounded, "v1", "--json", *words)
    assert json.loads(done.out)["verdict"] == "passed"


def test_an_answer_that_imports_its_neighbour_gets_the_real_module(fresh: Ground, surrounded: Path) -> None:
    text = surrounded.read_text(encoding="utf-8")
    surrounded.write_text(f"import random, json, numpy\nassert random.random and json.dumps\n{text}", "utf-8")
    assert fresh.kata("grade", surrounded, "v1").code == 0


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "a folder"),
    "pipe": (fifo, "a named pipe"),
    "socket": (unix_socket, "a socket"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "a symbolic link"),
    "link to a file": (lambda path: path.symlink_to(__file__), "a symbolic link"),
    "link to nowhere": (lambda path: path.symlink_to("nowhere"), "a symbolic link"),
    "empty": (Path.touch, "is empty"),
    "blank": (lambda path: path.write_text("\n \n"), "is empty"),
}
NO_TEXT: dict[str, tuple[Callable[[Path], object], str]] = {
    "not UTF-8": (lambda path: path.write_bytes(b"# caf\xe9\n"), "not UTF-8"),
    "NUL": (lambda path: path.write_bytes(b"x = 1\n\0"), "NUL byte on line 2"),
    "10 MB": (lambda path: path.write_bytes(b"x = 1\n" * 1_700_000), "larger than 256 KiB"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_answer_is_wrong_usage_and_no_attempt(fresh: Ground, tmp_path: Path, kind: str) -> None:
    make, said = KINDS[kind]
    path = tmp_path / "answer.py"
    make(path)
    before = path.lstat()
    done = fresh.kata("grade", path, "v1", "--json")
    assert (done.code, done.out) == (2, b"")
    assert said in done.err.decode()
    assert json.loads(fresh.kata("history", "--json").out)["attempts"] == []
    after = path.lstat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert stat.S_IFMT(after.st_mode) == stat.S_IFMT(before.st_mode)


@pytest.mark.parametrize("kind", NO_TEXT)
def test_an_odd_file_is_the_candidates_and_said_at_once(fresh: Ground, tmp_path: Path, kind: str) -> None:
    make, said = NO_TEXT[kind]
    path = tmp_path / "answer.py"
    make(path)
    done = fresh.kata("grade", path, "v1", "--json")
    document = json.loads(done.out)
    assert (done.code, document["verdict"]) == (1, "unrunnable")
    assert said in document["reason"]


NESTED = {
    "operators": "x = " + "-" * 100_000 + "1\n",
    "lists": "x = " + "[" * 3000 + "]" * 3000 + "\n",
    "brackets": "(" * 100_000 + "\n",
    "lines": "if 1:\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 200)) + " " * 200 + "pass\n",
}


@pytest.mark.parametrize("kind", NESTED)
def test_what_breaks_a_parser_breaks_the_workers(fresh: Ground, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "answer.py"
    path.write_text(NESTED[kind] + "class SelfAttentionV1: ...\n", encoding="utf-8")
    done = fresh.kata("grade", path, "v1", "--json")
    document = json.loads(done.out)
    assert (done.code, document["verdict"]) == (1, "unrunnable")
    assert document["reason"]


def test_the_snapshot_is_what_is_graded_kept_and_shown(
    fresh: Ground, catalog: Catalog, tmp_path: Path
) -> None:
    path = tmp_path / "answer.py"
    path.write_bytes(catalog.get("v1").solution.read_bytes())
    document = json.loads(fresh.kata("grade", path, "v1", "--json").out)
    path.write_text("something else\n", encoding="utf-8")
    again = json.loads(fresh.kata("report", "--format", "json").out)
    assert again["source"] == document["source"]
    assert again["source"]["sha256"] == hashlib.sha256(catalog.get("v1").solution.read_bytes()).hexdigest()
