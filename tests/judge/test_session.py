"""Whole grades through real workers: what cannot run, what crashes, what returns something else."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from grader.engine.private import PrivateEngine
from grader.errors import ConfinementUnavailable
from grader.handles import ExitStatus, Times, WorkerHandle
from grader.judge import session
from grader.judge.channel import Channel
from grader.protocol import PREFIX, Built, Confined, Describe, encode, frame_lengths
from grader.records import Grade, Options
from tests.judge.stage import CATALOG, SEED, failed, labels, solution, submission

HEAD = "import torch\nfrom torch import nn\n\n\n"


def graded(
    engine: PrivateEngine,
    text: str | bytes,
    kata: str = "v1",
    name: str = "answer.py",
    seconds: float | None = None,
) -> Grade:
    options = Options(seed=SEED, total_seconds=seconds)
    return engine.grade(submission(text, name), CATALOG.get(kata), CATALOG, options)


def forward(body: str, kata: str = "v1") -> str:
    """The reference with this at the beginning of forward."""
    return solution(kata, ("# x: (batch, seq_len, hidden_dim)\n", body + "\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "there is no class SelfAttentionV1"),
        ("def f(:\n", "answer.py:1: SyntaxError: "),
        ("if True:\n\tx = 1\n        y = 2\n", "answer.py:3: TabError: "),
        ("import torhc\n", "Did you mean `torch`?"),
        ("import torch.nm as nn\n", "`torch.nn`?"),
        ("import sys\nsys.exit(3)\n", "the code called sys.exit (3) while the file was being loaded"),
        ("import os\nos._exit(0)\n", "The code ended the process itself"),
        ("input('name? ')\n", "waits for input()"),
        ("breakpoint()\n", "breakpoint()"),
        ("x = bytearray(10**15)\n", "not enough memory"),
        ("class SelfAttentionV1:\n    pass\n", "SelfAttentionV1 is not a subclass of nn.Module"),
        ("\x00", "answer.py"),
        (b"\xff\xfe\x00", "answer.py"),
    ],
)
def test_a_file_that_cannot_run_says_why(engine: PrivateEngine, text: str | bytes, said: str) -> None:
    grade = graded(engine, text)
    assert grade.verdict == "unrunnable"
    assert said in (grade.reason or "")
    assert "Traceback" not in (grade.reason or "")
    assert {(concept.status, concept.points) for concept in grade.concepts} == {("not_reached", 0)}
    assert grade.points == 0


def test_a_loop_at_import_is_a_time_out(engine: PrivateEngine) -> None:
    grade = graded(engine, "while True:\n    pass\n", seconds=1.0)
    assert grade.verdict == "unrunnable"
    assert re.search(r"did not finish|ran out", grade.reason or "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os._exit(0)", "ended the process itself in forward (exit status 0)"),
        ("import sys; sys.exit(0)", "the code called sys.exit (0) in forward"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("raise ValueError('so <b>it</b> is')", "ValueError in forward: so <b>it</b> is"),
        ("return None", "forward returned None"),
        ("return 'text'", "forward returned a str"),
        ("input()", "waits for input()"),
    ],
)
def test_a_forward_that_does_not_return_a_tensor_says_why(
    engine: PrivateEngine, body: str, said: str
) -> None:
    grade = graded(engine, forward(body))
    assert grade.verdict == "failed"
    assert any(said in (check.message or "") for check in grade.checks)
    assert failed(grade) == {"interface"}


def test_a_loop_in_forward_is_a_time_out_and_no_check_passes_by_it(engine: PrivateEngine) -> None:
    grade = graded(engine, forward("while True: pass"), seconds=2.0)
    assert grade.verdict == "failed"
    assert not [check.id for check in grade.checks if check.status == "passed" and check.concept == "scores"]


def test_nan_is_no_right_output(engine: PrivateEngine) -> None:
    grade = graded(
        engine, solution("v1", ("return weights @ value", "return weights @ value * float('nan')"))
    )
    assert grade.verdict == "failed"


def test_of_a_tuple_the_first_element_is_judged(engine: PrivateEngine) -> None:
    grade = graded(engine, solution("v1", ("return weights @ value", "return weights @ value, weights")))
    assert labels(grade) == ("returns_tuple",)
    assert failed(grade) == {"interface"}


@pytest.mark.parametrize("kata", ["v1", "v2", "v3", "v4"])
def test_a_solution_passes_with_every_point_and_its_shape_comments_are_right(
    engine: PrivateEngine, kata: str
) -> None:
    grade = graded(engine, solution(kata), kata)
    assert (grade.verdict, grade.points, grade.diagnosis) == ("passed", grade.max_points, ())
    assert grade.shape_comments
    assert all(comment.right for comment in grade.shape_comments)
    assert {note.id for note in grade.notes} == {"shape_comments_right"}
    assert grade.trace


def test_a_class_of_another_name_is_graded_with_a_note(engine: PrivateEngine) -> None:
    grade = graded(engine, solution("v1", ("SelfAttentionV1", "Attention")))
    assert grade.verdict == "passed"
    assert "class_name" in {note.id for note in grade.notes}


def test_two_other_classes_are_not_guessed_between(engine: PrivateEngine) -> None:
    text = solution("v1", ("SelfAttentionV1", "One"))
    grade = graded(engine, text + "\n\nclass Other(One):\n    pass\n")
    assert grade.verdict == "unrunnable"
    assert "It defines One, Other" in (grade.reason or "")


def notebook(*cells: str) -> bytes:
    made = [
        {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


def test_a_notebook_is_graded_as_its_cells_in_order(engine: PrivateEngine) -> None:
    cells = ("%matplotlib inline\n!pip install torch", solution("v1"), "1 / 0", "print('end')")
    grade = graded(engine, notebook(*cells), name="answer.ipynb")
    assert grade.verdict == "passed"
    assert "later_code_raised" in {note.id for note in grade.notes}
    assert "class SelfAttentionV1" in (grade.source.text if grade.source else "")


def test_a_stub_says_which_todo_is_open(engine: PrivateEngine) -> None:
    grade = graded(engine, CATALOG.get("v1").text("stub.py"))
    assert grade.verdict == "unrunnable"
    assert "TODO 1 of 5" in (grade.reason or "")


@pytest.mark.parametrize(
    "line", ["pytest.skip('x', allow_module_level=True)", "pytest.exit('x', 0)", "pytest.xfail('x')"]
)
def test_pytest_s_own_ways_out_are_no_pass(engine: PrivateEngine, line: str) -> None:
    at_import = graded(engine, f"import pytest\n{line}\n")
    in_forward = graded(engine, forward(f"import pytest; {line}"))
    assert (at_import.verdict, in_forward.verdict) == ("unrunnable", "failed")


def test_what_is_printed_is_kept_apart(engine: PrivateEngine) -> None:
    grade = graded(engine, "print('hello from the file')\n" + solution("v1"))
    assert grade.verdict == "passed"
    assert "hello from the file" in grade.printed.text


def test_what_is_printed_is_kept_up_to_a_bound_and_the_rest_is_counted(engine: PrivateEngine) -> None:
    grade = graded(engine, "print('x' * 99_999)\n" + solution("v1"))
    assert grade.verdict == "passed"
    assert len(grade.printed.text) == 64 * 1024
    assert grade.printed.dropped_bytes == 100_000 - 64 * 1024


def test_calling_the_library_takes_the_pass_and_names_the_line(engine: PrivateEngine) -> None:
    text = solution(
        "v1",
        ("return weights @ value", "return nn.functional.scaled_dot_product_attention(query, key, value)"),
    )
    grade = graded(engine, text)
    assert labels(grade) == ("uses_builtin",)
    assert grade.diagnosis[0].line == len(text.splitlines())
    assert failed(grade) == {"interface"}


def test_a_layer_that_two_roles_share_costs_the_projections(engine: PrivateEngine) -> None:
    """There is no layer of the key's own to be found: the output alone says so."""
    grade = graded(
        engine,
        solution(
            "v1",
            ("        self.key_proj = nn.Linear(hidden_dim, hidden_dim)\n", ""),
            ("self.key_proj(x)", "self.query_proj(x)"),
        ),
    )
    assert (labels(grade), failed(grade)) == (("shared_projection",), {"projections"})


