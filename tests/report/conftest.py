"""Grades as the judge would make them: a named mistake, a pass, an answer that cannot run, our own fault."""

from __future__ import annotations

import math

import pytest

from grader.catalog import Kata, load_catalog
from grader.records import (
    AttentionMap,
    CheckRecord,
    ConceptRecord,
    Diagnosis,
    Environment,
    Grade,
    Note,
    Printed,
    ShapeComment,
    SourceRecord,
    Status,
    TraceStep,
)
from grader.report.context import ReportContext

SOURCE = '''\
"""Self-attention, third level."""

import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        # x: (batch, seq_len, hidden_dim)
        query = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)
        value = self.value_proj(x)

        scores = query @ key.transpose(-1, -2)  # (batch, seq_len, hidden_dim)
        scores = scores / self.hidden_dim
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))

        weights = torch.softmax(scores, dim=-1)
        weights = self.attention_dropout(weights)
        return self.output_proj(weights @ value)
'''
SCALE_LINE = 24
SCORES_LINE = 23
MASK_LINE = 26

CHECKS: tuple[tuple[str, str, str], ...] = (
    ("builds_with_a_given_width", "interface", "Builds with a given width"),
    ("returns_one_tensor_of_the_shape_of_x", "interface", "Returns one tensor of x's shape"),
    ("query_key_and_value_are_projected_apart", "projections", "Query, key and value are projected apart"),
    ("every_query_is_compared_with_every_key", "scores", "Every query is compared with every key"),
    ("scores_are_divided_by_sqrt_hidden_dim", "scale", "Scores are divided by √hidden_dim"),
    ("hidden_keys_get_weight_zero", "mask", "Hidden keys get weight exactly zero"),
    ("the_mask_may_be_bool_int_or_float", "mask", "The mask may be bool, int or float"),
    ("rows_of_weights_sum_to_one", "softmax", "Each query's weights sum to one"),
    ("dropout_falls_on_the_weights", "dropout", "Dropout falls on the attention weights"),
    ("kept_weights_grow_by_the_keep_rate", "dropout", "Kept weights grow by 1/(1-p)"),
    ("values_are_mixed_by_the_weights", "mix", "Values are mixed by the weights"),
    ("the_output_projection_is_used", "output", "The output projection is used"),
    ("gradients_reach_every_projection", "gradients", "Gradients reach every projection"),
    ("input_and_mask_are_not_modified", "side_effects", "The input and the mask are not modified"),
    ("float16_survives", "robustness", "float16 does not overflow"),
    ("output_equals_the_oracle", "end_to_end", "The output equals the right one, number for number"),
)


def checks(failing: dict[str, CheckRecord]) -> tuple[CheckRecord, ...]:
    """All checks of the kata; those in `failing` by what is given there."""
    return tuple(
        failing.get(name)
        or CheckRecord(
            id=name, concept=concept, title=title, status="passed", required=concept != "robustness"
        )
        for name, concept, title in CHECKS
    )


def concepts(kata: Kata, lost: dict[str, Status]) -> tuple[ConceptRecord, ...]:
    """Every concept of the kata with full points, but for those that are lost."""
    return tuple(
        ConceptRecord(
            id=concept.id,
            title=concept.title,
            points=0 if concept.id in lost else concept.points,
            max_points=concept.points,
            status=lost.get(concept.id, "passed"),
            required=concept.required,
        )
        for concept in kata.concepts
    )


def points(records: tuple[ConceptRecord, ...]) -> int:
    return sum(record.points for record in records)


def softmax_map(size: int, factor: float, hidden: tuple[int, ...] = ()) -> tuple[tuple[float, ...], ...]:
    """(size, size) attention weights of made-up logits, some keys hidden."""
    rows = []
    for query in range(size):
        logits = [math.sin(1.7 * query + 2.3 * key * (query + 1)) * 6 * factor for key in range(size)]
        powers = [0.0 if key in hidden else math.exp(logit) for key, logit in enumerate(logits)]
        rows.append(tuple(power / sum(powers) for power in powers))
    return tuple(rows)


HIDDEN = tuple(tuple(key == 4 for key in range(6)) for _ in range(6))


@pytest.fixture(scope="session")
def kata() -> Kata:
    return load_catalog().get("v3")


@pytest.fixture
def environment() -> Environment:
    return Environment(grader="0.1.0", python="3.11.2", torch="2.13.0", isolation="standard")


@pytest.fixture
def context() -> ReportContext:
    return ReportContext(
        hints=("What happens to softmax when its logits grow with the width?",),
        seconds_taken=1085,
        attempt=3,
        previous_points=11,
        when="2026-11-30T14:03:22+00:00",
        command="kata grade self_attention_v3.py v3 --seed 20481",
        file="practice/self_attention_v3.py",
    )


