"""Conventions are notes: they are said, and cost nothing."""

from __future__ import annotations

import pytest

from grader.engine.private import PrivateEngine
from tests.judge.stage import graded, solution

INIT = "        super().__init__()\n"


@pytest.mark.parametrize(
    ("kata", "edits", "note", "says"),
    [
        ("v1", (("query_proj", "to_q"), ("key_proj", "to_k")), "layer_names", "to_q plays query"),
        ("v1", (("SelfAttentionV1", "Mine"),), "class_name", "The class is called Mine"),
        (
            "v1",
            (("hidden_dim: int = 728", "width: int = 728"), (INIT, f"{INIT}        hidden_dim = width\n")),
            "argument_name",
            "width",
        ),
        ("v1", (("hidden_dim: int = 728", "hidden_dim: int"),), "default_width", "no default"),
        ("v1", (("hidden_dim: int = 728", "hidden_dim: int = 512"),), "default_width", "512"),
        (
            "v1",
            ((INIT, f"{INIT}        self.spare_out = nn.Linear(hidden_dim, hidden_dim)\n"),),
            "unused_layer",
            "spare_out plays no part in the output",
        ),
        (
            "v1",
            (
                (
                    "return weights @ value  # (batch, seq_len, hidden_dim)",
                    "return weights @ value  # (batch, seq_len)",
                ),
            ),
            "shape_comment",
            "(batch, seq_len)",
        ),
        (
            "v3",
            (("lowest = torch.finfo(scores.dtype).min", "lowest = -1e9"),),
            "fp16_overflow",
            "float16",
        ),
    ],
)
def test_a_convention_is_a_note_on_an_answer_that_passes(
    engine: PrivateEngine, kata: str, edits: tuple[tuple[str, str], ...], note: str, says: str
) -> None:
    text = solution(kata, *edits)
    grade = graded(engine, kata, text)
    assert grade.verdict == "passed"
    found = {entry.id: entry for entry in grade.notes}
    assert says in found[note].text
