"""What a worker may send, print and write, and what the learner is told who went over it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.records import Grade, Options, Submission

ANSWER = """\
import math
import os

import torch
from torch import nn

{top}


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def right(self, x):
        scores = self.query_proj(x) @ self.key_proj(x).transpose(-1, -2) / math.sqrt(self.hidden_dim)
        return torch.softmax(scores, dim=-1) @ self.value_proj(x)

    def forward(self, x):
{body}
"""

GradeCode = Callable[..., Grade]


@pytest.fixture
def grade(engine: PrivateEngine, catalog: Catalog) -> GradeCode:
    def run(body: str, top: str = "", total: float | None = 3.0) -> Grade:
        source = ANSWER.format(top=textwrap.dedent(top), body=textwrap.indent(textwrap.dedent(body), " " * 8))
        submission = Submission(name="answer.py", source=source.encode(), sha256="0" * 64)
        return engine.grade(
            submission, catalog.get("v1"), catalog, Options(total_seconds=total, isolation="strict")
        )

    return run


def test_the_answer_that_the_others_vary_passes(grade: GradeCode) -> None:
    assert grade("return self.right(x)", total=None).verdict == "passed"


ODD = {
    "a sparse tensor": "self.right(x).to_sparse()",
    "a tensor on the meta device": "self.right(x).to('meta')",
    "complex64": "self.right(x).to(torch.complex64)",
    "a tensor of shape (100000, 100000, 100)": "self.right(x)[:1, :1, :1].expand(10**5, 10**5, 100)",
    "a tensor of shape (1, 1, 1, 1, 3, 5,": "self.right(x)[None, None, None, None]",
}


@pytest.mark.parametrize(("said", "returned"), ODD.items(), ids=list(ODD))
def test_odd_tensors_are_refused_with_a_sentence(grade: GradeCode, said: str, returned: str) -> None:
    found = grade(f"return {returned}")
    assert found.verdict == "failed"
    assert said in str(found.checks)


@pytest.mark.parametrize(
    "returned",
    [
        "self.right(x) * float('nan')",
        "self.right(x).long()",
        "self.right(x).bool()",
        "self.right(x) + 1e30",
        "self.right(x).half() if len(x) % 2 else self.right(x).double()",
    ],
)
def test_other_numbers_are_wrong_numbers(grade: GradeCode, returned: str) -> None:
    found = grade(f"return {returned}")
    assert found.verdict == "failed"
    assert found.reason


LIAR = """
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("detach", "clone", "contiguous", "size", "__get__"):
            return torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})
        return True
"""


def test_a_subclass_is_what_its_numbers_are(grade: GradeCode) -> None:
    assert grade("return torch.Tensor.as_subclass(x, Liar)", LIAR).verdict == "failed"


def test_files_without_end_are_stopped(grade: GradeCode) -> None:
    found = grade("""
        for number in range(10**6):
            with open(f"file-{number}", "wb") as file:
                file.write(bytes(1 << 20))
    """)
    assert found.verdict == "failed"
    assert "filled its folder with more files than it may write in forward" in str(found.checks)


def test_empty_files_without_end_are_stopped_too(grade: GradeCode) -> None:
    found = grade("for number in range(10**7): open(f'{number}', 'wb').close()")
    assert "filled its folder" in str(found.checks)


def test_one_large_file_is_refused_on_the_line(grade: GradeCode) -> None:
    found = grade("""
        with open("large", "wb") as file:
            for _ in range(64):
                file.write(bytes(1 << 20))
        return self.right(x)
    """)
    assert "File too large" in str(found.checks)


def test_printing_without_end_is_a_time_out_and_bounded(grade: GradeCode) -> None:
    found = grade("""
        while True:
            print("again and again " * 100)
    """)
    assert "did not finish within" in str(found.checks) or "time for the whole grade ran out" in str(found)
    assert len(found.printed.text) <= 64 * 1024
    assert found.printed.dropped_bytes > 1 << 20


@pytest.mark.parametrize("text", [r"\x1b[2J\u202e<b>", r"=1+1|' /C calc'!A0", r"\ud800 lone"])
def test_texts_of_an_exception_are_plain(grade: GradeCode, text: str) -> None:
    found = grade(f'raise type("N\\x1bame", (ValueError,), {{}})("{text}")')
    assert found.verdict == "failed"
    assert all(sign not in f"{found.reason}{found.checks}" for sign in ("\x1b", "\u202e", "\ud800"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("os.kill(os.getpid(), 9)", "PermissionError"),
        ("os._exit(0)", "ended the process itself in forward (exit status 0)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("bytearray(10**12)", "not enough memory"),
        ("input()", "nobody can type here"),
        ("os.fork()", "PermissionError"),
        ("import subprocess; subprocess.run(['true'])", "PermissionError"),
        ("import socket; socket.socket()", "PermissionError"),
        ("open('/etc/passwd').read()", "PermissionError"),
        ("os.listdir('/')", "PermissionError"),
    ],
)
def test_the_sentence_says_what_happened(grade: GradeCode, body: str, said: str) -> None:
    found = grade(body)
    assert found.verdict == "failed"
    assert said in str(found.checks)


@pytest.mark.parametrize(
    ("top", "body"),
    [
        ("", "return torch.compile(self.right)(x)"),
        ("@torch.compile\ndef double(x):\n    return 2 * x", "return double(self.right(x)) / 2"),
        ("@torch.compile(dynamic=True)\ndef same(x):\n    return x", "return same(self.right(x))"),
    ],
)
def test_compiled_code_is_run_as_it_is_and_says_so(grade: GradeCode, top: str, body: str) -> None:
    found = grade(body, top, total=None)
    assert found.verdict == "passed"
    assert "no compiler here" in found.printed.text


def test_scripting_works(grade: GradeCode) -> None:
    top = """
        @torch.jit.script
        def scores_of(q: torch.Tensor, k: torch.Tensor, d: float) -> torch.Tensor:
            return torch.matmul(q, k.transpose(-1, -2)) / d
    """
    body = """
        scores = scores_of(self.query_proj(x), self.key_proj(x), math.sqrt(self.hidden_dim))
        return torch.softmax(scores, dim=-1) @ self.value_proj(x)
    """
    assert grade(body, top, total=None).verdict == "passed"
