import math

import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        QKV = self.proj(x)  # (batch, seq_len, 3 * hidden_dim)
        Q, K, V = torch.chunk(QKV, 3, dim=-1)  # (batch, seq_len, hidden_dim)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)

        out = torch.matmul(weights, V)  # (batch, seq_len, hidden_dim)
        return out
