"""Names for what went wrong when an answer raised, each on code that really does."""

from __future__ import annotations

import pytest

from grader.engine.private import PrivateEngine
from grader.protocol import Failure, TraceEntry
from tests.judge.stage import common, graded, labels, solution

name_of = common("crashes").name_of

KEY_T = "key.transpose(-2, -1)"
CASES: tuple[tuple[str, str, str, str], ...] = (
    ("v1", "self.hidden_dim = hidden_dim\n", "pass\n", "attribute_error_wrong_self_name"),
    ("v1", "super().__init__()", "super.__init__()", ""),
    ("v1", "nn.Linear", "nn.linear", "api_typo"),
    ("v1", "nn.Linear", "NN.Linear", "api_typo"),
    ("v1", "math.sqrt", "math.sqr", "api_typo"),
    ("v1", "weights @ value", "weigths @ value", "name_error_unbound_variable"),
    ("v1", KEY_T, "key.permute(0, 1, 1)", "permute_invalid"),
    ("v1", KEY_T, "key.t()", "T_on_3d"),
    ("v1", KEY_T, "key", "transpose_wrong_axes"),
    ("v1", "weights @ value", "weights * value", "mix_elementwise"),
    ("v1", "weights @ value", "(weights.unsqueeze(-1) * value).sum(dim=-2)", "mix_elementwise"),
    ("v4", "self.attention_dropout(weights)", "weights * (torch.rand(x.shape) > 0)", ""),
    ("v1", "weights @ value", "(weights.transpose(1, 2).unsqueeze(2) * value).sum(dim=2)", ""),
    ("v2", "packed.chunk(3, dim=-1)", "packed.split(3, dim=-1)", "split_size_confused"),
    ("v2", "packed.chunk(3, dim=-1)", "packed.chunk(3, dim=1)", "split_wrong_dim"),
    ("v3", "attention_mask == 0", "~attention_mask", "mask_dtype_assumed_bool"),
    ("v3", "(attention_mask == 0, lowest)", '(attention_mask == 0, "-inf")', "mask_fill_wrong_type"),
    ("v3", "if attention_mask is not None:", "if True:", "mask_not_optional"),
    ("v4", "attention_mask == 0", "attention_mask.view_as(scores) == 0", "key_mask_not_expanded"),
)


@pytest.mark.parametrize(
    ("kata", "old", "new", "label"), CASES, ids=[f"{c[0]} {c[2] or 'gone'}" for c in CASES]
)
def test_a_crash_is_named(engine: PrivateEngine, kata: str, old: str, new: str, label: str) -> None:
    grade = graded(engine, kata, solution(kata, (old, new)))
    assert grade.verdict in ("failed", "unrunnable")
    assert labels(grade)[:1] == ((label,) if label else ())
    assert grade.reason


def test_the_line_of_a_crash_is_the_candidate_s(engine: PrivateEngine) -> None:
    text = solution("v1", (KEY_T, "key.permute(0, 1, 1)"))
    grade = graded(engine, "v1", text)
    line = next(n for n, code in enumerate(text.splitlines(), 1) if "permute" in code)
    assert grade.diagnosis[0].line == line
    assert f"answer.py:{line}: " in (grade.checks[1].message or "")


def failure(text: str, kind: str = "RuntimeError", **more: object) -> Failure:
    return Failure(stage="forward", type=kind, text=text, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raised", "label"),
    [
        (failure("Torch not compiled with CUDA enabled", "AssertionError"), "hard_coded_device"),
        (failure("Found no NVIDIA driver on your system."), "hard_coded_device"),
        (
            failure("cannot assign module before Module.__init__() call", "AttributeError"),
            "missing_super_init",
        ),
        (failure("No module named '_tkinter'", "ModuleNotFoundError", name="_tkinter"), "stray_ide_import"),
        (failure("shape '[2, 3]' is invalid for input of size 7"), "hard_coded_sizes"),
        (
            failure("a leaf Variable that requires grad is being used in an in-place operation."),
            "mutates_input",
        ),
        (
            failure("a variable needed for gradient computation has been modified by an inplace operation"),
            "inplace_breaks_backward",
        ),
        (failure("something nobody has seen before"), None),
        (failure("division by zero", "ZeroDivisionError"), None),
    ],
)
def test_rules_on_what_this_machine_cannot_raise(raised: Failure, label: str | None) -> None:
    assert name_of(raised) == label


def test_the_last_call_tells_a_wrong_transpose_from_a_wrong_split() -> None:
    product = TraceEntry(line=9, call="matmul", inputs=((3, 5, 8), (3, 5, 8)), raised=True)
    chunked = TraceEntry(line=7, call="chunk", inputs=((3, 5, 24),), output=(1, 5, 24), outputs=3)
    assert name_of(failure("shapes", trace=(product,))) == "transpose_wrong_axes"
    assert name_of(failure("shapes", trace=(chunked, product))) == "split_wrong_dim"
