"""Self-attention, level 2: one fused projection."""

import math

import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """Single-head self-attention: softmax(QKᵀ / √hidden_dim) V."""

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        packed = self.proj(x)  # (batch, seq_len, 3 * hidden_dim)
        query, key, value = packed.chunk(3, dim=-1)  # (batch, seq_len, hidden_dim)

        scores = query @ key.transpose(-2, -1)  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        return weights @ value  # (batch, seq_len, hidden_dim)
