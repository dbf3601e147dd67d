"""Causal attention over a sliding window of keys, chunk by chunk."""

import math

import torch


def sliding_window_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, window: int
) -> torch.Tensor:
    """softmax(QKᵀ / √head_dim) V, where query i sees the keys i - window + 1 to i."""
    # query, key, value: (batch, num_heads, seq_len, head_dim)
    # `window` queries at a time see fewer than 2 · window keys, so no square of scores is ever made.
    seq_len, head_dim = query.shape[-2:]
    positions = torch.arange(seq_len, device=query.device)
    pieces = []
    for begin in range(0, seq_len, window):
        end = min(begin + window, seq_len)
        first = max(0, begin - window + 1)  # the farthest key that the chunk's first query sees
        keys, values = key[:, :, first:end], value[:, :, first:end]

        scores = query[:, :, begin:end] @ keys.transpose(-2, -1)  # (batch, num_heads, chunk, keys)
        scores = scores / math.sqrt(head_dim)  # (batch, num_heads, chunk, keys)

        # How far back a key lies: 0 is the query's own place, window - 1 the farthest that is visible.
        back = positions[begin:end, None] - positions[first:end]  # (chunk, keys)
        hidden = (back < 0) | (back >= window)  # (chunk, keys)
        scores = scores.masked_fill(hidden, float("-inf"))  # each row keeps its own place

        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, chunk, keys)
        pieces.append(weights @ values)  # (batch, num_heads, chunk, head_dim)
    return torch.cat(pieces, dim=2)  # (batch, num_heads, seq_len, head_dim)
