"""Exact attention in blocks of keys, with a running maximum and a running sum."""

import math

import torch


def online_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, block_size: int
) -> torch.Tensor:
    """softmax(query keyᵀ / √head_dim) value; the scores of one block of keys exist at a time."""
    head_dim, key_len = query.shape[-1], key.shape[-2]
    running_max = query.new_full((*query.shape[:-1], 1), -math.inf)  # (batch, num_heads, query_len, 1)
    running_sum = torch.zeros_like(running_max)  # (batch, num_heads, query_len, 1)
    mixed = torch.zeros_like(query)  # (batch, num_heads, query_len, head_dim)

    for start in range(0, key_len, block_size):
        keys = key[..., start : start + block_size, :]  # (batch, num_heads, up to block_size, head_dim)
        values = value[..., start : start + block_size, :]  # (batch, num_heads, up to block_size, head_dim)
        scores = query @ keys.transpose(-2, -1) / math.sqrt(head_dim)  # (batch, num_heads, query_len, block)

        new_max = torch.maximum(running_max, scores.amax(dim=-1, keepdim=True))
        # All that was summed so far is relative to the old maximum. With the first block it is 0, and so is
        # exp(-inf).
        shrink = torch.exp(running_max - new_max)  # (batch, num_heads, query_len, 1)
        weights = torch.exp(scores - new_max)  # (batch, num_heads, query_len, block), not yet divided

        running_sum = running_sum * shrink + weights.sum(dim=-1, keepdim=True)
        mixed = mixed * shrink + weights @ values  # (batch, num_heads, query_len, head_dim)
        running_max = new_max

    return mixed / running_sum  # (batch, num_heads, query_len, head_dim)
