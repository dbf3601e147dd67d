"""Self-attention with a KV cache. Fill in the four TODOs and delete each `raise`."""

import math
from typing import Any

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention that reads a text in pieces.

    x:       (batch, seq_len, hidden_dim), the new tokens only
    cache:   None, or what the call before gave back
    returns: (batch, seq_len, hidden_dim), and a cache for the next call
    """

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12) -> None:
        super().__init__()
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

    def join(self, mixed: torch.Tensor) -> torch.Tensor:
        """The heads side by side, (batch, seq_len, hidden_dim), through the output projection."""
        return self.output_proj(mixed.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor, cache: Any = None) -> tuple[torch.Tensor, Any]:
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)

        # TODO 1 of 4: where there is a cache, put the old keys and values to the new ones.
        raise NotImplementedError("TODO 1 of 4: put the old keys and values to the new ones.")

        scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)

        # TODO 2 of 4: hide every key that is later than its query. There may be more keys than queries.
        raise NotImplementedError("TODO 2 of 4: hide every key that is later than its query.")

        # TODO 3 of 4: make the weights and mix the values.
        raise NotImplementedError("TODO 3 of 4: make the weights and mix the values.")

        # TODO 4 of 4: return what `join` makes of it, and what the next call needs.
        raise NotImplementedError("TODO 4 of 4: return the joined heads and the cache.")
