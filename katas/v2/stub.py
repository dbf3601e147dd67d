"""Level 2: one fused projection. Fill in the two TODOs and delete each `raise`; the rest is level 1."""

import math

import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """Single-head self-attention: softmax(QKᵀ / √hidden_dim) V, with Q, K and V from one linear layer.

    x:       (batch, seq_len, hidden_dim)
    returns: (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        # TODO 1 of 2: one linear layer, self.proj, wide enough for query, key and value together.
        raise NotImplementedError("TODO 1 of 2: create self.proj, one layer for query, key and value.")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO 2 of 2: apply self.proj once, then split its output into query, key and value, in that
        # order, each (batch, seq_len, hidden_dim).
        raise NotImplementedError("TODO 2 of 2: project once, then split into query, key and value.")

        scores = query @ key.transpose(-2, -1)  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        return weights @ value  # (batch, seq_len, hidden_dim)
