import math

import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        Q = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        K = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        V = self.value_proj(x)  # (batch, seq_len, hidden_dim)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)

        out = torch.matmul(weights, V)  # (batch, seq_len, hidden_dim)
        return out
