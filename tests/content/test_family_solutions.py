"""The solutions with several heads, and those that are functions, held against the library."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import cast

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.content.levels import CATALOG

BATCH, SEQ_LEN, WIDTH, HEADS = 3, 5, 24, 4
NARROW = WIDTH // HEADS
ROLES = ("query", "key", "value")


def solution(kata_id: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(kata_id, CATALOG.get(kata_id).solution)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def mask_of(*shape: int) -> Tensor:
    """A random mask in which each query sees at least one key."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(13)) < 0.5
    mask[..., 0] = True
    return mask


def library(
    module: nn.Module, x: Tensor, context: Tensor, mask: Tensor | None, *, causal: bool = False
) -> Tensor:
    """The library's attention with the module's layers."""
    made = (
        cast("nn.Linear", getattr(module, f"{role}_proj"))(source)
        for role, source in (("query", x), ("key", context), ("value", context))
    )
    query, key, value = (tensor.unflatten(-1, (HEADS, -1)).transpose(1, 2) for tensor in made)
    mixed = F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
    return cast("Tensor", cast("nn.Linear", module.output_proj)(mixed.transpose(1, 2).flatten(2)))


@torch.no_grad()
@pytest.mark.parametrize(
    "shape",
    [(BATCH, SEQ_LEN, SEQ_LEN), (1, SEQ_LEN, SEQ_LEN), (BATCH, 1, SEQ_LEN), (SEQ_LEN, SEQ_LEN)],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32], ids=str)
def test_heads_give_what_the_library_gives(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    module = solution("mha").MultiHeadAttention(WIDTH, HEADS).eval()
    x, mask = drawn(BATCH, SEQ_LEN, WIDTH), mask_of(*shape)
    whole = mask.expand(BATCH, SEQ_LEN, SEQ_LEN).unsqueeze(1)
    torch.testing.assert_close(module(x, mask.to(dtype)), library(module, x, x, whole))
    torch.testing.assert_close(module(x), library(module, x, x, None))


@torch.no_grad()
def test_one_causal_instance_takes_every_length() -> None:
    module = solution("causal").CausalSelfAttention(WIDTH, HEADS, 16).eval()
    for seq_len in (5, 9, 3, 16, 1):
        x = drawn(2, seq_len, WIDTH)
        torch.testing.assert_close(module(x), library(module, x, x, None, causal=True))


@torch.no_grad()
@pytest.mark.parametrize("source", [None, 10])
def test_a_context_of_another_length_and_width_is_read(source: int | None) -> None:
    module = solution("cross").CrossAttention(WIDTH, HEADS, source).eval()
    x, context = drawn(BATCH, SEQ_LEN, WIDTH), drawn(BATCH, 7, source or WIDTH)
    mask = mask_of(BATCH, 7)
    torch.testing.assert_close(
        module(x, context, mask.int()), library(module, x, context, mask[:, None, None])
    )
    torch.testing.assert_close(module(x, context), library(module, x, context, None))


def by_groups(module: nn.Module, x: Tensor, mask: Tensor | None) -> Tensor:
    """The library's attention, head by head, each with the keys and values of its group."""
    query, key, value = (cast("nn.Linear", getattr(module, f"{role}_proj"))(x) for role in ROLES)
    heads = []
    for head in range(HEADS):
        group = head // cast("int", module.repeats)
        own, shared = (slice(place * NARROW, (place + 1) * NARROW) for place in (head, group))
        heads.append(
            F.scaled_dot_product_attention(query[..., own], key[..., shared], value[..., shared], mask)
        )
    return cast("Tensor", cast("nn.Linear", module.output_proj)(torch.cat(heads, dim=-1)))


@torch.no_grad()
@pytest.mark.parametrize("groups", [1, 2, HEADS])
def test_a_group_of_query_heads_reads_one_head_of_keys_and_values(groups: int) -> None:
    module = solution("gqa").GroupedQueryAttention(WIDTH, HEADS, groups).eval()
    x, mask = drawn(BATCH, SEQ_LEN, WIDTH), mask_of(BATCH, SEQ_LEN, SEQ_LEN)
    torch.testing.assert_close(module(x, mask.int()), by_groups(module, x, mask))
    torch.testing.assert_close(module(x), by_groups(module, x, None))
    assert module.key_proj.weight.shape == module.value_proj.weight.shape == (groups * NARROW, WIDTH)


def test_heads_that_do_not_divide_into_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="12 is not divisible by num_kv_heads 5"):
        solution("gqa").GroupedQueryAttention(24, 12, 5)


