"""Whole grades of answers that are made to trouble whoever reads them or hears their worker."""

from __future__ import annotations

import hashlib
import json

import pytest

from grader.engine.private import PrivateEngine
from grader.records import Grade, Options, encode_grade
from grader.report.code import Source
from grader.snapshot import read_submission
from tests.judge.stage import CATALOG, SEED, solution
from tests.judge.test_session import forward, graded, notebook

MOST = 1_000_000  # bytes of a document beside the source
SHAPE = "# x: (batch, seq_len, hidden_dim)"
LONG = 150_000

# Put before the class: its worker then says what it wants.
PATCHED = """
import sys
main, frames = sys.modules["grader.worker.main"], sys.modules["grader.protocol"]
def say(header):
    main.encode_reply = lambda *_: frames.PREFIX.pack(frames.MAGIC, len(header), 0) + header
"""
FAILURE = '{"kind":"failure","stage":"%s","type":"%s","text":"","line":%s}'


def of_some_size(grade: Grade) -> Grade:
    text = grade.source.text if grade.source else ""
    assert len(grade.reason or "") <= 2_000
    assert len(encode_grade(grade)) <= MOST + 2 * len(text.encode())
    return grade


@pytest.mark.parametrize(
    "comment",
    [
        "(" + (" " * 35 + ",") * 3 + " " * 35 + ";",
        "( ," * 60_000,
        "B" + " x" * LONG,
        "B" + "x" * LONG,
        "B x " + " " * LONG,
        "(B, S, " + "1" * 5_000 + ")",
        "B x \u00b2",
        "(" * LONG,
        "(3 * * D, S, 3*)",
        "[" + "B, " * 50_000 + "]",
    ],
    ids=["blanks", "openers", "crosses", "one word", "far", "digits", "superscript", "deep", "stars", "axes"],
)
def test_a_right_answer_passes_whatever_its_comments_hold(engine: PrivateEngine, comment: str) -> None:
    text = solution("v3", (SHAPE, f"x = x * 1  # {comment}"))
    grade = of_some_size(graded(engine, text, "v3"))
    assert grade.verdict == "passed", grade.reason


@pytest.mark.parametrize(
    ("unit", "change"),
    [
        ("x[", "x.detach().add_(1.0)"),
        ("x[].a", "x.detach().add_(1.0)"),
        ("self.self.", "self.kept = getattr(self, 'kept', 0) + 1; x = x + self.kept"),
        ("dropout", "x = torch.dropout(x, 0.5, True)"),
        ("out", "x = x.round()"),
        ("x " * 40, "x = x.detach()"),
    ],
)
def test_what_is_wrong_is_found_beside_a_long_line(engine: PrivateEngine, unit: str, change: str) -> None:
    line = "_ = '" + unit * (LONG // len(unit)) + "'"
    grade = of_some_size(graded(engine, forward(f"{line}\n        {change}", "v3"), "v3"))
    assert grade.verdict == "failed"


def test_lines_are_counted_as_python_counts_them(engine: PrivateEngine) -> None:
    text = forward("'\u2028\x0c\x1c'\n        raise ValueError", "v3")
    grade = graded(engine, text, "v3")
    at = text.split("\n").index("        raise ValueError") + 1
    assert f"answer.py:{at}: ValueError" in (grade.reason or "")
    assert grade.source is not None
    assert Source("answer.py", grade.source.text).line(at).text.strip() == "raise ValueError"


@pytest.mark.parametrize(
    "header",
    [
        FAILURE % ("nowhere", "T", 1),
        FAILURE % ("load", "T" * 300_000, 1),
        FAILURE % ("load", "T", -1),
        FAILURE % ("load", "T", 10**30),
        FAILURE[:-1] % ("load", "T", 1) + ',"x":' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"kind":"confined","level":"none"}',
        '{"kind":"loaded"}',
    ],
    ids=["stage", "long", "line", "number", "deep", "greeting", "empty"],
)
def test_what_is_no_reply_fails_with_a_sentence(engine: PrivateEngine, header: str) -> None:
    grade = of_some_size(graded(engine, f"{PATCHED}\nsay({header.encode()!r})\n", "v3"))
    assert grade.verdict == "unrunnable"
    assert "wrote something of its own into the grader's channel" in (grade.reason or "")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("type('T' * 300_000, (Exception,), {})('text')", "TTTT"),
        ("type('\\ud800', (Exception,), {})('\\ud800')", "\\ud800"),
        ("SyntaxError('odd', ('f', 10**30, 'x', 't'))", "SyntaxError: odd"),
        ("NameError('n', name='n' * 300_000)", "NameError"),
        ("ImportError('i', name='i' * 300_000)", "ImportError"),
        ("AttributeError('a', name='a' * 300_000, obj=torch)", "AttributeError"),
    ],
    ids=["type", "surrogate", "line", "name", "import", "attribute"],
)
def test_what_an_exception_says_of_itself_is_cut(engine: PrivateEngine, raised: str, said: str) -> None:
    grade = of_some_size(graded(engine, f"import torch\nraise {raised}\n", "v3"))
    assert grade.verdict == "unrunnable"
    assert said in (grade.reason or "")


class TestTheReportShowsTheFile:
    def test_a_worker_that_tells_another_source_is_not_heard(self, engine: PrivateEngine) -> None:
        told = (
            '{"kind":"loaded","class_name":"SelfAttentionV3","constructor":[],"forward":[],'
            '"own_constructor":true,"own_forward":true,"source":"SHOWN-INSTEAD"}'
        )
        text = f"{PATCHED}\nsay({told.encode()!r})\n"
        grade = graded(engine, text, "v3")
        assert grade.source is not None
        assert grade.source.text == text

    def test_the_text_of_a_file_has_the_hash_that_is_told(self, engine: PrivateEngine) -> None:
        kata = CATALOG.get("v1")
        source = engine.grade(read_submission(kata.solution), kata, CATALOG, Options(seed=SEED)).source
        assert source is not None
        assert hashlib.sha256(source.text.encode()).hexdigest() == source.sha256

    def test_a_notebook_is_joined_by_the_judge(self, engine: PrivateEngine) -> None:
        swapped = PATCHED + "sys.modules['grader.worker.loader'].joined = lambda *_: 'SHOWN-INSTEAD'"
        grade = graded(engine, notebook(swapped, solution("v3")), "v3", name="answer.ipynb")
        assert grade.source is not None
        assert grade.source.text == f"{swapped}\n\n{solution('v3')}"

    @pytest.mark.parametrize(
        "file",
        [
            b"[" * 50_000,
            b'{"cells":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
            b"{}",
            b"3",
            b'{"cells":[{"source":3}]}',
        ],
        ids=["never closed", "deep", "empty", "a number", "no cells"],
    )
    def test_what_is_no_notebook_is_shown_as_it_is(self, engine: PrivateEngine, file: bytes) -> None:
        grade = graded(engine, file, "v3", name="answer.ipynb")
        assert grade.verdict == "unrunnable"
        assert grade.source is not None
        assert grade.source.text == file.decode()

    def test_outputs_of_a_notebook_may_hold_what_is_not_json(self, engine: PrivateEngine) -> None:
        file = notebook(solution("v3"))
        document = json.loads(file)
        document["cells"][0]["outputs"] = [{"data": {"y": [float("nan")]}}]
        assert graded(engine, json.dumps(document).encode(), "v3", name="answer.ipynb").verdict == "passed"
