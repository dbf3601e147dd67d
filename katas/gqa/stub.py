"""Grouped-query attention. Fill in the three TODOs and delete each `raise`."""

import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Multi-head attention with fewer heads of keys and values than heads of queries.

    x:              (batch, seq_len, hidden_dim)
    attention_mask: None, (batch, seq_len, seq_len), (1, seq_len, seq_len) or (batch, 1, seq_len); 0 = hidden
    returns:        (batch, seq_len, hidden_dim)
    """

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        # TODO 1 of 3: set up key_proj and value_proj. How many outputs do num_kv_heads heads need?
        raise NotImplementedError("TODO 1 of 3: set up key_proj and value_proj for num_kv_heads heads.")

    def split(self, projected: torch.Tensor, heads: int) -> torch.Tensor:
        """(batch, seq_len, heads · head_dim) to (batch, heads, seq_len, head_dim)."""
        batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, heads, self.head_dim).transpose(1, 2)

    def join(self, mixed: torch.Tensor) -> torch.Tensor:
        """The heads side by side, (batch, seq_len, hidden_dim), through the output projection."""
        return self.output_proj(mixed.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        query = self.split(self.query_proj(x), self.num_heads)  # (batch, num_heads, seq_len, head_dim)

        # TODO 2 of 3: make key and value from x, each (batch, num_kv_heads, seq_len, head_dim).
        raise NotImplementedError("TODO 2 of 3: make key and value, cut into num_kv_heads heads.")

        # TODO 3 of 3: let query head h read key-value head h // (num_heads / num_kv_heads). What follows
        # takes key and value of (batch, num_heads, seq_len, head_dim); else change what follows.
        raise NotImplementedError("TODO 3 of 3: give each query head the key and value of its group.")

        scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            hidden = (attention_mask == 0).unsqueeze(-3)  # (batch, 1, seq_len, seq_len)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = self.attention_dropout(torch.softmax(scores, dim=-1))
        return self.join(weights @ value)
