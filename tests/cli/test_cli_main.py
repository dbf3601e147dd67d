"""The command line as a whole: help, wrong usage, faults, interruption, what is loaded."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest

from grader import __version__
from grader.catalog import load_catalog
from grader.cli.main import COMMANDS, SUMMARIES, cli

Terminal = Any  # tests/cli/conftest.py
HEAVY = (
    "torch",
    "pytest",
    "textual",
    "numpy",
    "jinja2",
    "starlette",
    "uvicorn",
    "IPython",
    "grader.judge",
    "grader.worker",
    "grader.engine",
    "grader.web",
)

MAIN = "from grader.cli.main import main; main()"

posix = pytest.mark.skipif(os.name != "posix", reason="there is no pseudo-terminal")

SPINNING = """
from grader.cli.console import progress
with progress("Grading evil\\x1b[2Jname.py"):
    pass
"""

PROGRAM = f"""
import json, sys
from grader.cli.main import main
try:
    main()
finally:
    print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]), file=sys.stderr)
"""


INTERRUPTED_AS_IT_LOADS = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background ignores it

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from grader.__main__ import main
main()
"""


def run_program(*words: str, folder: Path, program: str = MAIN, **more: Any):  # type: ignore[no-untyped-def]
    """A real process; `more` goes to `subprocess.run`."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])} | more.pop("env", {})
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env=environment,
        capture_output="stdout" not in more,
        text=True,
        check=False,
        timeout=60,
        **more,
    )


@posix
def test_ctrl_c_while_the_program_loads_is_no_traceback(tmp_path: Path) -> None:
    done = run_program("list", folder=tmp_path, program=INTERRUPTED_AS_IT_LOADS)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_help_lists_every_command(kata: Terminal) -> None:
    result = kata("--help")
    assert result.exit_code == 0
    listed = [
        line.split()[0] for line in result.stdout.split("Commands:")[1].splitlines() if line[:2] == "  "
    ]
    assert listed[: len(COMMANDS)] == list(COMMANDS)
    assert "..." not in result.stdout.split("Commands:")[1]  # every summary fits its line


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert SUMMARIES[name] == command.get_short_help_str(limit=100)


def test_there_is_no_summary_of_anything_else() -> None:
    assert list(SUMMARIES) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(kata: Terminal, name: str) -> None:
    result = kata(name, "--help")
    assert result.exit_code == 0
    summary, _, rest = result.stdout.partition("Options:")
    assert len(summary.splitlines()) >= 3
    _, heading, examples = rest.partition("Example")
    assert heading, "no example"
    assert f"  kata {name}" in examples


def test_the_version_is_printed(kata: Terminal) -> None:
    assert kata("--version").stdout == f"attention-kata {__version__}\n"


def test_without_a_command_a_newcomer_is_shown_the_way(kata: Terminal) -> None:
    result = kata()
    assert result.exit_code == 0
    assert f"0 of {len(load_catalog().katas)} passed" in result.stdout
    assert "kata demo" in result.stdout
    assert "kata start v1" in result.stdout


def test_without_a_command_one_sees_the_last_attempt_and_what_to_do_next(kata: Terminal, grader: Any) -> None:
    grader.missed = ("scale",)
    kata("start", "v3")
    kata("grade")
    shown = kata().stdout
    assert "Last   v3 failed with" in shown
    assert "missed scale" in shown
    assert "Here   self_attention_v3.py, v3" in shown
    for command in ("kata grade", "kata hint v3", "kata report --open", "kata start v1"):
        assert command in shown


def test_of_an_answer_that_could_not_run_no_points_are_told(kata: Terminal, grader: Any) -> None:
    grader.verdict = "unrunnable"
    kata("start", "v3")
    kata("grade")
    last = next(line for line in kata().stdout.splitlines() if line.startswith("Last"))
    assert last.startswith("Last   v3 could not run · ")


@pytest.mark.parametrize(
    ("words", "happened", "next_step"),
    [
        (["lst"], "There is no command 'lst'. Did you mean list", "kata --help"),
        (["xyzzy"], "There is no command 'xyzzy'.\n", "kata --help"),
        (
            ["show", "v33"],
            "There is no kata 'v33'. Did you mean v3",
            "The katas are: softmax, padding, v1",
        ),
        (["show", "nonsense"], "There is no kata 'nonsense'.", "The katas are: softmax, padding, v1"),
        (["show"], "Missing argument 'KATA'", "kata show --help"),
        (["start", "v1", "--blnk"], "No such option '--blnk'", "kata start --help"),
        (["--nonsense"], "No such option '--nonsense'", "kata --help"),
        (["grade", "v1", "--timeout", "0"], "Invalid value for '--timeout'", "kata grade --help"),
    ],
)
def test_wrong_usage_says_what_happened_and_what_to_do(
    kata: Terminal, words: list[str], happened: str, next_step: str
) -> None:
    result = kata(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"Error: {happened}" in result.stderr
    assert next_step in result.stderr.partition("  → ")[2]
    assert "Traceback" not in result.stderr


def test_ids_may_be_written_in_capitals(kata: Terminal) -> None:
    assert kata("show", "V3").exit_code == 0


def test_a_fault_of_ours_keeps_its_traceback_and_ends_with_3(kata: Terminal, grader: Any, home: Path) -> None:
    grader.error = RuntimeError("unthinkable")
    kata("start", "v1")
    for number in (1, 2):
        result = kata("grade")
        assert result.exit_code == 3
        assert "fault in kata, not in your code: RuntimeError: unthinkable" in result.stderr
        assert f"~/kata/crashes/crash-{number}.txt" in result.stderr
        assert "Traceback" not in result.stderr
        note = (home / "kata" / "crashes" / f"crash-{number}.txt").read_text(encoding="utf-8")
        assert "Traceback (most recent call last)" in note
        assert __version__ in note


def test_a_fault_of_ours_shows_its_traceback_when_debugging(
    kata: Terminal, grader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_DEBUG", "1")
    grader.error = RuntimeError("unthinkable")
    kata("start", "v1")
    result = kata("grade")
    assert result.exit_code == 3
    assert "Traceback (most recent call last)" in result.stderr


def test_a_fault_of_ours_is_told_even_where_nothing_can_be_written(
    kata: Terminal, grader: Any, home: Path
) -> None:
    (home / "kata").write_text("a file where the folder should be")
    kata("start", "v1")
    grader.error = RuntimeError("unthinkable")
    result = kata("grade", "v1")
    assert result.exit_code == 3
    assert "KATA_DEBUG=1 shows the traceback." in result.stderr


def test_interruption_ends_with_130(kata: Terminal, grader: Any) -> None:
    kata("start", "v1")
    grader.error = KeyboardInterrupt()
    result = kata("grade")
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr


@pytest.mark.parametrize("words", [["history"], ["list"], ["hint", "v1"], ["report"], ["solution", "v1"], []])
def test_a_damaged_history_is_named_and_never_deleted(
    kata: Terminal, broken_history: Path, words: list[str]
) -> None:
    before = broken_history.read_bytes()
    result = kata(*words)
    assert result.exit_code == 3
    assert "history.db is damaged" in result.stderr
    assert "Traceback" not in result.stderr
    assert broken_history.read_bytes() == before


def test_escape_sequences_in_arguments_do_not_reach_the_terminal(kata: Terminal) -> None:
    result = kata("show", "v\x1b[31m3")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


# Real processes


@pytest.mark.parametrize(
    "words",
    [["--help"], ["list"], ["start", "v1"], ["hint", "v1"], ["history"], ["show", "v1"], ["--version"], []],
)
def test_what_grades_nothing_loads_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    result = run_program(*words, folder=tmp_path, program=PROGRAM)
    assert (result.returncode, json.loads(result.stderr)) == (0, [])


def test_a_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    for words in (["list"], ["list", "--json"], ["show", "v1"], ["--help"], ["--version"]):
        read, write = os.pipe()
        os.close(read)
        result = run_program(*words, folder=tmp_path, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        assert (result.returncode, result.stderr) == (141, "")


def test_a_pipe_gets_no_colours_and_no_trailing_blanks(tmp_path: Path) -> None:
    result = run_program("show", "v3", folder=tmp_path)
    assert "\x1b" not in result.stdout
    lines = result.stdout.splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert max(len(line) for line in lines) <= 80


def test_columns_sets_the_width(tmp_path: Path) -> None:
    result = run_program("show", "v3", folder=tmp_path, env={"COLUMNS": "50"})
    assert max(len(line) for line in result.stdout.splitlines()) <= 50


def on_a_terminal(folder: Path, *words: str, program: str = MAIN, **environment: str) -> str:
    """What a real process writes to a terminal."""
    outside, inside = os.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(outside, parts))
    reader.start()
    try:
        run_program(
            *words,
            folder=folder,
            program=program,
            env={"TERM": "xterm", **environment},
            stdout=inside,
            stderr=inside,
        )
    finally:
        os.close(inside)
        reader.join()
        os.close(outside)
    return b"".join(parts).decode()


def _drain(descriptor: int, parts: list[bytes]) -> None:
    with contextlib.suppress(OSError):  # how Linux says that the terminal was closed
        while part := os.read(descriptor, 65536):
            parts.append(part)


COLOUR = re.compile(r"\x1b\[[\d;]*3[0-7]m")


@posix
def test_a_terminal_gets_colours_unless_it_says_no(tmp_path: Path) -> None:
    assert COLOUR.search(on_a_terminal(tmp_path, "show", "v3"))
    assert not COLOUR.search(on_a_terminal(tmp_path, "show", "v3", NO_COLOR="1"))
    assert "\x1b" not in on_a_terminal(tmp_path, "show", "v3", TERM="dumb")


@posix
def test_progress_is_shown_only_where_standard_error_is_a_terminal(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, program=SPINNING)
    assert "Grading evil␛[2Jname.py" in shown
    piped = run_program(folder=tmp_path, program=SPINNING)
    assert (piped.stdout, piped.stderr) == ("", "")


def test_an_encoding_without_our_signs_replaces_them(tmp_path: Path) -> None:
    result = run_program("show", "v1", folder=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert (result.returncode, result.stderr) == (0, "")
    assert "hidden_dim" in result.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kata show v", [kata.id for kata in load_catalog().katas if kata.id.startswith("v")]),
        ("kata grade v3", ["v3"]),
        ("kata gr", ["grade"]),
        ("kata start v4 --bl", ["--blank"]),
    ],
)
def test_the_shell_completes_commands_options_and_ids(tmp_path: Path, line: str, expected: list[str]) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_KATA_COMPLETE": "bash_complete"}
    result = run_program(folder=tmp_path, env=words)
    completions = [answer.partition(",")[2] for answer in result.stdout.splitlines()]
    assert [completion for completion in dict.fromkeys(completions) if completion in expected] == expected


def test_the_shell_is_asked_for_files_where_one_may_stand(tmp_path: Path) -> None:
    words = {"COMP_WORDS": "kata grade an", "COMP_CWORD": "2", "_KATA_COMPLETE": "bash_complete"}
    assert "file,an" in run_program(folder=tmp_path, env=words).stdout