@torch.no_grad()
@pytest.mark.parametrize("calls", [(7,), (3, 1, 3), (5, 1, 1), (1,) * 7, (1, 6)], ids=str)
@pytest.mark.parametrize("batch", [1, 3])
def test_call_after_call_gives_what_one_causal_call_gives(calls: tuple[int, ...], batch: int) -> None:
    module = solution("cache").CachedSelfAttention(WIDTH, HEADS).eval()
    x, cache, outputs = drawn(batch, 7, WIDTH), None, []
    for part in x.split(calls, dim=1):
        output, cache = module(part, cache)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, dim=1), library(module, x, x, None, causal=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("window", [1, 2, 3, 12, 13, 14, 1000])
def test_a_query_sees_the_last_keys_and_its_own(window: int, dtype: torch.dtype) -> None:
    query, key, value = torch.randn(3, 2, 4, 13, 5, dtype=dtype).unbind()
    seen = [slice(max(0, place - window + 1), place + 1) for place in range(13)]
    rows = [
        F.scaled_dot_product_attention(query[:, :, place : place + 1], key[:, :, keys], value[:, :, keys])
        for place, keys in enumerate(seen)
    ]
    found = solution("window").sliding_window_attention(query, key, value, window)
    assert found.dtype == dtype
    torch.testing.assert_close(found, torch.cat(rows, dim=2))


DIVIDED = [kata.id for kata in CATALOG.katas if any(one.id == "divisible" for one in kata.concepts)]


@pytest.mark.parametrize("kata_id", DIVIDED)
def test_a_width_that_the_heads_do_not_divide_is_refused(kata_id: str) -> None:
    built = getattr(solution(kata_id), CATALOG.get(kata_id).signature.name)
    with pytest.raises(ValueError, match="10 is not divisible by num_heads 4"):
        built(10, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dim", [-3, -2, -1, 0, 1, 2])
def test_softmax_is_that_of_the_library_in_every_dtype(dtype: torch.dtype, dim: int) -> None:
    logits = drawn(2, 3, 4).to(dtype)
    found = solution("softmax").softmax(logits, dim)
    assert found.dtype == dtype
    torch.testing.assert_close(found, torch.softmax(logits, dim), rtol=2e-2, atol=2e-3)


def test_softmax_survives_logits_of_ten_thousand() -> None:
    logits = torch.tensor([[1e4, 1e4, 0.0], [-1e4, -1e4 + 1, -float("inf")]])
    expected = torch.softmax(logits.double(), -1).float()
    torch.testing.assert_close(solution("softmax").softmax(logits), expected)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool, torch.float32], ids=str)
def test_each_query_sees_the_real_tokens_of_its_sample(dtype: torch.dtype) -> None:
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 1, 1]]).to(dtype)
    found = solution("padding").expand_mask(mask)
    assert torch.equal(found != 0, (mask != 0)[:, None, :].expand(2, 4, 4))


@pytest.mark.parametrize("block", [1, 3, 7, 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_blocks_of_any_size_give_what_the_library_gives(dtype: torch.dtype, block: int) -> None:
    query, key, value = (drawn(BATCH, HEADS, length, 6).to(dtype) for length in (SEQ_LEN, 7, 7))
    found = solution("online").online_attention(query, key * 30, value, block)
    assert found.dtype == dtype
    torch.testing.assert_close(found, F.scaled_dot_product_attention(query, key * 30, value))


@pytest.mark.parametrize("rows", [False, True], ids=["shared", "own"])
def test_a_rotation_is_a_product_of_complex_numbers(rows: bool) -> None:
    x, base = drawn(BATCH, HEADS, SEQ_LEN, 8), 500.0
    positions = torch.tensor([7, 0, 4093, 2, 31])
    if rows:
        positions = positions + 3 * torch.arange(BATCH).unsqueeze(-1)
    found = solution("rope").apply_rope(x, positions, base)
    angles = positions.unsqueeze(-1).double() * base ** (-torch.arange(4).double() / 4)
    turned = torch.complex(*x.double().chunk(2, dim=-1)) * torch.polar(
        torch.ones_like(angles), angles
    ).unsqueeze(1 if rows else 0)
    torch.testing.assert_close(
        found.double(), torch.cat((turned.real, turned.imag), dim=-1), atol=3e-3, rtol=0.0
    )
    assert found.dtype == x.dtype