@pytest.fixture
def source() -> SourceRecord:
    return SourceRecord(name="self_attention_v3.py", sha256="9f2c4e1ab83d77" + "0" * 50, text=SOURCE)


@pytest.fixture
def failing(kata: Kata, source: SourceRecord, environment: Environment) -> Grade:
    """v3 with scores divided by hidden_dim; one optional check is not reached."""
    records = concepts(kata, {"scale": "failed", "robustness": "not_reached"})
    return Grade(
        kata="v3",
        verdict="failed",
        seed=20481,
        points=points(records),
        max_points=kata.max_points,
        seconds={"total": 0.43},
        concepts=records,
        checks=checks(
            {
                "scores_are_divided_by_sqrt_hidden_dim": CheckRecord(
                    id="scores_are_divided_by_sqrt_hidden_dim",
                    concept="scale",
                    title="Scores are divided by √hidden_dim",
                    status="failed",
                    message="The logits are 4 times smaller than they should be.",
                    expected="scores divided by 4 (√hidden_dim)",
                    actual="scores divided by 16",
                    line=SCALE_LINE,
                    why="With logits that small softmax is nearly uniform: every token attends to all.",
                ),
                "float16_survives": CheckRecord(
                    id="float16_survives",
                    concept="robustness",
                    title="float16 does not overflow",
                    status="not_reached",
                    required=False,
                    message="It compares large logits, and needs the right scale for that.",
                ),
                "output_equals_the_oracle": CheckRecord(
                    id="output_equals_the_oracle",
                    concept="end_to_end",
                    title="The output equals the right one, number for number",
                    status="failed",
                    message="117 of 120 numbers differ by more than the tolerance.",
                    expected="0.2214 at [1, 3, 0]",
                    actual="0.1187 at [1, 3, 0]",
                ),
            }
        ),
        diagnosis=(
            Diagnosis(
                mistakes=("scale_by_dk",),
                concept="scale",
                sentence="Your output is exactly what you get when scores are divided by hidden_dim (16) "
                "instead of √hidden_dim (4).",
                fix="Divide by the root: scores / math.sqrt(self.hidden_dim).",
                why="The variance of a dot product grows with the width, its deviation with the root of it. "
                "The root keeps softmax where its gradient lives; the width flattens it.",
                line=SCALE_LINE,
            ),
        ),
        notes=(
            Note(id="layer_names", text="Layer names follow the convention of this kata."),
            Note(
                id="shape_comment",
                text="The scores are (batch, seq_len, seq_len), not (batch, seq_len, hidden_dim).",
                line=SCORES_LINE,
            ),
        ),
        trace=(
            *(
                TraceStep(line=line, call="linear", inputs=((3, 6, 16),), output=(3, 6, 16))
                for line in (19, 20, 21)
            ),
            TraceStep(line=SCORES_LINE, call="transpose", inputs=((3, 6, 16),), output=(3, 16, 6)),
            TraceStep(line=SCORES_LINE, call="matmul", inputs=((3, 6, 16), (3, 16, 6)), output=(3, 6, 6)),
            TraceStep(line=SCALE_LINE, call="div", inputs=((3, 6, 6),), output=(3, 6, 6)),
            TraceStep(line=MASK_LINE, call="eq", inputs=((3, 1, 6),), output=(3, 1, 6)),
            TraceStep(line=MASK_LINE, call="masked_fill", inputs=((3, 6, 6), (3, 1, 6)), output=(3, 6, 6)),
            TraceStep(line=28, call="softmax", inputs=((3, 6, 6),), output=(3, 6, 6)),
            TraceStep(line=29, call="dropout", inputs=((3, 6, 6),), output=(3, 6, 6)),
            TraceStep(line=30, call="matmul", inputs=((3, 6, 6), (3, 6, 16)), output=(3, 6, 16)),
            TraceStep(line=30, call="linear", inputs=((3, 6, 16),), output=(3, 6, 16)),
        ),
        shape_comments=(
            ShapeComment(
                line=19,
                text="(batch, seq_len, hidden_dim)",
                claimed=("batch", "seq_len", "hidden_dim"),
                actual=(3, 6, 16),
                right=True,
            ),
            ShapeComment(
                line=SCORES_LINE,
                text="(batch, seq_len, hidden_dim)",
                claimed=("batch", "seq_len", "hidden_dim"),
                actual=(3, 6, 6),
                right=False,
            ),
        ),
        maps=(
            AttentionMap(
                title="Weights with the fifth key hidden",
                expected=softmax_map(6, 0.5, (4,)),
                actual=softmax_map(6, 0.125, (4,)),
                hidden=HIDDEN,
            ),
        ),
        printed=Printed(text="scores: tensor(...)\nstep 1\n", dropped_bytes=2048),
        source=source,
        environment=environment,
    )


