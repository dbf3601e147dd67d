"""What happened, in one sentence for the candidate: file and line, and what to do; no traceback of ours."""

from __future__ import annotations

import pytest

from grader.handles import ExitStatus
from grader.judge.channel import WorkerLost
from grader.judge.wording import sentence
from grader.protocol import Failure


def failure(kind: str, text: str = "", stage: str = "load", **more: object) -> Failure:
    return Failure(stage=stage, type=kind, text=text, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (failure("SyntaxError", "invalid syntax", line=3), "a.py:3: SyntaxError: invalid syntax."),
        (
            failure("ModuleNotFoundError", "No module named 'torhc'", line=1, near=("torch",)),
            "a.py:1: ModuleNotFoundError while the file was being loaded: No module named 'torhc'."
            " Did you mean `torch`?",
        ),
        (
            failure("AttributeError", "no 'Lineer'", line=9, owner="module torch.nn", near=("Linear",)),
            "Did you mean `torch.nn.Linear`?",
        ),
        (failure("AttributeError", "x", owner="self", near=("key_proj",)), "Did you mean `self.key_proj`?"),
        (failure("SystemExit", "0"), 'Put it under `if __name__ == "__main__":`.'),
        (failure("EOFError", "EOF when reading a line", stage="forward"), "waits for input() in forward"),
        (failure("BdbQuit", "", stage="forward"), "a breakpoint() was left in forward. Take it out."),
        (failure("NotImplementedError", "TODO 2: scores.", stage="forward"), "a.py: TODO 2: scores."),
        (failure("RuntimeError", "can't allocate memory", stage="forward"), "not enough memory"),
        (failure("ClassMissing", "A", name="A", classes=("B", "C")), "It defines B, C. Name your class A."),
        (failure("ClassMissing", "A", name="A"), "It defines no nn.Module."),
        (failure("NotAModule", "A", name="A"), "Write `class A(nn.Module):`."),
        (failure("ValueError", "a\nb   c", stage="backward"), "ValueError in the backward pass: a b c."),
    ],
)
def test_a_failure_is_a_sentence(problem: Failure, said: str) -> None:
    text = sentence(problem, "a.py")
    assert said in text
    assert text.startswith("a.py:")
    assert "\n" not in text


def test_a_long_text_is_cut() -> None:
    assert len(sentence(failure("ValueError", "x" * 9999), "a.py")) < 600


@pytest.mark.parametrize(
    ("why", "status", "said"),
    [
        ("spins", None, "did not finish within 4.0 s of processor time in forward and was stopped. Look"),
        ("waits", None, "did not finish within 4.0 s in forward and was stopped. It was not computing"),
        ("hang", None, "did not finish within 4.0 s in forward and was stopped. Look for a loop"),
        ("total", None, "ran out in forward: all its calls together may take 4.0 s (`--timeout` sets"),
        ("garbage", None, "wrote something of its own into the grader's channel"),
        ("ended", None, "closed the grader's channel"),
        ("ended", ExitStatus(code=0), "ended the process itself in forward (exit status 0)"),
        ("ended", ExitStatus(signal=9), "SIGKILL (killed from outside, or out of memory)"),
        ("ended", ExitStatus(signal=11), "SIGSEGV (a memory fault in native code)"),
        ("ended", ExitStatus(signal=250), "signal 250"),
    ],
)
def test_a_lost_worker_is_a_sentence(why: str, status: ExitStatus | None, said: str) -> None:
    lost = WorkerLost(why, 4.0, status, stage="forward")  # type: ignore[arg-type]
    assert said in sentence(lost, "a.py")
