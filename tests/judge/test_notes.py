"""Conventions are notes: they are said, and cost nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.engine.private import PrivateEngine
from tests.judge.stage import CATALOG, graded, solution, submission

CORPUS = Path(__file__).parent.parent / "corpus"
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


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("right_list_of_heads.py", ["Each head is a block of neighbouring features."]),
        (
            "right_fused_heads_outside.py",
            [
                "Query, key, value: The fused projection is cut head by head, each with its query, key and"
                " value, like GPT-NeoX. Output: Each head is a block of neighbouring features.",
            ],
        ),
        (
            "right_keys_rolled.py",
            [
                "Each head is a block of neighbouring features.",
                "Some layers number the heads in another order than others: the same function, other"
                " parameters.",
            ],
        ),
    ],
)
def test_how_heads_were_found_to_be_cut_is_said(engine: PrivateEngine, name: str, says: list[str]) -> None:
    text = (CORPUS / "mha" / name).read_text(encoding="utf-8")
    grade = engine.grade(submission(text), CATALOG.get("mha"), CATALOG)
    assert grade.verdict == "passed"
    assert [note.text for note in grade.notes if note.id in ("cut", "numbering")] == says


WHOLE_ROWS = """\
import torch


def online_attention(query, key, value, block_size):
    parts = query.split(block_size, dim=2)
    return torch.cat([torch.softmax(q @ key.mT / q.shape[-1] ** 0.5, -1) @ value for q in parts], dim=2)
"""


def test_a_kata_tells_which_of_several_right_ways_it_saw(engine: PrivateEngine) -> None:
    grade = graded(engine, "online", WHOLE_ROWS)
    assert grade.verdict == "passed"
    [note] = [note for note in grade.notes if note.id == "whole_rows"]
    assert note.line == 6
    other = graded(engine, "online", solution("online"))
    assert other.verdict == "passed"
    assert all(note.id != "whole_rows" for note in other.notes)


def test_what_a_kata_leaves_open_is_not_told_of_an_answer_that_fails(engine: PrivateEngine) -> None:
    grade = graded(engine, "online", WHOLE_ROWS.replace("q.shape[-1] ** 0.5", "q.shape[-1]"))
    assert grade.verdict == "failed"
    assert all(note.id != "whole_rows" for note in grade.notes)