@pytest.fixture
def passing(kata: Kata, source: SourceRecord, environment: Environment) -> Grade:
    records = concepts(kata, {})
    return Grade(
        kata="v3",
        verdict="passed",
        seed=7,
        points=points(records),
        max_points=kata.max_points,
        seconds={"total": 0.31},
        concepts=records,
        checks=checks({}),
        notes=(
            Note(id="parameter_name", text="The width is called `d_model` here; the kata says hidden_dim."),
        ),
        shape_comments=(
            ShapeComment(line=19, text="(B, S, D)", claimed=("B", "S", "D"), actual=(3, 6, 16), right=True),
        ),
        maps=(AttentionMap(title="Weights", expected=softmax_map(6, 0.5), actual=softmax_map(6, 0.5)),),
        source=source,
        environment=environment,
    )


@pytest.fixture
def unrunnable(kata: Kata, environment: Environment) -> Grade:
    return Grade(
        kata="v3",
        verdict="unrunnable",
        seed=11,
        reason="self_attention_v3.py:4: there is no module `torhc`. Did you mean `torch`?",
        max_points=kata.max_points,
        source=SourceRecord(
            name="self_attention_v3.py",
            sha256="ab" * 32,
            text="import math\n\n\nimport torhc\nfrom torch import nn\n\n\nclass SelfAttentionV3: ...\n",
        ),
        environment=environment,
    )


@pytest.fixture
def grader_error(kata: Kata, source: SourceRecord, environment: Environment) -> Grade:
    return Grade(
        kata="v3",
        verdict="grader_error",
        seed=13,
        reason="The judge process ended by signal 9 before it had a result.",
        max_points=kata.max_points,
        source=source,
        environment=environment,
    )


@pytest.fixture
def consistent(kata: Kata, source: SourceRecord, environment: Environment) -> Grade:
    """Two mistakes at once, where another pair explains as much; a hidden key leaks, a row is not finite."""
    records = concepts(kata, {"mask": "failed", "softmax": "failed", "dropout": "not_reached"})
    leaking = [list(row) for row in softmax_map(6, 0.5)]
    leaking[2] = [None] * 6  # type: ignore[list-item]
    leaking[3] = [0.3] * 6
    not_reached = "The weights are not finite, so their zeros cannot be counted."
    return Grade(
        kata="v3",
        verdict="failed",
        seed=99,
        points=points(records),
        max_points=kata.max_points,
        seconds={"total": 0.5},
        concepts=records,
        checks=checks(
            {
                "hidden_keys_get_weight_zero": CheckRecord(
                    id="hidden_keys_get_weight_zero",
                    concept="mask",
                    title="Hidden keys get weight exactly zero",
                    status="failed",
                    message="Key 4 is hidden and still gets 0.17 of query 0.",
                    expected="0",
                    actual="0.17",
                    line=MASK_LINE,
                    why="Padding would leak into every real token.",
                ),
                "rows_of_weights_sum_to_one": CheckRecord(
                    id="rows_of_weights_sum_to_one",
                    concept="softmax",
                    title="Each query's weights sum to one",
                    status="failed",
                    expected="rows that sum to 1",
                    actual="row 3 sums to 1.8",
                    line=28,
                ),
                "dropout_falls_on_the_weights": CheckRecord(
                    id="dropout_falls_on_the_weights",
                    concept="dropout",
                    title="Dropout falls on the attention weights",
                    status="not_reached",
                    message=not_reached,
                ),
                "kept_weights_grow_by_the_keep_rate": CheckRecord(
                    id="kept_weights_grow_by_the_keep_rate",
                    concept="dropout",
                    title="Kept weights grow by 1/(1-p)",
                    status="not_reached",
                    message=not_reached,
                ),
            }
        ),
        diagnosis=(
            Diagnosis(
                mistakes=("mask_fill_zero", "softmax_over_all"),
                concept="mask",
                sentence="hidden scores are set to 0 and softmax runs over the whole matrix.",
                fix='Fill with float("-inf") before softmax, and give softmax dim=-1.',
                why="exp(0) is 1: a hidden key still gets a weight.",
                line=MASK_LINE,
                certainty="consistent",
                alternatives=(("mask_ignored", "softmax_over_all"),),
            ),
        ),
        maps=(
            AttentionMap(
                title="Weights with the fifth key hidden",
                expected=softmax_map(6, 0.5, (4,)),
                actual=tuple(tuple(row) for row in leaking),
                hidden=HIDDEN,
            ),
        ),
        source=source,
        environment=environment,
    )
