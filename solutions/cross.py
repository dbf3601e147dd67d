"""Multi-head cross-attention: x asks, the context answers."""

import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    """Queries from x, keys and values from the context."""

    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(f"hidden_dim {hidden_dim} is not divisible by num_heads {num_heads}")
        context_dim = hidden_dim if context_dim is None else context_dim
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(context_dim, hidden_dim)
        self.value_proj = nn.Linear(context_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, length, hidden_dim) to (batch, num_heads, length, head_dim)."""
        batch, length, _ = projected.shape
        return projected.view(batch, length, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        # context: (batch, context_len, context_dim)
        # context_mask: (batch, context_len), 0 = hidden
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(context))  # (batch, num_heads, context_len, head_dim)
        value = self.split(self.value_proj(context))  # (batch, num_heads, context_len, head_dim)

        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, context_len)
        scores = scores / math.sqrt(self.head_dim)  # (batch, num_heads, seq_len, context_len)
        if context_mask is not None:
            # One axis for the heads and one for the queries: both see the same tokens of the context.
            hidden = (context_mask == 0)[:, None, None, :]  # (batch, 1, 1, context_len)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)

        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, context_len)
        weights = self.attention_dropout(weights)  # (batch, num_heads, seq_len, context_len)
        mixed = weights @ value  # (batch, num_heads, seq_len, head_dim)
        joined = mixed.transpose(1, 2).flatten(2)  # (batch, seq_len, hidden_dim)
        return self.output_proj(joined)  # (batch, seq_len, hidden_dim)