class Played:
    """A worker that a thread plays: it greets, and answers one request only if it is left alive for that."""

    def __init__(self, level: str) -> None:
        self.ended = threading.Event()
        ours, self._theirs = socket.socketpair()
        output, self._printed = os.pipe()
        self.handle = WorkerHandle(ours, output, self, "strict")
        self._theirs.sendall(encode(Confined(level=level)))
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def _answer(self) -> None:
        request = self._theirs.recv(PREFIX.size)
        if not request:
            return
        self._theirs.recv(sum(frame_lengths(request)))
        if not self.ended.wait(0.2):
            os.write(self._printed, b"said in the last call")
            self._theirs.sendall(encode(Built(parameters=())))

    def join(self) -> None:
        self._theirs.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._theirs.close()
        os.close(self._printed)

    def kill(self) -> None:
        self.ended.set()

    def status(self, seconds: float) -> ExitStatus | None:
        del seconds
        return ExitStatus(code=0)

    def times(self) -> Times | None:
        return None

    def overflows(self) -> bool:
        return False


@pytest.fixture
def played() -> Iterator[Callable[[str], Played]]:
    workers: list[Played] = []

    def play(level: str) -> Played:
        workers.append(Played(level))
        return workers[-1]

    yield play
    for worker in workers:
        worker.join()


def judged(worker: Played) -> Grade:
    return session.judge(
        submission(""), CATALOG.get("v1"), CATALOG, worker.handle, seed=SEED, total_seconds=60.0
    )


def test_a_worker_that_is_bound_otherwise_than_it_was_told_is_not_heard(
    played: Callable[[str], Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(session, "judge_caller")
    worker = played("process")
    with pytest.raises(ConfinementUnavailable):
        judged(worker)
    assert worker.ended.is_set()


def test_a_call_that_nobody_waits_for_is_heard_before_the_worker_is_ended(
    played: Callable[[str], Played], make_grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_and_go(
        _submission: object, _content: object, channel: Channel, _seed: int, _planted: object, *, run: object
    ) -> Grade:
        del run
        channel.post(Describe(instance=0), None, 30.0)
        return make_grade("v1")

    monkeypatch.setattr(session, "judge_caller", ask_and_go)
    assert judged(played("strict")).printed.text == "said in the last call"
