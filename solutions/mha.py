"""Multi-head attention with a mask and dropout."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """num_heads attentions side by side, each over head_dim features, joined by the output projection."""

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, dropout_rate: float = 0.1) -> None:
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

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, seq_len, hidden_dim) to (batch, num_heads, seq_len, head_dim)."""
        batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        # attention_mask: (batch, seq_len, seq_len) or what broadcasts to it, 0 = hidden
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)

        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.head_dim)  # (batch, num_heads, seq_len, seq_len)
        if attention_mask is not None:
            # The head axis goes in front of queries and keys, counted from the end: so a (seq_len, seq_len)
            # mask works as well. The dtype's own minimum keeps a row with everything hidden finite.
            hidden = (attention_mask == 0).unsqueeze(-3)  # (batch, 1, seq_len, seq_len)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)

        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, seq_len)
        weights = self.attention_dropout(weights)  # (batch, num_heads, seq_len, seq_len)
        mixed = weights @ value  # (batch, num_heads, seq_len, head_dim)
        joined = mixed.transpose(1, 2).flatten(2)  # (batch, seq_len, hidden_dim)
        return self.output_proj(joined)  # (batch, seq_len, hidden_dim)
