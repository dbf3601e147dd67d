"""Causal multi-head self-attention with a cache of keys and values."""

import math

import torch
from torch import nn

Cache = tuple[torch.Tensor, torch.Tensor]


class CachedSelfAttention(nn.Module):
    """Multi-head self-attention that reads a text in pieces: the cache holds the keys and values so far."""

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12) -> None:
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(f"hidden_dim {hidden_dim} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, seq_len, hidden_dim) to (batch, num_heads, seq_len, head_dim)."""
        batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        # x: (batch, seq_len, hidden_dim), the new tokens only
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)
        if cache is not None:
            # Old tokens first. A new tensor, so that the cache that came in stays as it was.
            key = torch.cat((cache[0], key), dim=2)
            value = torch.cat((cache[1], value), dim=2)

        seq_len, total = x.shape[1], key.shape[2]
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, total)
        scores = scores / math.sqrt(self.head_dim)
        # Query i of this call stands at position total - seq_len + i: the triangle ends in the lower right.
        later = torch.ones(seq_len, total, dtype=torch.bool, device=x.device).triu(total - seq_len + 1)
        scores = scores.masked_fill(later, float("-inf"))  # each row keeps itself

        weights = torch.softmax(scores, dim=-1)
        mixed = weights @ value
        joined = mixed.transpose(1, 2).flatten(2)
        return self.output_proj(joined), (key, value)
