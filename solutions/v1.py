"""Self-attention, level 1: the formula."""

import math

import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Single-head self-attention: softmax(QKᵀ / √hidden_dim) V."""

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        query = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        value = self.value_proj(x)  # (batch, seq_len, hidden_dim)

        scores = query @ key.transpose(-2, -1)  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        return weights @ value  # (batch, seq_len, hidden_dim)
