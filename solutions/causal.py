"""Causal multi-head self-attention."""

import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which position i sees the positions 0 to i."""

    later: torch.Tensor

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(f"hidden_dim {hidden_dim} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        # True above the diagonal: key j > query i. A buffer moves with the module; it is made anew from
        # max_seq_len, so it need not be saved.
        later = torch.ones(max_seq_len, max_seq_len, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("later", later, persistent=False)  # (max_seq_len, max_seq_len)

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, seq_len, hidden_dim) to (batch, num_heads, seq_len, head_dim)."""
        batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim), seq_len up to max_seq_len
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)

        seq_len = x.shape[1]
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.head_dim)  # (batch, num_heads, seq_len, seq_len)
        scores = scores.masked_fill(self.later[:seq_len, :seq_len], float("-inf"))  # each row keeps itself

        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, seq_len)
        weights = self.attention_dropout(weights)  # (batch, num_heads, seq_len, seq_len)
        mixed = weights @ value  # (batch, num_heads, seq_len, head_dim)
        joined = mixed.transpose(1, 2).flatten(2)  # (batch, seq_len, hidden_dim)
        return self.output_proj(joined)  # (batch, seq_len, hidden_dim)
