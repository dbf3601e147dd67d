"""Whatever reaches the terminal goes through one door, and nothing that moves a cursor gets through."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import grader
from grader.cli import console
from grader.cli.app import App
from grader.cli.main import cli

HOSTILE = "\x1b]8;;x\x07\x9b2J\x1b[31m\u202e\u2066\u200b\u2028\x7f\rend"
RAW = "\x1b\x07\x9b\x7f\r\u202e\u2066\u200b\u2028\0"

ROOT = Path(grader.__file__).parent
# Who may write to a standard stream: the door; a worker, whose streams are pipes to the judge; programs that
# are started for their parent to read.
WRITERS = {"cli/console.py", "worker/main.py", "linting/oracle_pool.py", "confine/namespaces.py", "doctor.py"}
WRITERS |= {
    "cohort/autograder.py",
    "notebook/magic.py",
}  # a platform and a kernel read these
CALLS = {"print", "echo", "secho", "prompt", "confirm", "echo_via_pager", "Console", "breakpoint"}
MAKERS = {"cli/console.py", "report/terminal.py"}  # of consoles; the report's writes into a string


def harmless(text: str) -> bool:
    return not any(sign in text for sign in RAW)


def writes(path: Path) -> Iterator[str]:
    """Calls and names that write to a standard stream."""
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            own = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "console"
            if called in CALLS and not own and name not in (MAKERS if called == "Console" else WRITERS):
                yield f"{name}:{node.lineno} {called}"
        if isinstance(node, ast.Attribute) and node.attr in ("write", "writelines", "buffer"):
            of = node.value
            streams = ("stdout", "stderr", "__stdout__", "__stderr__")
            if isinstance(of, ast.Attribute) and of.attr in streams and name not in WRITERS:
                yield f"{name}:{node.lineno} {of.attr}"


def test_nothing_else_writes_to_the_terminal() -> None:
    found = [call for path in ROOT.rglob("*.py") if "_content" not in path.parts for call in writes(path)]
    assert found == []


def test_that_look_would_see_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "x.py").write_text(
        "print(1)\nclick.echo(2)\nsys.stdout.write(3)\nsys.stderr.buffer\nclick.prompt(4)\nConsole()\n"
    )
    assert len(list(writes(tmp_path / "x.py"))) == 6


class TestEveryWayOut:
    def test_a_line_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.say(f"a\n{HOSTILE}\nb", color="red")
        console.say(HOSTILE, error=True)
        shown = capsys.readouterr()
        assert harmless(shown.out + shown.err)
        assert shown.out.count("\n") == shown.err.count("\n") == 1
        assert "␛]8;;x" in shown.out

    def test_a_document_keeps_our_styles_only(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.report(f"{HOSTILE}\n  two\n")
        assert harmless(out := capsys.readouterr().out)
        assert out.endswith("end\n  two\n")

    def test_complaints_and_traces(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.complain("Error", HOSTILE, HOSTILE)
        console.trace(HOSTILE)
        assert harmless(capsys.readouterr().err)

    def test_tables_and_texts_of_rich(self, capsys: pytest.CaptureFixture[str]) -> None:
        from rich.markdown import Markdown
        from rich.panel import Panel
        from rich.syntax import Syntax
        from rich.table import Table
        from rich.text import Text

        table = Table(HOSTILE)
        table.add_row(HOSTILE, Text(HOSTILE))
        console.show(
            table, Text(HOSTILE), Panel(HOSTILE), Syntax(HOSTILE, "python"), Markdown(HOSTILE), HOSTILE
        )
        assert harmless(out := capsys.readouterr().out)
        assert out.count("end") >= 6

    def test_a_json_document_means_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        for raw in (HOSTILE, HOSTILE.replace("\x9b", "").replace("\u202e", "é😀\U000e0041"), "\x7f"):
            console.data(json.dumps({"a": raw}, ensure_ascii=False))
            assert harmless(out := capsys.readouterr().out)
            assert json.loads(out) == {"a": raw}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_grade: Any) -> Any:
    """A command in a folder and with a home whose names are hostile."""
    folder = tmp_path / f"desk{HOSTILE}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KATA_HOME", str(tmp_path / f"home{HOSTILE}"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("EDITOR", HOSTILE)
    monkeypatch.setenv("TMPDIR", str(folder))

    def run(*words: str) -> Result:
        def grade(submission: Any, kata: Any, *_: object) -> Any:
            if HOSTILE in submission.source.decode():
                raise RuntimeError(HOSTILE)
            return make_grade(kata.id, missed=("scale",), source=submission.source.decode())

        return CliRunner().invoke(cli, words, obj=App(grade=grade, edit=print, browse=lambda _: None))

    return run


def test_commands_with_hostile_words_names_and_folders(command: Any) -> None:
    name = f"answer{HOSTILE}.py"
    Path(name).write_text("class SelfAttentionV1: ...\n", encoding="utf-8")
    Path(f"list{HOSTILE}.csv").write_text(f"name,file\n{HOSTILE},gone{HOSTILE}.py\n", encoding="utf-8")
    Path("raises.py").write_text(f"class SelfAttentionV1: {HOSTILE!r}\n{HOSTILE}", encoding="utf-8")
    Path("notes.json").write_text(
        json.dumps({"format": HOSTILE, "version": 1, "schema": 1}), encoding="utf-8"
    )
    for words in (
        *(
            (),
            ("start", "v1"),
            ("start", "v2", f"sub{HOSTILE}"),
            ("reset", "v1"),
            ("list",),
            ("list", "--json"),
        ),
        *(("show", HOSTILE), ("hint", HOSTILE), (HOSTILE,), (f"--{HOSTILE}",), ("grade", f"--{HOSTILE}")),
        *(("grade", HOSTILE), ("grade", name), ("grade", name, "v1", "--json"), ("grade", name, "-v")),
        *(("grade", name, "--report", f"r{HOSTILE}.html"), ("grade", name, "--report", HOSTILE)),
        *(
            ("grade", "raises.py"),
            ("grade", name, "--seed", HOSTILE),
            ("grade", name, "--isolation", HOSTILE),
        ),
        *((), ("history",), ("history", "--json"), ("report",), ("report", "-o", f"x{HOSTILE}.md")),
        *(("report", "--format", form) for form in ("text", "html", "md", "json")),
        *(("stats",), ("stats", "--json"), ("next",), ("stats", "-o", f"no{HOSTILE}/x.html")),
        *(("solution", "v1"), ("solution", "v1", "--give-up"), ("watch", HOSTILE), ("lint", HOSTILE)),
        *(("export",), ("export", f"x{HOSTILE}.json"), ("import", HOSTILE), ("import", "notes.json")),
        *(("import", name), ("grade-all", f"list{HOSTILE}.csv"), ("grade-all", HOSTILE), ("doctor",)),
        *(("interview", "start", "v1"), ("interview", "status"), ("interview", "status", "--json")),
        *(("interview", "ask"), ("interview", "submit"), ("interview", "debrief"), ("interview", HOSTILE)),
        *(("interview", "debrief", "--format", form) for form in ("html", "md", "json")),
    ):
        done = command(*words)
        assert harmless(done.output), (words, done.output)
        assert done.output or words[:1] == ("next",), words


def test_a_traceback_too(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_DEBUG", "1")
    Path("raises.py").write_text(f"class SelfAttentionV1: ...\n# {HOSTILE}", encoding="utf-8")
    done = command("grade", "raises.py")
    assert done.exit_code == 3
    assert "Traceback" in done.output
    assert harmless(done.output)


@pytest.mark.usefixtures("command")
def test_a_terminal_gets_our_styles_and_nothing_else() -> None:
    """On a real terminal, which gets bold and dim in spite of NO_COLOR, and no colour."""
    import pty

    leader, follower = pty.openpty()
    program = "from grader.cli.main import main; main()"
    Path("answer.py").write_text("class SelfAttentionV1: ...\n", encoding="utf-8")
    for words in (("history",), ("show", HOSTILE), ("stats",), ("show", "v1"), ("list",)):
        process = subprocess.run(
            [sys.executable, "-P", "-c", program, *words], stdout=follower, stderr=follower, check=False
        )
        assert process.returncode in (0, 2)
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(leader)
    assert b"v1" in seen
    assert harmless(re.sub(r"\x1b\[(?:[0124](?:;[0124])*)?m", "", seen.decode().replace("\r\n", "\n")))
