"""The solutions, held against the formula written out one query at a time."""

from __future__ import annotations

import ast
import importlib.util
import math
from typing import cast

import pytest
import torch
from torch import nn

from grader.catalog import Kata
from tests.content.levels import class_of, each_masked_with_one_head, each_with_one_head, method

BATCH, SEQ_LEN, HIDDEN_DIM = 3, 5, 7


def solution(kata: Kata, **arguments: float) -> nn.Module:
    spec = importlib.util.spec_from_file_location(f"solution_{kata.id}", kata.solution)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(7)
    built = getattr(module, kata.class_name)(HIDDEN_DIM, **arguments)
    assert isinstance(built, nn.Module)
    return built


def inputs(scale: float = 2.0) -> torch.Tensor:
    return scale * torch.randn(BATCH, SEQ_LEN, HIDDEN_DIM, generator=torch.Generator().manual_seed(11))


def mask_of(*shape: int) -> torch.Tensor:
    """A random mask in which each query sees at least one key, neither symmetric nor the same per sample."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(13)) < 0.5
    mask[..., 0] = True
    return mask


def projected(module: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    if hasattr(module, "proj"):
        packed = cast("nn.Linear", module.proj)(x)
        return [packed[..., part * HIDDEN_DIM : (part + 1) * HIDDEN_DIM] for part in range(3)]
    return [cast("nn.Linear", getattr(module, f"{role}_proj"))(x) for role in ("query", "key", "value")]


def expected(module: nn.Module, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The formula, one query at a time, over the keys that it may see."""
    query, key, value = projected(module, x)
    visible = torch.ones(BATCH, SEQ_LEN, SEQ_LEN) if mask is None else mask.expand(BATCH, SEQ_LEN, SEQ_LEN)
    rows = torch.zeros(BATCH, SEQ_LEN, HIDDEN_DIM)
    for sample in range(BATCH):
        for row in range(SEQ_LEN):
            seen = [column for column in range(SEQ_LEN) if visible[sample, row, column] != 0]
            exps = [
                math.exp(float(query[sample, row] @ key[sample, column]) / HIDDEN_DIM**0.5) for column in seen
            ]
            rows[sample, row] = sum(
                (exp / sum(exps)) * value[sample, column] for exp, column in zip(exps, seen, strict=True)
            )
    return cast("nn.Linear", module.output_proj)(rows) if hasattr(module, "output_proj") else rows


@each_with_one_head
@torch.no_grad()
def test_a_solution_gives_the_formula(kata: Kata) -> None:
    module = solution(kata).eval()
    torch.testing.assert_close(module(inputs()), expected(module, inputs()), rtol=1e-4, atol=1e-5)


@each_masked_with_one_head
@pytest.mark.parametrize(
    "shape",
    [
        (BATCH, SEQ_LEN, SEQ_LEN),
        (BATCH, 1, SEQ_LEN),
        (1, SEQ_LEN, SEQ_LEN),
        (SEQ_LEN, SEQ_LEN),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.uint8, torch.float32], ids=str)
@torch.no_grad()
def test_a_solution_hides_keys_for_any_mask_that_broadcasts(
    kata: Kata, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    module = solution(kata).eval()
    mask = mask_of(*shape).to(dtype)
    before = mask.clone()
    torch.testing.assert_close(module(inputs(), mask), expected(module, inputs(), mask), rtol=1e-4, atol=1e-5)
    assert torch.equal(mask, before)


@torch.no_grad()
def weights_of(module: nn.Module, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The attention weights, made visible: one-hot tokens, value and output as the identity."""
    for name in ("value_proj", "output_proj"):
        if hasattr(module, name):
            layer = cast("nn.Linear", getattr(module, name))
            layer.weight.copy_(torch.eye(HIDDEN_DIM))
            layer.bias.zero_()
    tokens = torch.eye(HIDDEN_DIM)[:SEQ_LEN].expand(BATCH, SEQ_LEN, HIDDEN_DIM)
    return cast("torch.Tensor", module(tokens, mask))[..., :SEQ_LEN]


@each_masked_with_one_head
def test_hidden_keys_get_a_weight_of_exactly_zero(kata: Kata) -> None:
    mask = mask_of(BATCH, SEQ_LEN, SEQ_LEN)
    weights = weights_of(solution(kata).eval(), mask)
    assert torch.equal(weights[~mask], torch.zeros(int((~mask).sum())))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(BATCH, SEQ_LEN))


@each_masked_with_one_head
def test_dropout_falls_on_the_weights_in_training_only(kata: Kata) -> None:
    module = solution(kata, dropout_rate=0.4)
    kept = weights_of(module.eval())
    dropped = weights_of(module.train())
    gone = dropped == 0
    assert 0 < int(gone.sum()) < gone.numel()
    torch.testing.assert_close(dropped[~gone], kept[~gone] / 0.6)
    assert torch.equal(weights_of(module.eval()), kept)


@each_masked_with_one_head
@torch.no_grad()
def test_a_row_with_every_key_hidden_stays_finite(kata: Kata) -> None:
    mask = mask_of(BATCH, SEQ_LEN, SEQ_LEN)
    mask[1, 2] = False
    assert solution(kata).eval()(inputs(), mask).isfinite().all()


@each_with_one_head
@torch.no_grad()
def test_float16_works_with_a_mask_where_there_is_one(kata: Kata) -> None:
    masks = [mask_of(SEQ_LEN, SEQ_LEN)] if kata.takes_mask else []
    output = solution(kata).half().eval()(inputs(0.5).half(), *masks)
    assert output.dtype == torch.float16
    assert output.isfinite().all()


@each_with_one_head
@torch.no_grad()
def test_large_scores_stay_finite(kata: Kata) -> None:
    assert solution(kata).eval()(inputs(1e4)).isfinite().all()


@each_with_one_head
def test_gradients_reach_the_input_and_every_weight(kata: Kata) -> None:
    module = solution(kata).eval()
    x = inputs().requires_grad_()
    module(x).square().sum().backward()
    tensors = [x, *(p for name, p in module.named_parameters() if name.endswith("weight"))]
    assert all(tensor.grad is not None and tensor.grad.abs().max() > 0 for tensor in tensors)


@each_with_one_head
def test_each_line_of_a_solution_says_its_shape(kata: Kata) -> None:
    source = kata.solution.read_text(encoding="utf-8")
    forward = method(class_of(kata, source), "forward")
    steps = [
        node
        for node in ast.walk(forward)
        if isinstance(node, ast.Assign | ast.Return) and "finfo" not in ast.unparse(node)
    ]
    lines = source.splitlines()
    assert [
        lines[node.lineno - 1] for node in steps if "  # (batch, seq_len, " not in lines[node.lineno - 1]
    ] == []
