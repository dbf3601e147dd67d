"""What a worker finds in its own memory: no row of the history, and not where its user keeps it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from tests.engine.test_leaks_into_worker import HEAP, hide
from tests.trust.run import Ground

ROW = "a_row_of_the_history_says_this"
OWN = "own_word_of_this_answer"


def answer(words: list[str]) -> bytes:
    return hide(words) + f"{OWN} = 1\n".encode() + HEAP + b"class SelfAttentionV1: ...\n"


def remember(ground: Ground, path: Path) -> None:
    """Work on `path`, and other rows that are read with it."""
    row = "INSERT INTO starts (uuid, kata, at, path, folder, kind) VALUES (?, 'v1', ?, ?, ?, 'start')"
    with contextlib.closing(sqlite3.connect(ground.home / "history.db")) as database, database:
        for number in range(50):
            old = (f"{number}", "2026-01-01T00:00:00.000000+00:00", f"/{ROW}.py", str(path.parent))
            database.execute(row, old)


@pytest.mark.parametrize(
    ("engine", "words"), [("cold", ()), ("cold", ("FILE", "v1")), ("warm", ())], ids=["no id", "id", "warm"]
)
def test_a_worker_inherits_nothing_of_its_user(
    request: pytest.FixtureRequest, engine: str, words: tuple[str, ...]
) -> None:
    ground: Ground = request.getfixturevalue(engine)
    assert ground.kata("start", "v1").code == 0
    file = ground.folder / "self_attention_v1.py"
    remember(ground, file)
    secrets = [ROW, str(ground.home / "history.db"), str(ground.home), OWN]
    file.write_bytes(answer(secrets))
    asked = [file.name if word == "FILE" else word for word in words]
    # At this level a worker may read its own map; what it holds is the same at every other.
    process = ground.start("grade", *asked, "--json", "--isolation", "process", "--timeout", "300")
    out, err = process.communicate(timeout=600)
    assert err == b""
    printed = json.loads(out)["printed"]["text"]
    assert [secrets[int(index)] for index in printed.split()] == [OWN]
