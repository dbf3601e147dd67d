"""Whatever a worker answers within the protocol, the judge ends with a verdict, which is no pass."""

from __future__ import annotations

import msgspec
import pytest
import torch

from grader.catalog import Catalog
from grader.judge.channel import Pending
from grader.judge.content import KataContent, load_content
from grader.judge.oracle_caller import OracleCaller
from grader.judge.sanitize import plain_grade
from grader.judge.session import judge_caller
from grader.protocol import Built, Request
from grader.records import Grade, Submission, decode_grade, encode_grade
from tests.judge.liar import Liar

KATAS = ("v1", "v2", "v3", "v4")
LONGEST_REASON = 2_000  # characters
LARGEST_DOCUMENT = 400_000  # bytes


def judged(catalog: Catalog, seed: int) -> tuple[Grade, Liar]:
    torch.set_num_threads(1)  # as every judge does
    kata = catalog.get(KATAS[seed % len(KATAS)])
    content = load_content(kata, catalog)
    liar = Liar(OracleCaller(content), seed)
    answer = Submission(name=kata.file_name, source=kata.solution.read_bytes(), sha256="0" * 64)
    return judge_caller(answer, content, liar, seed), liar


def holds(grade: Grade, liar: Liar) -> None:
    """The grade is a document of some size; a worker that lies all the time has not passed."""
    document = plain_grade(grade)
    assert decode_grade(encode_grade(document)) == document
    assert len(grade.reason or "") <= LONGEST_REASON
    assert len(encode_grade(document)) <= LARGEST_DOCUMENT
    assert grade.verdict in ("passed", "failed", "unrunnable")
    assert not (liar.often == 1.0 and grade.verdict == "passed")
    assert (grade.reason is None) == (grade.verdict == "passed")


@pytest.mark.parametrize("seed", range(6))
def test_lies_do_not_break_the_judge(catalog: Catalog, seed: int) -> None:
    holds(*judged(catalog, seed))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 1600, 50))
def test_many_lies_do_not_break_the_judge(catalog: Catalog, start: int) -> None:
    for seed in range(start, start + 50):
        holds(*judged(catalog, seed))


class Boaster:
    """A worker whose instances have right parameters, and one of 2⁶⁶ numbers under the name of another."""

    def __init__(self, content: KataContent) -> None:
        self._caller = OracleCaller(content)

    def post(self, request: Request, tensors: dict[str, torch.Tensor] | None, seconds: float) -> Pending:
        reply, back = self._caller.post(request, tensors, seconds)()
        if isinstance(reply, Built):
            huge = msgspec.structs.replace(reply.parameters[0], shape=(16, 2**62))
            reply = msgspec.structs.replace(reply, parameters=(*reply.parameters, huge))
        return lambda: (reply, back)


def test_parameters_that_no_grade_can_send_are_an_answer_that_does_not_build(catalog: Catalog) -> None:
    content = load_content(catalog.get("v1"), catalog)
    answer = Submission(name="answer.py", source=b"", sha256="0" * 64)
    grade = judge_caller(answer, content, Boaster(content), 7)
    assert grade.verdict == "unrunnable"
    assert "more numbers than a grade can send" in (grade.reason or "")
