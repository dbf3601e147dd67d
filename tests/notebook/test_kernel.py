"""The magic in a real kernel, with the real grader."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import BlockingKernelClient, KernelManager

from grader.catalog import Catalog
from grader.history import History
from tests import patience
from tests.conftest import SteppingClock

pytestmark = pytest.mark.usefixtures("warm")


class Notebook:
    """A kernel, and what came of its cells."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client

    def __call__(self, cell: str) -> dict[str, str]:
        """Run a cell: its output by kind, what it printed as `text`, what it raised as `error`.

        `traceback` is there where one was shown.
        """
        found: dict[str, str] = {"text": "", "error": ""}

        def heard(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                found["text"] += content["text"]
            elif message["msg_type"] in ("display_data", "execute_result"):
                found.update(content["data"])
            elif message["msg_type"] == "error":
                found["traceback"] = "\n".join(content["traceback"])

        reply = self._client.execute_interactive(cell, output_hook=heard, timeout=patience.SECONDS)["content"]
        if reply["status"] == "error":
            found["error"] = f"{reply['ename']}: {reply['evalue']}"
        for payload in reply.get("payload", []):
            found[payload["source"]] = payload["text"]
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "practice"
    made.mkdir()
    return made


@pytest.fixture
def notebook(folder: Path) -> Iterator[Notebook]:
    manager = KernelManager(
        kernel_cmd=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    )
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=patience.SECONDS)
        made = Notebook(client)
        assert made("%load_ext grader.notebook")["error"] == ""
        yield made
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def body(catalog: Catalog) -> str:
    """A wrong answer of v1 that leaves its imports to another cell."""
    text = catalog.get("v1").solution.read_text(encoding="utf-8")
    wrong, changes = re.subn(r"math\.sqrt\(([^()]*)\)", r"\1", text[text.index("class ") :])
    assert changes == 1
    return wrong


def remembered(home: Path) -> list[Any]:
    with History(home / "kata" / "history.db", SteppingClock()) as history:
        return history.attempts()


def test_a_cell_is_graded_by_its_own_lines_and_not_run(notebook: Notebook, body: str, home: Path) -> None:
    notebook("import math\nimport torch\nfrom torch import nn")
    line = next(number for number, text in enumerate(body.splitlines(), start=2) if "scores / " in text)
    shown = notebook(f"%%kata v1\n{body}")
    assert shown["error"] == ""
    assert "Divide by the root" in shown["text/plain"]
    assert f"In [3], line {line}" in shown["text/plain"]
    page = html.unescape(shown["text/html"].partition('srcdoc="')[2])
    assert shown["text/html"].startswith("<iframe sandbox ")
    assert f"In [3], line {line}" in page
    assert "NameError" in notebook("SelfAttentionV1")["error"]
    [attempt] = remembered(home)
    assert (attempt.kata, attempt.verdict, attempt.missed) == ("v1", "failed", ("scale",))


def test_the_last_definition_is_graded_where_it_stands(notebook: Notebook, body: str) -> None:
    notebook("import math\nimport torch\nfrom torch import nn")
    notebook(body)
    line = next(number for number, text in enumerate(body.splitlines(), start=1) if "scores / " in text)
    assert f"In [3], line {line}" in notebook("%kata grade v1")["text/plain"]
    assert notebook("SelfAttentionV1.__name__")["text/plain"] == "'SelfAttentionV1'"


def test_the_json_of_a_text_is_that_of_the_terminal(
    notebook: Notebook, folder: Path, catalog: Catalog
) -> None:
    text = catalog.get("v1").solution.read_text(encoding="utf-8")
    there = json.loads(notebook(f"%%kata v1 --seed=7 --json\n{text}")["text"])
    (folder / "answer.py").write_text(f"\n{text}", encoding="utf-8")
    kata = Path(sys.executable).with_name("kata")
    words = [kata, "grade", "answer.py", "v1", "--seed", "7", "--json"]
    here = json.loads(subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout)
    for grade in (here, there):
        assert grade.pop("seconds")
        assert grade["source"].pop("name")
    assert json.dumps(there) == json.dumps(here)


def test_the_other_words_do_what_the_commands_do(notebook: Notebook, home: Path) -> None:
    assert "SelfAttentionV1" in notebook("%kata show v1")["text/markdown"]
    assert "hint 1 of" in notebook("%kata hint v1")["text/markdown"]
    assert "You have not passed v1 yet" in notebook("%kata solution v1")["error"]
    assert "softmax" in notebook("%kata solution v1 --give-up")["text/markdown"]
    assert "kata start v" in notebook("%kata next")["text/markdown"]
    stub = notebook("%kata start v1")["set_next_input"]
    assert stub.startswith("%%kata v1\n")
    assert "class SelfAttentionV1" in stub
    assert "no kata 'v9'" in notebook("%kata show v9")["error"]
    nonsense = notebook("%kata nonsense")
    assert "What shall be done?" in nonsense["error"]
    assert "traceback" not in nonsense
    assert remembered(home) == []


def test_define_runs_the_cell_too(notebook: Notebook) -> None:
    shown = notebook("%%kata v1 --define\nclass SelfAttentionV1: pass\ndefined = 1")
    assert shown["text/plain"]
    assert notebook("defined")["text/plain"] == "1"


def test_a_notebook_to_start_with_grades_itself(notebook: Notebook, folder: Path) -> None:
    kata = Path(sys.executable).with_name("kata")
    subprocess.run([kata, "start", "v1", "--notebook"], cwd=folder, capture_output=True, check=True)
    document = json.loads((folder / "self_attention_v1.ipynb").read_text())
    kinds = [cell["cell_type"] for cell in document["cells"]]
    assert kinds == ["markdown", "code", "code", "code"]
    shown = [notebook(cell["source"]) for cell in document["cells"][1:]]
    assert "TODO" in shown[-1]["text/plain"]
    again = subprocess.run([kata, "grade", "v1"], cwd=folder, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "TODO" in again.stdout
