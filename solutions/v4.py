"""Self-attention, level 4: the interview form, without an output projection."""

import math

import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """Single-head self-attention: softmax(QKᵀ / √hidden_dim) V."""

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        # attention_mask: broadcastable to (batch, seq_len, seq_len), 0 = hidden
        query = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        value = self.value_proj(x)  # (batch, seq_len, hidden_dim)

        scores = query @ key.transpose(-2, -1)  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)
        if attention_mask is not None:
            # The dtype's own minimum, not -inf: exp() makes it exactly 0, it fits float16, and a row
            # with every key hidden stays finite (uniform) instead of NaN.
            lowest = torch.finfo(scores.dtype).min
            scores = scores.masked_fill(attention_mask == 0, lowest)  # (batch, seq_len, seq_len)

        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        weights = self.attention_dropout(weights)  # (batch, seq_len, seq_len)
        return weights @ value  # (batch, seq_len, hidden_dim)
